"""Stages for windows of one length: what accelerators can take, and the same sound."""

import logging
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.worker.split.coreml_operators import CONSTANT_INPUTS, LONGEST, MLPROGRAM
from tests.worker.split.splitting import NOBODY, Parts, decibels
from worker.graph.dynamic_int8 import write_float
from worker.settings import WorkerSettings
from worker.split.prepared import Unprepared, prepare
from worker.split.segments.segment import WindowedSegment
from worker.split.segments.stage import FittedStage, LoadedStage
from worker.split.segments.windows import Window, WindowShape, windows
from worker.split.static import static_windows
from worker.split.static.static_windows import static_generator, window_inputs
from worker.targets import StageTarget

FRAMES = 64
UNMADE = 50
"""A length that `parts` has no file for."""


@pytest.fixture(scope="module", autouse=True)
def loaded_once():
    """The stages that compute a window's inputs, which no test changes."""
    stages = {}
    load = static_windows._stage

    def stage(prepared, name):
        model = prepared.manifest.fingerprint, name
        return stages[model] if model in stages else stages.setdefault(model, load(prepared, name))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(static_windows, "_stage", stage)
        yield


@pytest.fixture(scope="module")
def made(parts):
    return static_generator(parts.model, parts.prepared, FRAMES)


@pytest.fixture
def own_parts(tmp_path, parts, made):
    """A copy, with the file for one length."""
    own = Parts(tmp_path)
    shutil.copytree(parts.prepared.folder, own.prepared.folder, dirs_exist_ok=True)
    return own


def loaded(file):
    return onnx.load(file, load_external_data=False)


def test_accelerators_can_take_it(made):
    check_shapes(made)
    check_operators(made)


@pytest.mark.slow
def test_accelerators_can_take_the_published_model_in_floats(real_model, tmp_path):
    """Also the longest window, whose samples are more than one dimension may have."""
    plain = tmp_path / "float.onnx"
    write_float(real_model, plain)
    prepared = prepare(plain, tmp_path)
    for frames in (34, FRAMES):
        static = static_generator(plain, prepared, frames)
        check_shapes(static)
        check_operators(static)
        arrays = [*window_inputs(prepared, frames, seed=5).values()]
        [fixed] = run(static, arrays)
        [any_length] = run(prepared.folder / "generator.onnx", [*arrays, np.zeros(2)])
        assert decibels(any_length, fixed) > 80


def run(file, arrays):
    return LoadedStage(file, WorkerSettings(), StageTarget()).run(arrays, 1, NOBODY)


def check_shapes(made):
    """Shape inference alone, which has nothing but the inputs' shapes and the constants, finds all of them."""
    model = loaded(made)
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    graph = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph
    shapes = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        assert all(dim.HasField("dim_value") for dim in value.type.tensor_type.shape.dim), value.name
        shapes[value.name] = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    names = {name for node in graph.node for name in (*node.input, *node.output) if name}
    assert names <= shapes.keys()
    assert max(size for name in names for size in shapes[name]) <= LONGEST
    assert {value.name: shapes[value.name] for value in loaded(made).graph.value_info}.items() <= shapes.items()


def check_operators(made):
    """All are in CoreML's list."""
    graph = loaded(made).graph
    constants = {tensor.name for tensor in graph.initializer}
    assert {node.op_type for node in graph.node} <= MLPROGRAM - {"Shape", "Range", "Resize", "InstanceNormalization"}
    for node in graph.node:
        assert node.domain == ""
        for place in CONSTANT_INPUTS.get(node.op_type, ()):
            assert place >= len(node.input) or node.input[place] in constants, node
        if node.op_type == "ConvTranspose":
            form = {attribute.name: list(attribute.ints) for attribute in node.attribute}
            assert not any(form.get("output_padding", []))
            assert len(set(form["pads"])) == 1, "CoreML's results differ where they aren't symmetric"


def test_weights_stay_with_the_other_stages(parts, tmp_path):
    model = loaded(static_generator(parts.model, parts.prepared, FRAMES))
    outside = {
        entry.value for tensor in model.graph.initializer for entry in tensor.external_data if entry.key == "location"
    }
    inside = sum(len(tensor.raw_data) for tensor in model.graph.initializer)
    assert inside < 0.7 * (parts.prepared.folder / "weights.bin").stat().st_size
    assert outside <= {"weights.bin"}


