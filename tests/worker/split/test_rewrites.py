"""Rewrites of the vocoder's graph: the same sound, each by itself and all together, and nothing else touched."""

from collections import Counter
from functools import partial

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.split_model import make_split_model, stages_of
from tests.worker.split.splitting import USUAL, Parts, decibels, int8_model, rewritten
from worker.graph.graph import Graph
from worker.graph.loading import load_graph
from worker.settings import WorkerSettings
from worker.split.prepared import prepare
from worker.split.rewrites import stage_files
from worker.split.rewrites.choice import DEFAULT, MOST_CORES_FOR_SINE, Rewrite, default
from worker.split.rewrites.convolutions import make_planar, rewrite_spectra
from worker.split.rewrites.cuts import find_cuts
from worker.split.rewrites.snake import fold_sines, rewrite_snakes
from worker.split.rewrites.stage_files import DECODER, EXACT_GENERATOR, GENERATOR, SOURCE, WEIGHTS
from worker.split.segments.stage import LoadedStage
from worker.targets import StageTarget

VARIANTS = {"snake": {Rewrite.SNAKE}, "planar": {Rewrite.PLANAR}, "all": set(Rewrite)}


@pytest.mark.parametrize(
    "rewrites",
    [pytest.param(each, id=name, marks=[pytest.mark.slow] * (name != "all")) for name, each in VARIANTS.items()],
)
def test_the_sound_stays_the_same(tmp_path, rewrites):
    parts, plain = Parts(tmp_path, rewrites), Parts(tmp_path, ())
    prosody = plain.prosody()
    expected, told = plain.whole(prosody)
    sound, also_told = parts.whole(prosody)
    assert 110 < decibels(expected, sound) < 200, "and something was rewritten"
    assert all(np.allclose(one, other, rtol=1e-3, atol=1e-4) for one, other in zip(told, also_told, strict=True))


def operators(folder, name):
    return [node.op_type for node in onnx.load(folder / name, load_external_data=False).graph.node]


def kernels(folder, name):
    nodes = onnx.load(folder / name, load_external_data=False).graph.node
    shapes = [helper.get_node_attr_value(node, "kernel_shape") for node in nodes if node.op_type == "Conv"]
    return {len(shape) for shape in shapes}


@pytest.mark.parametrize("stage", [GENERATOR, EXACT_GENERATOR])
def test_each_is_made_where_it_was_asked_for(tmp_path, stage):
    model = make_split_model(tmp_path / "small.onnx", predicted=False)
    folders = {name: stages_of(model, tmp_path, rewrites).folder for name, rewrites in VARIANTS.items()}
    sines = {name: operators(folder, stage).count("Sin") for name, folder in folders.items()}
    assert sines == {"planar": 50, "snake": 2, "all": 2}, "the two that are left belong to the synthesis"
    assert {name: kernels(folder, stage) for name, folder in folders.items()} == {
        "planar": {2},
        "snake": {1},
        "all": {2},
    }
    assert kernels(folders["all"], DECODER) == {2}


def test_other_rewrites_are_other_stages(tmp_path):
    model = make_split_model(tmp_path / "small.onnx", predicted=False)
    folders = {stages_of(model, tmp_path, rewrites).folder for rewrites in ((), *VARIANTS.values())}
    assert len(folders) == 4
    assert prepare(model, tmp_path).folder == prepare(model, tmp_path, DEFAULT).folder


