"""Rewrites of the vocoder's graph: the same sound, each by itself and all together, and nothing else touched."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.split_model import make_split_model, stages_of
from tests.worker.split.splitting import Parts, decibels, rewritten
from worker.split.prepared import prepare
from worker.split.rewrites.choice import DEFAULT, Rewrite
from worker.split.rewrites.convolutions import make_planar
from worker.split.rewrites.snake import rewrite_snakes
from worker.split.rewrites.stage_files import DECODER, EXACT_GENERATOR, GENERATOR

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
