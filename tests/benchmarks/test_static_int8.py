"""Static int8 with outputs per channel: a weak channel beside loud ones keeps its own steps."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from benchmarks.training.static_int8 import Convolution, Range, make_static, ranges
from tests.worker.split.test_dequantize import CHANNELS, INTO, KERNEL, TIME, convolution
from worker.graph.dynamic_int8 import product_of
from worker.graph.graph import Graph
from worker.machine import products_saturate_here

ZERO = 70


def dynamic() -> onnx.ModelProto:
    """A convolution whose first channel is fifty times weaker than the others."""
    weights = np.random.default_rng(2).integers(0, 256, (CHANNELS, INTO, KERNEL)).astype(np.uint8)
    weights[0] = ZERO + np.random.default_rng(3).integers(-2, 3, (INTO, KERNEL))
    nodes, constants = convolution(weights=weights, zero_point=ZERO, pads=[1, 1])
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "one", info[:1], info[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(model: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    result: np.ndarray = session.run(None, {"x": x})[0]
    return result


def plain(x: np.ndarray) -> np.ndarray:
    """The same weights in floats."""
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in dynamic().graph.initializer}
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], pads=[1, 1])
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "y")]
    weights = (arrays["w"].astype(np.float32) - ZERO) * arrays["ws"]
    tensors = [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(arrays["b"], "b")]
    graph = helper.make_graph([node], "plain", info[:1], info[1:], tensors)
    return run(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), x)


def extremes(values: np.ndarray, *axes: int) -> Range:
    return Range(np.minimum(values.min(axes).ravel(), 0), np.maximum(values.max(axes).ravel(), 0))


@pytest.mark.skipif(products_saturate_here(), reason="weights of eight bits saturate on processors without VNNI")
def test_each_channel_keeps_its_own_steps() -> None:
    x = np.random.default_rng(1).standard_normal((1, INTO, TIME)).astype(np.float32)
    wanted = plain(x)
    graph = Graph(dynamic())
    [node] = graph.of_type("ConvInteger")
    known = {"x": extremes(x, 1, 2), "y": extremes(wanted, 2)}
    made = make_static(graph, [Convolution(node, product_of(graph, node))], known)
    assert {node.op_type for node in made.graph.node} == {"QuantizeLinear", "QLinearConv", "DequantizeLinear"}
    difference = run(made, x) - wanted
    spread = np.abs(wanted).max(axis=(0, 2))
    assert spread[0] < spread[1:].min() / 3, "the first channel is weak"
    assert (np.abs(difference).max(axis=(0, 2)) < 0.05 * spread).all()


def test_ranges_are_those_of_all_texts_and_hold_zero(monkeypatch) -> None:
    x = [np.full((1, INTO, TIME), value, np.float32) for value in (1.0, 3.0)]
    given = iter(x)
    monkeypatch.setattr("benchmarks.training.static_int8._inputs", lambda *_: {"x": next(given)})
    graph = Graph(dynamic())
    [node] = graph.of_type("ConvInteger")
    found = ranges(graph, [Convolution(node, product_of(graph, node))], ["a", "b"])
    assert (found["x"].least.tolist(), found["x"].largest.tolist()) == ([0], [3])
    assert found["y"].least.shape == (CHANNELS,) and (found["y"].least <= 0).all() and (found["y"].largest >= 0).all()
    assert np.abs(found["y"].largest - np.maximum(plain(x[1]), 0).max(axis=(0, 2))).max() < 0.5