def run(nodes, constants, x, kind=TensorProto.FLOAT):
    info = [helper.make_tensor_value_info(name, kind, None) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "part", info[:1], info[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


ALPHA = np.linspace(0.2, 5, 8, dtype=np.float32).reshape(1, 8, 1)


def snake(square="Pow", inverse="Reciprocal", kind=np.float32):
    """Snake as exporters write it, in one form or another; and its constants."""
    constants = {"a": ALPHA.astype(kind), "one": np.ones(1, kind), "two": np.full((), 2, kind), "c": 1 / ALPHA}
    over = {"Reciprocal": ["a"], "Div": ["one", "a"]}
    nodes = [
        helper.make_node("Mul", ["a", "x"], ["turned"]),
        helper.make_node("Sin", ["turned"], ["sine"]),
        helper.make_node(square, ["sine", "two" if square == "Pow" else "sine"], ["squared"]),
        helper.make_node("Mul", ["c", "squared"], ["scaled"]),
        helper.make_node("Add", ["x", "scaled"], ["y"]),
    ]
    if inverse in over:
        del constants["c"]
        nodes.insert(0, helper.make_node(inverse, over[inverse], ["c"]))
    taken = {name for node in nodes for name in node.input}
    return nodes, [numpy_helper.from_array(value, name) for name, value in constants.items() if name in taken]


@pytest.mark.parametrize("square", ["Pow", "Mul"])
@pytest.mark.parametrize("inverse", ["Reciprocal", "Div", "constant"])
def test_snake_in_any_form(square, inverse):
    """Against doubles, over several turns: no worse than with 32-bit sines by more than 1e-5."""
    nodes, constants, count = rewritten(rewrite_snakes, *snake(square, inverse))
    x = np.linspace(-9, 9, 8 * 3001, dtype=np.float32).reshape(1, 8, 3001)
    exact = x + np.sin(ALPHA.astype(float) * x) ** 2 / ALPHA
    assert count == 1
    assert not {"Sin", "Pow", "Div", "Reciprocal"} & {node.op_type for node in nodes}
    assert np.abs(run(nodes, constants, x) - exact).max() < 1e-5


def test_what_isnt_snake_stays():
    nodes, constants = snake()
    for changed in (
        snake(kind=np.float16),
        ([*nodes, helper.make_node("Neg", ["squared"], ["z"])], constants),
        ([helper.make_node("Neg", ["x"], ["a"]), *nodes], [tensor for tensor in constants if tensor.name != "a"]),
        ([node for node in nodes if node.op_type != "Pow"], constants),
    ):
        assert rewritten(rewrite_snakes, *changed, outputs=("y", "z"))[2] == 0


def convolution(weights, **more):
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], **more)]
    return nodes, [numpy_helper.from_array(weights, "w")]


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"kernel_shape": [3], "pads": [2, 1], "strides": [2], "dilations": [1]},
        {"kernel_shape": [3], "pads": [5, 5], "dilations": [5]},
        {"kernel_shape": [3], "group": 4},
    ],
    ids=str,
)
def test_a_planar_convolution_is_the_same(form):
    random = np.random.default_rng(0)
    weights = random.standard_normal((16, 8 // form.get("group", 1), 3), np.float32)
    x = random.standard_normal((1, 8, 50), np.float32)
    expected = run(*convolution(weights, **form), x)
    nodes, constants, count = rewritten(make_planar, *convolution(weights, **form))
    assert count == 1
    made = run(nodes, constants, x)
    assert made.shape == expected.shape
    assert np.allclose(made, expected, atol=1e-4)


def test_convolutions_that_cant_be_planar_stay():
    weights = np.ones((2, 2, 3), np.float32)
    nodes, constants = convolution(weights)
    scaled = [
        numpy_helper.from_array(value, name)
        for name, value in (("q", weights.astype(np.int8)), ("s", weights[0, 0, :1].squeeze()))
    ]
    for stays in (
        ([*nodes, helper.make_node("Neg", ["w"], ["z"])], constants),
        ([helper.make_node("DequantizeLinear", ["q", "s"], ["w"]), *nodes], scaled),
        convolution(weights, auto_pad="SAME_UPPER"),
        convolution(weights[..., None]),
        convolution(weights.astype(np.float16)),
    ):
        assert rewritten(make_planar, *stays)[2] == 0


CHANNELS, TIME = 5, 400
IMPORTS = [helper.make_opsetid("", 17)]
INPUTS = {"x": [1, CHANNELS, TIME]} | {name: [CHANNELS] for name in ("scale", "shift", "means", "variances")}
FACTORS = np.linspace(0.3, 4, CHANNELS, dtype=np.float32).reshape(1, CHANNELS, 1)


def snake_after_norm(outside=1 / FACTORS):
    """Nodes from a norm to the quantised `y`, and their constants."""
    constants = {"a": FACTORS, "c": outside.astype(np.float32)}
    nodes = [
        helper.make_node("BatchNormalization", ["x", "scale", "shift", "means", "variances"], ["n"], epsilon=1e-3),
        helper.make_node("Mul", ["n", "a"], ["inner"]),
        helper.make_node("Sin", ["inner"], ["sine"]),
        helper.make_node("Mul", ["sine", "sine"], ["square"]),
        helper.make_node("Mul", ["square", "c"], ["outer"]),
        helper.make_node("Add", ["n", "outer"], ["total"]),
        helper.make_node("DynamicQuantizeLinear", ["total"], ["y", "s", "z"]),
    ]
    return nodes, [numpy_helper.from_array(value, name) for name, value in constants.items()]


folded = partial(rewritten, fold_sines, outputs=("y", "s", "z"))


def before_quantisation(nodes, constants):
    rng = np.random.default_rng(2)
    feeds = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in INPUTS.items()}
    feeds["variances"] = np.abs(feeds["variances"]) + 0.5
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in INPUTS.items()]
    output = helper.make_tensor_value_info("total", TensorProto.FLOAT, None)
    taken = {name for node in nodes for name in node.input}
    kept = [constant for constant in constants if constant.name in taken]
    graph = helper.make_graph(nodes, "part", inputs, [output], kept)
    model = helper.make_model(graph, opset_imports=IMPORTS, ir_version=8)
    return ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)[0]


def test_the_sound_is_the_same_in_fewer_operations():
    nodes, constants = snake_after_norm()
    after, kept, count = folded(nodes, constants)
    assert count == 1
    by_sample = [node.op_type for node in after if CHANNELS not in _sizes(node, kept)]
    assert Counter(by_sample) == Counter(["BatchNormalization", "Sin", "Mul", "Add", "Mul", "DynamicQuantizeLinear"])
    np.testing.assert_allclose(
        before_quantisation(after, kept), before_quantisation(nodes, constants), rtol=1e-5, atol=1e-5
    )


