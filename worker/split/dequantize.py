"""Conversion of a dynamic int8 model into a float graph of the same operations: `(q - zero_point) * scale` per weight.

onnxruntime's `quantize_dynamic`, which made the int8 file of Kokoro's v1.0 release, writes four patterns:

    x -> DynamicQuantizeLinear -> ConvInteger [-> Add bias / scales] -> Cast -> Mul scales    Conv
    x -> DynamicQuantizeLinear -> MatMulInteger -> Cast -> Mul scales                         MatMul
    DynamicQuantizeLSTM                                                                       LSTM
    Gather int8 -> DequantizeLinear                                                           Gather

Each becomes the one float operation on its right. The weights' rounding errors remain, but the ranges of
activations are no longer measured and rounded in each run. Patterns are found by structure, never by names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from worker.graph.dynamic_int8 import UnknownPattern, along, constant_of, maker_of, product_of, told
from worker.graph.graph import Graph

# Replacement of a model's nodes: only nodes that its outputs need are kept, in an order that ONNX allows.


def replace_nodes(model: Any, nodes: Sequence[Any], weights: Sequence[Any]) -> None:
    """Replace the model's nodes and weights by those of the given ones that its outputs need, in a valid order.

    Stored tensor types (`value_info`) are removed.
    """
    skeleton = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import)
    skeleton.graph.node.extend(nodes)
    graph = Graph(skeleton)
    places, used = graph.needed([value.name for value in model.graph.output])
    kept = onnx.GraphProto()
    kept.initializer.extend(tensor for tensor in weights if tensor.name in used)
    kept.node.extend(graph.nodes[place] for place in _order(graph, places))
    del model.graph.node[:], model.graph.initializer[:], model.graph.value_info[:]
    model.graph.MergeFrom(kept)


def _order(graph: Graph, places: Sequence[int]) -> list[int]:
    """The places ordered so that each comes after those that it depends on; their order is kept otherwise."""
    done: set[int] = set()
    order = []
    for first in places:
        waiting = [first]
        while waiting:
            place = waiting[-1]
            makers = (graph.place(name) for name in graph.taken_by(place) if graph.maker(name) is not None)
            if place in done:
                waiting.pop()
            elif missing := [maker for maker in makers if maker not in done]:
                waiting += reversed(missing)
            else:
                done.add(place)
                order.append(waiting.pop())
    return order


_PRODUCTS = {"ConvInteger": "Conv", "MatMulInteger": "MatMul"}
_MARKS = (*_PRODUCTS, "DynamicQuantizeLSTM")
_LEFT = ("DynamicQuantizeLinear", "DequantizeLinear", *_MARKS)
_LSTM_FLOATS = 8
"""Number of inputs that a quantised LSTM shares with ONNX's LSTM; its four scales and zero points follow them."""


def is_dynamic_int8(graph: Graph) -> bool:
    """True if the model has operations of dynamic int8, and none of static int8."""
    found = {node.op_type for node in graph.nodes}
    return bool(found & set(_MARKS)) and not found & {"QLinearConv", "QuantizeLinear"}


def dequantize(graph: Graph) -> Graph:
    """Convert the graph's model into float in place; its inputs, outputs and metadata stay.

    Returns:
        The graph of the float model. The given graph is no longer valid.

    Raises:
        UnknownPattern: an integer operation doesn't match any of the module's patterns. The message names it.
    """
    floats = _Floats(graph)
    instead: dict[int, Any] = {}
    for place, node in enumerate(graph.nodes):
        if node.op_type in _PRODUCTS:
            made, output = _product(graph, floats, node)
            instead[graph.place(output)] = made
        elif node.op_type == "DynamicQuantizeLSTM":
            instead[place] = _lstm(floats, node)
        elif node.op_type == "DequantizeLinear":
            instead[place] = _gather(graph, floats, node)
    nodes = [instead.get(place, node) for place, node in enumerate(graph.nodes)]
    replace_nodes(graph.model, nodes, [*graph.model.graph.initializer, *floats.tensors])
    if left := next((node for node in graph.model.graph.node if node.op_type in _LEFT), None):
        raise UnknownPattern(f"{told(left)} isn't part of a pattern that onnxruntime's dynamic quantisation writes")
    return Graph(graph.model)


