"""Convolutions of integers as products of matrices: the same sums, the same stage, shared weights; else left alone."""

from collections import Counter
from functools import partial

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.split_model import stages_of
from tests.worker.split.splitting import USUAL, decibels, int8_model, rewritten
from worker.machine import products_saturate_here
from worker.settings import WorkerSettings
from worker.split.prepared import prepare
from worker.split.rewrites.choice import DEFAULT, Rewrite
from worker.split.rewrites.convolutions import pack_convolutions
from worker.split.rewrites.stage_files import DECODER, EXACT_GENERATOR, GENERATOR, PROSODY, STAGES, WEIGHTS
from worker.split.segments.stage import LoadedStage
from worker.targets import StageTarget

INTO, CHANNELS, KERNEL, TIME = 6, 5, 3, 40


def convolution(*, kernel=KERNEL, zero_point=70, scale=0.013, bias=True, weights=None, **attributes):
    """A convolution in dynamic int8 as it is published, and its constants."""
    rng = np.random.default_rng(kernel)
    constants = {
        "w": rng.integers(0, 256, (CHANNELS, INTO, kernel)).astype(np.uint8) if weights is None else weights,
        "wz": np.asarray(zero_point, np.uint8),
        "ws": np.asarray(scale, np.float32),
    }
    if weights is not None:
        constants["wz"] = constants["wz"].astype(weights.dtype)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("Mul", ["s", "ws"], ["scales"]),
        helper.make_node("ConvInteger", ["q", "w", "z", "wz"], ["sums"], **attributes),
    ]
    if bias:
        constants |= {
            "b": rng.standard_normal(CHANNELS).astype(np.float32),
            "shape": np.array([1, CHANNELS, 1], np.int64),
        }
        nodes += [
            helper.make_node("Div", ["b", "scales"], ["steps"]),
            helper.make_node("Floor", ["steps"], ["floor"]),
            helper.make_node("Cast", ["floor"], ["whole"], to=TensorProto.INT32),
            helper.make_node("Reshape", ["whole", "shape"], ["column"]),
            helper.make_node("Add", ["sums", "column"], ["total"]),
        ]
    nodes.append(helper.make_node("Cast", ["total" if bias else "sums"], ["floats"], to=TensorProto.FLOAT))
    nodes.append(helper.make_node("Mul", ["floats", "scales"], ["y"]))
    return nodes, [numpy_helper.from_array(value, name) for name, value in constants.items()]


packed = partial(rewritten, pack_convolutions)


def run(nodes, constants, x):
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "part", info[:1], info[1:], constants)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    return ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


@pytest.mark.skipif(products_saturate_here(), reason="the packed sums are wrong here, and so not used")
@pytest.mark.parametrize(
    "attributes",
    [
        {"pads": [1, 1]},
        {"pads": [0, 2], "dilations": [2]},
        {"pads": [2, 1], "strides": [3], "kernel": 4},
        {"kernel": 1},
        {"kernel": 1, "strides": [2]},
        {"zero_point": [3, 70, 128, 200, 255], "scale": [0.01, 0.02, 0.03, 0.001, 0.5]},
        {"zero_point": 0},
    ],
    ids=str,
)
def test_the_sums_are_the_same(attributes):
    """The product agrees to rounding without a bias; with one it is compared with the float convolution of the same
    integers."""
    x = np.random.default_rng(1).standard_normal((1, INTO, TIME)).astype(np.float32)
    attributes = {"kernel": KERNEL} | attributes
    if np.ndim(attributes.get("scale", 0)) == 0:  # onnxruntime's ConvInteger takes one zero point for all channels
        nodes, constants = convolution(bias=False, **attributes)
        after, kept, count = packed(nodes, constants)
        assert count == 1 and {node.op_type for node in after} & {"ConvInteger", "Cast"} <= {"Cast"}
        np.testing.assert_allclose(run(after, kept, x), run(nodes, constants, x), rtol=1e-6, atol=1e-6)
    nodes, constants = convolution(**attributes)
    after, kept, _ = packed(nodes, constants)
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in constants}
    zero, scale = (np.broadcast_to(arrays[name], CHANNELS).reshape(-1, 1, 1) for name in ("wz", "ws"))
    floats = (arrays["w"].astype(np.float32) - zero) * scale
    step = (max(x.max(), 0) - min(x.min(), 0)) / 255
    quantized = np.round(x / step) * step
    plain = [helper.make_node("Conv", ["x", "w", "b"], ["y"], **{k: v for k, v in attributes.items() if k in _SHAPE})]
    wanted = run(plain, [numpy_helper.from_array(floats.astype(np.float32), "w"), constants[3]], quantized)
    np.testing.assert_allclose(run(after, kept, x), wanted, atol=0.02 * np.abs(wanted).max())


