"""A model cut into stages, windows and nodes says what it says whole, on any graph that an export writes."""

import logging

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.small_kokoro import HARMONICS
from tests.split_model import make_split_model
from tests.worker.split.splitting import SCRIPT, Parts, blocks_of, decibels, joined, make_engine, run_model
from worker.engine import ProviderUnavailable
from worker.graph.graph import CannotSplit, Graph
from worker.graph.loading import fuse_norms, load_graph
from worker.pcm import to_pcm
from worker.settings import WorkerSettings
from worker.split.prepared import Unprepared
from worker.split.segments.segment import draw_all
from worker.split.segments.windows import SHORTEST, Window, WindowShape, lead_of, marks_of, windows
from worker.split.static import static_windows
from worker.targets import Assignment, StageTarget


@pytest.fixture(scope="module")
def prosody(parts):
    return parts.prosody(tokens=24)


@pytest.fixture(scope="module")
def told(parts):
    _, statistics = parts.whole(parts.prosody(tokens=16))
    return statistics


@pytest.fixture(scope="module")
def in_one_window(parts, prosody, told):
    return vocode(parts, prosody, told, [Window(0, prosody.frames)])


@pytest.mark.parametrize("name", ["tokens", "input_ids"])
def test_stages_together_are_the_whole_to_the_bit(tmp_path, name):
    parts = Parts(tmp_path, rewrites=(), tokens_name=name)
    prosody = parts.prosody()
    made, _ = parts.whole(prosody)
    reference = make_split_model(
        tmp_path / "reference.onnx", noise_inputs=True, durations_output=True, tokens_name=name, predicted=False
    )
    tokens, style, speed = parts.inputs()
    uniform, normal = draw_all(parts.prepared.manifest.noise, 1, prosody.frames)
    audio, durations = run_model(reference, **{name: tokens}, style=style, speed=speed, uniform=uniform, normal=normal)
    assert np.array_equal(made, audio)
    assert np.array_equal(prosody.durations, durations)
    assert len(audio) == 600 * durations.sum()
    assert 500 < to_pcm(audio).std() < 10_000


@pytest.mark.parametrize("folded", [True, False])
def test_given_its_own_statistics_a_segment_is_the_same(tmp_path, parts, folded):
    """Those that one form of the norms tells are those that the other form takes, channel by channel."""
    parts = parts if folded else Parts(tmp_path, folded=False)
    prosody = parts.prosody()
    exact, told = parts.whole(prosody)
    given = vocode(parts, prosody, told, [Window(0, prosody.frames)])
    assert np.abs(exact - given).max() < 2e-4 * np.abs(exact).max()


def vocode(parts, prosody, statistics, plan):
    segment = parts.windowed(prosody, statistics)
    return np.concatenate([segment.samples(window, 1) for window in plan])


@pytest.mark.parametrize("longest", [24, 48, 160])
@pytest.mark.parametrize("begin", [0, 14])
def test_windows_join_without_a_seam(parts, prosody, told, in_one_window, longest, begin):
    """Against the same segment in one window: nowhere more than one step of 16 bits apart, and that by rounding alone:
    what the contexts leave out is less than a hundred-thousandth of the loudest sample."""
    whole = in_one_window[begin * 300 :]
    plan = list(windows(begin, prosody.frames, WindowShape(24, 1.3, longest)))
    assert len(plan) > 3
    made = vocode(parts, prosody, told, plan)
    assert np.abs(made - whole).max() < 1e-5 * np.abs(whole).max()
    assert np.abs(to_pcm(made).astype(int) - to_pcm(whole)).max() <= 1


def test_a_window_is_the_same_whatever_was_made_before_it(parts, prosody, told):
    plan = list(windows(0, prosody.frames, WindowShape(24, 1.3, 48)))
    in_order = vocode(parts, prosody, told, plan)
    for window in plan:
        alone = parts.windowed(prosody, told).samples(window, 1)
        assert np.array_equal(alone, in_order[window.begin * 300 : window.end * 300])


def test_harmonics_are_the_same_however_far_they_are_made(parts, prosody):
    source, at_once = parts.source(prosody, first=20), parts.source(prosody, first=prosody.frames)
    for begin in range(0, prosody.frames - 16, 16):
        made, expected = (each.harmonics(begin, begin + 16, 1) for each in (source, at_once))
        assert made.shape == (1, 22, 961)
        assert np.abs(made - expected).max() < 1e-4


