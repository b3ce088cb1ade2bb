"""Instance norms that an export writes out in several nodes, fused into one node each.

    mean = ReduceMean(x); d = Sub(x, mean); variance = ReduceMean(Mul(d, d)); Div(d, Sqrt(Add(variance, epsilon)))

The published files have every norm in this form; torch's own exporter writes `InstanceNormalization`. All code that
handles norms (statistics given to a window, statistics reported) looks for that node, so graphs are converted when they
are loaded. Graphs that an optimiser has merged are covered: one division may serve three residual blocks, and a mean or
a difference may be there once or twice.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import helper

from worker.graph.graph import CannotSplit, Graph, attribute

_PROJECTION_DEPTH = 16
"""Most nodes between AdaIN's factor and the bias of the style's projection: the published export has 4."""


@dataclass(frozen=True, slots=True)
class _Norm:
    division: Any
    x: str
    channels: int
    epsilon: float


def fuse_norms(graph: Graph) -> bool:
    """Replace each written-out norm by one `InstanceNormalization`, with scales of 1 and biases of 0.

    The model is changed in place, so `graph` is out of date afterwards if norms were found. Nodes that only the
    written-out norms needed are removed.

    Returns:
        True if the model had any norms in this form.

    Raises:
        CannotSplit: a norm was found, and its number of channels can't be told.
    """
    fused: dict[int, list[Any]] = {}
    for norm in filter(None, (_written_out(graph, node) for node in graph.of_type("Div"))):
        ones = graph.derive(f"kokoro_live_norm_scale_{norm.channels}", np.ones(norm.channels, np.float32))
        zeros = graph.derive(f"kokoro_live_norm_bias_{norm.channels}", np.zeros(norm.channels, np.float32))
        made = helper.make_node(
            "InstanceNormalization",
            [norm.x, ones, zeros],
            list(norm.division.output),
            name=f"kokoro_live_norm_{len(fused)}",
            epsilon=norm.epsilon,
        )
        fused[id(norm.division)] = [made]
    if fused:
        graph.replace(fused)
        graph.drop_unused()
        graph.store()
    return bool(fused)


def _written_out(graph: Graph, division: Any) -> _Norm | None:
    """The written-out norm that ends in this division; None if the division ends no norm."""
    deviation, root = (graph.maker(name) for name in division.input)
    if deviation is None or deviation.op_type != "Sub" or root is None or root.op_type != "Sqrt":
        return None
    x = _centred(graph, deviation)
    total = graph.maker(root.input[0])
    if x is None or total is None or total.op_type != "Add":
        return None
    epsilon, variance = graph.constant(total.input[1]), graph.maker(total.input[0])
    if epsilon is None:
        epsilon, variance = graph.constant(total.input[0]), graph.maker(total.input[1])
    if epsilon is None or epsilon.size != 1 or variance is None or not _averages_time(graph, variance):
        return None
    if _squared_deviation_of(graph, variance.input[0]) != x:
        return None
    return _Norm(division, x, _channels(graph, division.output[0]), float(epsilon.item()))


def _centred(graph: Graph, node: Any) -> str | None:
    """x, if the node computes x less its mean along time."""
    mean = graph.maker(node.input[1])
    if node.op_type != "Sub" or mean is None or not _averages_time(graph, mean) or mean.input[0] != node.input[0]:
        return None
    return str(node.input[0])


def _averages_time(graph: Graph, node: Any) -> bool:
    if node.op_type != "ReduceMean" or attribute(node, "keepdims", 1) != 1:
        return False
    axes = attribute(node, "axes")
    if axes is None and len(node.input) > 1:
        constant = graph.constant(node.input[1])
        axes = None if constant is None else constant.tolist()
    return axes in ([2], [-1])


def _squared_deviation_of(graph: Graph, square: str) -> str | None:
    """x, if the tensor is the square of x less its mean."""
    node = graph.maker(square)
    if node is None:
        return None
    if node.op_type == "Pow":
        exponent = graph.constant(node.input[1])
        if exponent is None or exponent.size != 1 or float(exponent.item()) != 2.0:
            return None
    elif node.op_type != "Mul":
        return None
    factors = [graph.maker(name) for name in (node.input[:1] if node.op_type == "Pow" else node.input)]
    found = {_centred(graph, factor) if factor is not None else None for factor in factors}
    return found.pop() if len(found) == 1 else None


def _channels(graph: Graph, norm: str) -> int:
    """The norm's number of channels, found from the factor that follows it: a weight for each channel, or AdaIN's half
    of the style's projection.

    Shape inference doesn't find the number: it stops at the loop that aligns the text.
    """
    for taker in graph.takers(norm):
        if taker.op_type != "Mul":
            continue
        open_names = deque((name, False, 0) for name in taker.input if name != norm)
        while open_names:
            name, halved, depth = open_names.popleft()
            constant = graph.constant(name)
            if constant is not None and constant.dtype.kind == "f" and constant.size == max((1, *constant.shape)) > 1:
                return int(constant.size) // (2 if halved else 1)
            node = graph.maker(name)
            if node is not None and depth < _PROJECTION_DEPTH:
                halved = halved or node.op_type in ("Split", "Slice")
                open_names += [(given, halved, depth + 1) for given in node.input if given]
    raise CannotSplit("the channels of a norm that is written out can't be told")


def load_graph(path: Path) -> Graph:
    """A model file's graph, with its tensors' types, and with `InstanceNormalization` for norms that are written out.

    Raises:
        CannotSplit: it is no model.
        OSError: it can't be read.
    """
    try:
        model = onnx.load(path)
        fuse_norms(Graph(model))
        return Graph(model, _types(model))
    except (DecodeError, onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise CannotSplit(f"it is no ONNX model that can be read ({error})") from error


def _types(model: Any) -> list[Any]:
    """The type of each tensor, found without the weights' values, because inference would copy these several times."""
    skeleton = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions)
    graph = model.graph
    skeleton.graph.CopyFrom(onnx.GraphProto(name=graph.name, node=graph.node, input=graph.input, output=graph.output))
    for tensor in graph.initializer:
        value = helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
        skeleton.graph.input.append(value)
    return list(onnx.shape_inference.infer_shapes(skeleton).graph.value_info)