_SHAPE = ("pads", "strides", "dilations")


@pytest.mark.parametrize(
    "attributes",
    [
        {"weights": np.ones((CHANNELS, INTO, KERNEL), np.int8)},
        {"weights": np.ones((CHANNELS, INTO, 1, KERNEL), np.uint8)},
        {"weights": np.ones((CHANNELS, INTO // 2, KERNEL), np.uint8), "group": 2},
        {"auto_pad": "SAME_UPPER"},
        {"scale": [0.1, 0.2]},
    ],
    ids=["signed", "planar", "groups", "automatic", "scales"],
)
def test_others_are_left_alone(attributes):
    nodes, constants = convolution(**attributes)
    after, _, count = packed(nodes, constants)
    assert count == 0 and after == nodes


def test_a_pattern_of_another_kind_is_left_alone():
    nodes, constants = convolution()
    nodes[-2].op_type = "Identity"
    assert packed(nodes, constants)[2] == 0


def operators(file):
    return Counter(node.op_type for node in onnx.load(file, load_external_data=False).graph.node)


def test_stages_speak_as_before_and_share_the_packed_weights(tmp_path):
    before, after = (stages_of(int8_model(), tmp_path, rewrites).folder for rewrites in ((), USUAL))
    for stage in (PROSODY, GENERATOR, EXACT_GENERATOR, DECODER):
        had, has = operators(before / stage), operators(after / stage)
        # The windowed generator crops what goes into its second noise convolution after quantising it.
        assert has["ConvInteger"] == (1 if stage == GENERATOR else 0)
        assert has["MatMulIntegerToFloat"] == had["ConvInteger"] - has["ConvInteger"] > 0
    rng = np.random.default_rng(0)
    style = rng.standard_normal((1, 256), np.float32)
    inputs = [np.array([[0, *range(50, 80), 0]]), style, np.ones(1, np.float32)]
    made = []
    for folder in (before, after):
        prosody = LoadedStage(folder / PROSODY, WorkerSettings(), StageTarget()).session(1)
        text, f0, energy, _ = prosody.run(None, _feeds(prosody, inputs))
        decoder = LoadedStage(folder / DECODER, WorkerSettings(), StageTarget()).session(1)
        made.append(decoder.run(None, _feeds(decoder, [text, f0, energy, style]))[0])
    assert made[0].shape == made[1].shape and decibels(made[0].ravel(), made[1].ravel()) > 20
    exact, windowed = (onnx.load(after / stage, load_external_data=False) for stage in (EXACT_GENERATOR, GENERATOR))
    places = [
        {tensor.name: tensor.external_data[1].value for tensor in each.graph.initializer if tensor.external_data}
        for each in (exact, windowed)
    ]
    shared = {name for name in places[0] if name.endswith("_packed")}
    assert shared and all(places[0][name] == places[1][name] for name in shared)
    assert (after / WEIGHTS).stat().st_size < 1.1 * (before / WEIGHTS).stat().st_size + 4096 * 200


def _feeds(session, arrays):
    return {given.name: array for given, array in zip(session.get_inputs(), arrays, strict=True)}


@pytest.mark.slow
def test_all_convolutions_of_the_published_file_are_packed(real_model, real_stages):
    """All convolutions are packed but one of the windowed generator's, whose input is cropped after it was
    quantised."""
    folder = prepare(real_model, real_stages, DEFAULT | {Rewrite.PACKED}).folder
    left = {stage: operators(folder / stage)["ConvInteger"] for stage in STAGES}
    assert left == {**dict.fromkeys(STAGES, 0), GENERATOR: 1}
    assert operators(folder / EXACT_GENERATOR)["MatMulIntegerToFloat"] == 50