@pytest.mark.parametrize("frames", [40, FRAMES])
def test_it_gives_what_the_stage_of_any_length_gives(parts, frames):
    static = static_generator(parts.model, parts.prepared, frames)
    arrays = [*window_inputs(parts.prepared, frames, seed=5).values()]
    [fixed] = parts.run(static.name, *arrays)
    [any_length] = parts.run("generator.onnx", *arrays, np.zeros(2))
    assert fixed.size == any_length.size
    assert decibels(any_length, fixed) > 110


def test_a_trial_windows_inputs_are_those_of_speech(parts):
    inputs = window_inputs(parts.prepared, FRAMES)
    features, harmonics, style, means, variances = inputs.values()
    assert [*inputs][2:] == ["style", "means", "variances"]
    assert (features.shape[-1], harmonics.shape[1:], style.shape) == (FRAMES, (22, 60 * FRAMES + 1), (1, 256))
    assert means.shape == variances.shape == (parts.prepared.manifest.channels,)
    assert (variances > 0).all() and 0.01 < features.std() < 100
    same, other = (window_inputs(parts.prepared, FRAMES, seed) for seed in (0, 1))
    assert all(np.array_equal(inputs[name], same[name]) for name in inputs)
    assert not any(np.array_equal(inputs[name], other[name]) for name in inputs)


def test_it_is_made_once(own_parts, monkeypatch):
    file = static_generator(own_parts.model, own_parts.prepared, UNMADE)
    assert static_generator(own_parts.model, own_parts.prepared, FRAMES) != file
    monkeypatch.setattr(static_windows, "_make", lambda *_: pytest.fail("made again"))
    assert static_generator(own_parts.model, own_parts.prepared, UNMADE) == file
    assert not [left for left in own_parts.prepared.folder.iterdir() if left.suffix in (".part", ".probe")]


@pytest.mark.parametrize("damaged", [".onnx", ".sha256"])
@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(path.read_bytes()[:-9]), lambda path: path.unlink()])
def test_what_is_damaged_is_made_again(own_parts, damaged, damage, monkeypatch, caplog):
    file = static_generator(own_parts.model, own_parts.prepared, FRAMES)
    whole, checksum = file.read_bytes(), file.with_suffix(".sha256").read_text()

    def make(*_):
        file.write_bytes(whole)
        file.with_suffix(".sha256").write_text(checksum)

    monkeypatch.setattr(static_windows, "_make", make)
    damage(file.with_suffix(damaged))
    gone = not file.exists()
    with caplog.at_level(logging.WARNING):
        assert static_generator(own_parts.model, own_parts.prepared, FRAMES).read_bytes() == whole
    assert ("made again" in caplog.text) != gone


def test_what_depends_on_more_than_the_length_cant_be_static(own_parts):
    """A stage that was changed: its length follows from its input's values."""
    file = own_parts.prepared.folder / "generator.onnx"
    model = onnx.load(file, load_external_data=False)
    last = model.graph.node[-1]
    found, last.output[0] = last.output[0], "before"
    model.graph.node.append(onnx.helper.make_node("NonZero", ["before"], ["where"]))
    model.graph.node.append(onnx.helper.make_node("Cast", ["where"], [found], to=onnx.TensorProto.FLOAT))
    file.write_bytes(model.SerializeToString())
    with pytest.raises(Unprepared, match="generator can't be made for windows of 50 frames"):
        static_generator(own_parts.model, own_parts.prepared, UNMADE)


def test_a_branch_that_takes_what_moves_is_no_constant(own_parts):
    """A tensor that only the graphs inside the node name is in none of its inputs."""
    file = own_parts.prepared.folder / "generator.onnx"
    model = onnx.load(file, load_external_data=False)
    last = model.graph.node[-1]
    found, last.output[0] = last.output[0], "before"
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(True), "always"))
    branches = {}
    for name in ("then_branch", "else_branch"):
        made = onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
        branches[name] = onnx.helper.make_graph([onnx.helper.make_node("Neg", ["before"], [name])], name, [], [made])
    model.graph.node.append(onnx.helper.make_node("If", ["always"], [found], **branches))
    file.write_bytes(model.SerializeToString())
    with pytest.raises(Unprepared, match="because of If"):
        static_generator(own_parts.model, own_parts.prepared, UNMADE)