def test_noise_is_that_of_the_seed(parts):
    noise = parts.prepared.manifest.noise
    assert [n.kind for n in noise] == ["uniform", "normal"]
    one, same, other = (draw_all(noise, seed, 50) for seed in (1, 1, 2))
    uniform, normal = draw_all(noise, 1, 20)
    assert np.array_equal(uniform, one[0])
    assert np.array_equal(normal, one[1][:, :6_000]), "the beginning of a longer segment"
    assert [array.shape for array in one] == [(1, HARMONICS), (1, 15_000, HARMONICS)]
    assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
    assert not any(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert one[0].min() >= 0 and one[0].max() < 1
    assert abs(one[1].mean()) < 0.02 and abs(one[1].std() - 1) < 0.02


FIXED = StageTarget(window=75)
ASSIGNED = Assignment(generator=FIXED)


@pytest.fixture(scope="module")
def fixed(folder):
    return make_engine(folder, assigned=ASSIGNED)


def test_it_says_the_same(folder, fixed):
    """Samples agree to the last bit or the one before it, from any sample on, also if too short for any window."""
    engine = make_engine(folder)
    for script in ("h", SCRIPT):
        expected, made = (joined(blocks_of(each, script)).astype(int) for each in (engine, fixed))
        assert len(made) == len(expected)
        assert np.abs(made - expected).max() <= 1
    for sample in (1, 7_200, 40_000, len(made) - 1):
        assert np.array_equal(joined(blocks_of(fixed, from_sample=sample)), made[sample:])


def test_the_first_window_has_a_length_of_its_own(folder, fixed):
    """Its 24 frames with 5 on each side; the longest has what the record says."""
    [made] = (folder / "cache" / "split").glob("*-*")
    assert sorted(path.name for path in made.glob("*-[0-9]*.onnx")) == ["generator-34.onnx", "generator-75.onnx"]


def test_whole_segments_run_on_the_cpu(folder):
    """Stages compiled for a window aren't used for a segment."""
    accelerated = Assignment(generator=StageTarget("NoSuchProvider", window=75))
    engine = make_engine(folder, assigned=accelerated, vocoder="whole")
    assert len(blocks_of(engine)) == 1


def test_what_cant_be_of_one_length_gives_the_provider_up(tmp_path, monkeypatch):
    def fail(*_):
        raise Unprepared("the length isn't known")

    monkeypatch.setattr(static_windows, "_make", fail)
    with pytest.raises(ProviderUnavailable, match="the length isn't known"):
        make_engine(tmp_path, assigned=ASSIGNED)


FIRST = 24


@pytest.mark.parametrize("longest", [24, 30, 48, 160])
@pytest.mark.parametrize("begin", [0, 1, 32])
@pytest.mark.parametrize("length", [1, 11, 12, 24, 35, 36, 55, 56, 79, 80, 119, 120, 131, 132, 500, 2213])
def test_they_cover_the_segment(begin, length, longest):
    plan = list(windows(begin, begin + length, WindowShape(FIRST, 1.3, longest)))
    assert [plan[0].begin, *(window.end for window in plan)] == [*(window.begin for window in plan), begin + length]
    sizes = [window.end - window.begin for window in plan]
    assert all(FIRST <= size <= longest for size in sizes[:-1])
    assert sizes[:-1] == sorted(sizes[:-1])
    assert sizes[-1] < longest + SHORTEST
    assert len(sizes) == 1 or sizes[-1] >= SHORTEST


def test_the_first_is_short_and_they_grow():
    plan = list(windows(0, 400, WindowShape(FIRST, 1.3, 80)))
    assert [window.end - window.begin for window in plan] == [24, 24, 32, 40, 52, 68, 80, 80]


def test_nothing_has_no_windows():
    assert list(windows(8, 8, WindowShape(FIRST, 1.3, 48))) == []


def test_without_growth_all_are_as_long_as_the_first():
    plan = list(windows(0, 240, WindowShape(FIRST, 1.0, 80)))
    assert {window.end - window.begin for window in plan} == {24}


def test_the_settings_are_in_seconds():
    shape = WindowShape.of(WorkerSettings(first_window=0.2, window_growth=2.0, window=1.0))
    assert shape == WindowShape(16, 2.0, 80)


# Marks from durations.


def test_the_published_models_own_example():
    """af_heart's durations of six phonemes and two pads, as the real weights predict them."""
    durations = np.array([18, 2, 2, 3, 4, 9, 18])
    assert durations.sum() * 600 == 33_600
    assert marks_of(durations) == ((0, 10_800), (1, 12_000), (2, 13_200), (3, 15_000), (4, 17_400), (5, 22_800))
    assert lead_of(durations, energy(silent=40)) == 16
    assert marks_of(durations, 16)[0] == (0, 1_200)


def test_a_short_lead_is_kept():
    assert [lead_of(np.array([first, 3, 3]), energy(silent=40)) for first in (1, 2, 3)] == [0, 0, 1]


@pytest.mark.parametrize(("silent", "expected"), [(40, 16), (36, 16), (35, 15), (20, 8), (5, 0), (0, 0)])
def test_sound_that_begins_inside_the_first_pad_is_kept_with_50_ms_before_it(silent, expected):
    """A word may begin up to 0.58 s before the pad's end at half speed."""
    assert lead_of(np.array([18, 2, 2, 18]), energy(silent)) == expected


def test_a_segment_that_is_silent_throughout_keeps_50_ms_of_its_lead():
    assert lead_of(np.array([18, 2, 18]), np.full((1, 76), -9.0)) == 16


def energy(silent):
    """An energy curve: frames of silence, then speech."""
    return np.concatenate([np.full((1, silent), -9.0), np.full((1, 60), 6.0)], axis=1)


def value(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


@pytest.fixture
def branching():
    """`outer` and `deep` are taken by branches only, `passed` is what a branch gives as it is; `nobody` by none."""

    def branch(name, *nodes, output):
        return helper.make_graph(nodes, name, [], [value(output)])

    inner = helper.make_node(
        "If",
        ["condition"],
        ["chosen"],
        then_branch=branch("deep_then", helper.make_node("Neg", ["deep"], ["deepest"]), output="deepest"),
        else_branch=branch("deep_else", output="passed"),
    )
    outer = helper.make_node(
        "If",
        ["condition"],
        ["y"],
        then_branch=branch("then", helper.make_node("Relu", ["outer"], ["inside"]), output="inside"),
        else_branch=branch("else", inner, output="chosen"),
    )
    makers = [helper.make_node("Clip", ["x", "", "most"], [name]) for name in ("outer", "deep", "passed", "nobody")]
    return [*makers, outer]


def whole(nodes):
    return Graph(helper.make_model(helper.make_graph(nodes, "whole", [value("x")], [value("y")])))


def test_what_a_branch_takes_from_outside_is_kept(branching):
    nodes = whole(branching)
    *_, outer = nodes
    nodes.drop_unused()
    assert [name for node in nodes for name in node.output] == ["outer", "deep", "passed", "y"]
    assert nodes.taken() == {"x", "most", "condition", "outer", "deep", "passed"}
    assert [nodes.only_taker(name) is outer for name in ("outer", "deep", "passed")] == [True] * 3
    assert len(nodes.takers("x")) == 3


def test_a_replacement_is_found_at_once(branching):
    """Whatever was asked before it: the next rewrite sees the nodes as they are."""
    nodes = whole(branching)
    *_, outer = nodes
    before = nodes.maker("outer")
    assert nodes.takers("other") == []
    nodes.replace({id(before): [made := helper.make_node("Neg", ["other"], ["outer"])]})
    assert nodes.maker("outer") is made and nodes.takers("other") == [made]
    assert len(nodes.takers("x")) == 3
    nodes.replace({id(outer): [helper.make_node("Relu", ["outer"], ["y"])]})
    nodes.drop_unused()
    assert nodes.maker("deep") is None and nodes.takers("x") == []


WRITTEN = ("written", "merged", "axes")
"""A division of its own for each norm, with duplicated means and differences; shared; shared, with axes as inputs."""


def count(nodes, operator: str) -> int:
    return sum(node.op_type == operator for node in nodes)


@pytest.mark.parametrize(("form", "expected"), [("written", 60), ("merged", 56), ("axes", 56)])
def test_each_norm_becomes_one_node(tmp_path, form, expected):
    """10 of the decoder, 48 of the generator (44 where three residual blocks share one, twice), 2 of the prosody."""
    graph = load_graph(make_split_model(tmp_path / "small.onnx", norms=form, predicted=False))
    assert count(graph, "InstanceNormalization") == expected
    assert not any(node.op_type == "ReduceMean" for node in graph), "nothing of the old form is left"
    onnx.checker.check_model(graph.model)


@pytest.mark.parametrize("form", [WRITTEN[0], *(pytest.param(form, marks=pytest.mark.slow) for form in WRITTEN[1:])])
def test_the_stages_of_a_model_with_written_out_norms_are_the_model(tmp_path, form):
    parts = Parts(tmp_path, norms=form)
    prosody = parts.prosody()
    made, told = parts.whole(prosody)
    reference = make_split_model(tmp_path / "reference.onnx", noise_inputs=True, norms=form, predicted=False)
    tokens, style, speed = parts.inputs()
    uniform, normal = draw_all(parts.prepared.manifest.noise, 1, prosody.frames)
    [audio] = run_model(reference, tokens=tokens, style=style, speed=speed, uniform=uniform, normal=normal)
    assert decibels(audio, made) > 50, "rounding, which the phase of the source adds up"
    windowed = parts.windowed(prosody, told).samples(Window(0, prosody.frames), 1)
    assert np.abs(made - windowed).max() < 2e-4 * np.abs(made).max(), "what is told is what is taken"


@pytest.mark.parametrize("change", ["axis", "keepdims", "other", "power"])
def test_a_division_that_is_no_norm_stays(tmp_path, change):
    """An average over channels, one that drops its dimension, a difference from something else, a third power."""
    model = onnx.load(make_split_model(tmp_path / "small.onnx", norms="merged", predicted=False))
    means = [node for node in model.graph.node if node.op_type == "ReduceMean"]
    if change == "axis":
        for node in means:
            next(found for found in node.attribute if found.name == "axes").ints[:] = [1]
    if change == "keepdims":
        for node in means:
            next(found for found in node.attribute if found.name == "keepdims").i = 0
    if change == "other":
        for node in means[::2]:
            node.input[0] = node.input[0] + "_other"
    if change == "power":
        squares = {node.input[0] for node in means[1::2]}
        for node in model.graph.node:
            if node.output[0] in squares:
                node.op_type = "Add"
    assert not fuse_norms(Graph(model))


def test_a_square_written_as_a_power_is_a_square(tmp_path):
    model = onnx.load(make_split_model(tmp_path / "small.onnx", norms="merged", predicted=False))
    two = onnx.numpy_helper.from_array(np.array(2, np.float32), "two")
    model.graph.initializer.append(two)
    squares = {node.input[0] for node in model.graph.node if node.op_type == "ReduceMean"}
    for node in model.graph.node:
        if node.op_type == "Mul" and node.output[0] in squares and node.input[0] == node.input[1]:
            node.op_type = "Pow"
            node.input[1] = "two"
    assert fuse_norms(Graph(model))
    assert count(model.graph.node, "InstanceNormalization") == 56


def test_channels_that_cant_be_told_are_said(tmp_path):
    model = onnx.load(make_split_model(tmp_path / "small.onnx", norms="merged", predicted=False))
    for node in model.graph.node:
        if node.op_type == "Mul" and any(name.startswith("Div") for name in node.input):
            node.op_type = "Sub"
    with pytest.raises(CannotSplit, match="channels"):
        fuse_norms(Graph(model))


def test_a_model_without_norms_runs_whole_and_is_remembered(tmp_path, caplog, monkeypatch):
    """The log names what was looked for, and neither calls a file corrupt nor advises to fetch one again."""
    with caplog.at_level(logging.WARNING):
        engine = make_engine(tmp_path, {"norms": "none"})
    assert "no instance norm is found in its generator" in caplog.text
    assert "corrupt" not in caplog.text and "fetch" not in caplog.text
    assert len(blocks_of(engine)) == 1
    monkeypatch.setattr("worker.split.prepared._split", lambda *_: pytest.fail("tried again"))
    assert make_engine(tmp_path, {"norms": "none"}).info.first_block == 0