class _Floats:
    """Float weights that replace quantised ones; each is made once."""

    def __init__(self, graph: Graph) -> None:
        self.tensors: list[Any] = []
        self._graph = graph
        self._made: dict[tuple[str, str, str], str] = {}

    def weight(self, node: Any, name: str, scale: str, zero_point: str, axis: int = 0) -> str:
        """Name of a float tensor with the values of a quantised weight.

        Args:
            node: the node that takes the weight; for messages.
            name: name of the quantised weight, an initializer.
            scale: name of the scale: one float32, or one for each index along `axis`.
            zero_point: name of the zero point, shaped like the scale, of the weight's type; empty for 0.
            axis: the axis of the channels.
        """
        key = name, scale, zero_point
        if key not in self._made:
            values = constant_of(self._graph, node, name).astype(np.float32)
            if zero_point:
                values -= along(self._graph, node, zero_point, values.shape, axis)
            values *= along(self._graph, node, scale, values.shape, axis)
            plain = name.removesuffix("_quantized")
            plain = plain if plain not in self._graph.initializers else f"{name}_float"
            self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(values, np.float32), plain))
            self._made[key] = plain
        return self._made[key]

    def recurrent(self, node: Any, name: str, scale: str, zero_point: str) -> str:
        """Name of a float tensor with the values of an LSTM's quantised weight. The weight is stored as [directions,
        inputs, 4 * hidden], the transpose of ONNX's order, with scales [directions] or [directions, 4 * hidden]."""
        key = name, scale, zero_point
        if key not in self._made:
            values = constant_of(self._graph, node, name).astype(np.float32)
            by, centre = (constant_of(self._graph, node, part).astype(np.float32) for part in (scale, zero_point))
            by, centre = (part.reshape(len(values), 1, -1) for part in (by, centre))
            plain = f"{name.removesuffix('_quantized')}_float"
            transposed = np.ascontiguousarray(((values - centre) * by).transpose(0, 2, 1))
            self.tensors.append(numpy_helper.from_array(transposed, plain))
            self._made[key] = plain
        return self._made[key]


def _product(graph: Graph, floats: _Floats, node: Any) -> tuple[Any, str]:
    """A convolution or matrix product in float, and the name of its output, which is the scaled tensor."""
    found = product_of(graph, node)
    right = found.right
    if not found.moving:
        axis = 0 if node.op_type == "ConvInteger" else -1
        right = floats.weight(node, right, found.right_scale, found.right_zero_point, axis)
    inputs = [found.quantization.input[0], right, *([found.bias] if found.bias else [])]
    made = helper.make_node(_PRODUCTS[node.op_type], inputs, [found.output], name=_plain(node))
    made.attribute.extend(node.attribute)
    return made, found.output


def _lstm(floats: _Floats, node: Any) -> Any:
    inputs = [*node.input[:_LSTM_FLOATS], *[""] * (_LSTM_FLOATS - len(node.input))]
    scales = list(node.input[_LSTM_FLOATS:])
    if len(scales) != 4:
        raise UnknownPattern(f"{told(node)} has {len(scales)} scales and zero points, not 4")
    inputs[1] = floats.recurrent(node, inputs[1], *scales[:2])
    inputs[2] = floats.recurrent(node, inputs[2], *scales[2:])
    while not inputs[-1]:
        inputs.pop()
    made = helper.make_node("LSTM", inputs, list(node.output), name=_plain(node))
    made.attribute.extend(node.attribute)
    return made


def _gather(graph: Graph, floats: _Floats, node: Any) -> Any:
    """A look-up in a table of floats; `node` dequantises the result of the integer look-up."""
    gather = maker_of(graph, node, node.input[0], "Gather")
    zero_point = node.input[2] if len(node.input) > 2 else ""
    inputs = [floats.weight(node, gather.input[0], node.input[1], zero_point), gather.input[1]]
    made = helper.make_node("Gather", inputs, list(node.output), name=_plain(gather))
    made.attribute.extend(gather.attribute)
    return made


def _plain(node: Any) -> str:
    return str(node.name.removesuffix("_quant"))