class Counted(LoadedStage):
    """Knows how often it was run."""

    def __init__(self, file):
        super().__init__(file, WorkerSettings(), StageTarget())
        self.runs = 0

    def run(self, *args):
        self.runs += 1
        return super().run(*args)


class Fixed:
    """A segment's generators, some of fixed lengths in frames at 80 Hz."""

    def __init__(self, parts, generators=()):
        self._parts = parts
        folder = parts.prepared.folder
        self.generators = {
            frames: Counted(static_generator(parts.model, parts.prepared, frames)) for frames in generators
        }
        self._generator = FittedStage(Counted(folder / "generator.onnx"), self.generators)

    def samples(self, prosody, statistics, plan, wanted=None):
        source = self._parts.source(prosody)
        features = self._parts.features(prosody)
        segment = WindowedSegment(prosody, features, source, statistics, self._generator, NOBODY)
        return np.concatenate([segment.samples(window, 1) for window in wanted or plan])


@pytest.fixture(scope="module")
def fixed(parts):
    return Fixed(parts, generators=(40, 75))


@pytest.fixture(scope="module")
def of_any_length(parts):
    return Fixed(parts)


@pytest.fixture(scope="module")
def statistics(parts):
    return parts.whole(parts.prosody(16))[1]


@pytest.mark.parametrize("begin", [0, 2, 14])
@pytest.mark.parametrize("tokens", [1, 2, 8, 24], ids="{} tokens".format)
def test_a_segment_on_fixed_lengths_is_the_same(parts, fixed, of_any_length, statistics, tokens, begin):
    """However short; near its edges too, where windows are moved rather than padded."""
    prosody = parts.prosody(tokens)
    plan = list(windows(min(begin, prosody.frames - 2), prosody.frames, WindowShape(24, 1.3, 48)))
    expected = of_any_length.samples(prosody, statistics, plan)
    stages = [*fixed.generators.values()]
    before = [stage.runs for stage in stages]
    made = fixed.samples(prosody, statistics, plan)
    assert len(made) == len(expected) == 300 * (prosody.frames - plan[0].begin)
    assert decibels(expected, made) > 100
    used = [stage.runs - runs for stage, runs in zip(stages, before, strict=True)]
    assert all(used) if tokens == 24 else any(used) == (tokens == 8), "the shortest segments fit none"


def test_a_window_on_a_fixed_length_is_the_same_whatever_was_made_before_it(parts, fixed, statistics):
    prosody = parts.prosody(tokens=24)
    plan = list(windows(6, prosody.frames, WindowShape(24, 1.3, 48)))
    in_order = fixed.samples(prosody, statistics, plan)
    for window in plan:
        alone = fixed.samples(prosody, statistics, plan, [window])
        assert np.array_equal(alone, in_order[(window.begin - 6) * 300 : (window.end - 6) * 300])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Window(30, 70), (Window(30, 70), 40)),
        (Window(30, 69), (Window(29, 69), 40)),
        (Window(10, 45), (Window(10, 50), 40)),
        (Window(60, 120), (Window(50, 120), 70)),
        (Window(10, 81), (Window(10, 81), None)),
        (Window(90, 120), (Window(80, 120), 40)),
    ],
    ids=str,
)
def test_a_window_is_moved_within_its_segment(given, expected):
    stages = {length: LoadedStage(Path("stage.onnx"), WorkerSettings(), StageTarget()) for length in (70, 40)}
    fitted, stage = FittedStage(LoadedStage(Path("stage.onnx"), WorkerSettings(), StageTarget()), stages).fitted(
        given, Window(10, 120)
    )
    assert (fitted, next((length for length in stages if stages[length] is stage), None)) == expected


def test_what_is_shorter_than_every_length_fits_none():
    stages = {40: LoadedStage(Path("stage.onnx"), WorkerSettings(), StageTarget())}
    assert FittedStage(stages[40], stages).fitted(Window(0, 39), Window(0, 39)) == (Window(0, 39), None)