def _sizes(node, constants):
    """Lengths of the node's constants with one dimension: those of operations on a norm's parameters."""
    return {constant.dims[0] for constant in constants if constant.name in node.input and len(constant.dims) == 1}


def test_a_snake_stays_where_its_factors_or_takers_are_others():
    """Where the outer factor isn't the inner one's reciprocal, where the sound isn't quantised, and where anything else
    takes the norm."""
    assert folded(*snake_after_norm(outside=2 / FACTORS))[2] == 0
    nodes, constants = snake_after_norm()
    assert folded(nodes[:-1], constants, outputs=("total",))[2] == 0
    more = [*nodes, helper.make_node("Neg", ["n"], ["other"])]
    assert folded(more, constants, outputs=("y", "other"))[2] == 0


def counted_operators(folder, stage):
    return Counter(node.op_type for node in onnx.load(folder / stage, load_external_data=False).graph.node)


def test_all_of_an_int8_generator_whose_statistics_are_given(tmp_path):
    """The generator that computes its own statistics has no norm that takes a factor."""
    rewrites = (USUAL, USUAL | {Rewrite.SINE})
    before, after = (stages_of(int8_model(), tmp_path, chosen).folder for chosen in rewrites)
    had, has = (counted_operators(folder, GENERATOR) for folder in (before, after))
    norms = had["BatchNormalization"]
    assert has["BatchNormalization"] == norms > 40
    assert has["Sin"] - had["Sin"] == had["Round"] - has["Round"] == norms
    assert counted_operators(before, EXACT_GENERATOR) == counted_operators(after, EXACT_GENERATOR)


def test_a_sine_in_one_thread_is_for_few_cores():
    assert default(MOST_CORES_FOR_SINE, saturates=False) == set(Rewrite)
    assert default(MOST_CORES_FOR_SINE + 1, saturates=False) == set(Rewrite) - {Rewrite.SINE}
    assert default(1, saturates=True) == set(Rewrite) - {Rewrite.PACKED}


LENGTH, HOP, BINS = 20, 5, 11


def model(**attributes):
    constants = {
        "hop": np.array(HOP, np.int64),
        "window": np.hanning(LENGTH + 1)[:-1].astype(np.float32),
        "length": np.array(LENGTH, np.int64),
    }
    node = helper.make_node("STFT", ["x", "hop", "window", "length"], ["y"], **attributes)
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "y")]
    weights = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph([node], "part", info[:1], info[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run_model(made, x):
    return ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def test_the_spectrum_is_the_same(monkeypatch):
    monkeypatch.setattr("worker.split.rewrites.convolutions._errors", lambda *_: np.zeros(2 * BINS))
    plain = model()
    nodes = Graph(plain)
    assert rewrite_spectra(nodes) == 1
    x = np.random.default_rng(0).standard_normal((1, 400, 1)).astype(np.float32)
    wanted = run_model(plain, x)
    del plain.graph.node[:]
    plain.graph.node.extend(nodes)
    plain.graph.initializer.extend(nodes.constants)
    assert wanted.shape == (1, (400 - LENGTH) // HOP + 1, BINS, 2)
    np.testing.assert_allclose(run_model(plain, x), wanted, atol=1e-4)


def test_a_whole_spectrum_is_left_alone():
    plain = model(onesided=0)
    assert rewrite_spectra(Graph(plain)) == 0


def write_source(model, folders):
    """The source stage alone, in each of the folders, with its rewrites."""
    cuts = find_cuts(graph := load_graph(model))
    for folder, rewrites in folders.items():
        folder.mkdir()
        with (folder / WEIGHTS).open("wb") as weights:
            stage_files._write_source(graph, stage_files._Writer(graph, folder, weights, rewrites), cuts)


def test_the_published_source_is_the_same_in_voice_and_in_silence(real_model, tmp_path):
    """Magnitudes to rounding; phases of sound to a thousandth of a turn, those of silence to a twentieth."""
    folders = tmp_path / "plain", tmp_path / "rewritten"
    write_source(real_model, dict(zip(folders, ((), {Rewrite.SPECTRUM}), strict=True)))
    before, after = (
        {node.op_type for node in onnx.load(folder / SOURCE, load_external_data=False).graph.node} for folder in folders
    )
    assert "STFT" in before and "STFT" not in after
    f0 = np.zeros((1, 60), np.float32)
    f0[:, 20:40] = np.linspace(110, 240, 20)
    stages = [LoadedStage(folder / SOURCE, WorkerSettings(), StageTarget()).session(1) for folder in folders]
    wanted, made = (stage.run(None, {stage.get_inputs()[0].name: f0})[0][0] for stage in stages)
    np.testing.assert_allclose(made[:BINS], wanted[:BINS], atol=1e-5)
    turns = np.abs(np.angle(np.exp(1j * (made[BINS:] - wanted[BINS:])))) / (2 * np.pi)
    sounding = wanted[:BINS] > 1e-2
    assert turns[sounding].max() < 1e-3
    silence = turns[:, 300:900]
    assert silence.max() < 0.05
