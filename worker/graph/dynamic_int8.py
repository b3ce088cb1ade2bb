"""Convolutions and matrix products in dynamic int8, as onnxruntime's `quantize_dynamic` writes them.

    x -> DynamicQuantizeLinear -> ConvInteger | MatMulInteger [-> Add bias / scales] -> Cast -> Mul scales

The int8 file of Kokoro's v1.0 release is written like this. The pattern is found by structure, never by names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from worker.graph.graph import Graph


class UnknownPattern(Exception):
    """An integer operation isn't written as expected; the message names the operation and its actual form."""


class Operations(Protocol):
    """A graph's nodes by their outputs and inputs: `worker.graph.graph.Graph`, or `worker.graph.graph.Nodes`."""

    def maker(self, tensor: str) -> Any | None: ...

    def takers(self, tensor: str) -> list[Any]: ...

    def constant(self, tensor: str) -> NDArray[Any] | None: ...


@dataclass(frozen=True, slots=True)
class DynamicProduct:
    """An integer product with all nodes that make it equivalent to a float product. Fields are names of tensors."""

    quantization: Any
    """The node that quantises the left side: its input is float, its outputs are integers, scale and zero point."""
    right: str
    """The right side's integers, or where `moving`, the floats before their quantisation."""
    right_scale: str
    right_zero_point: str
    """Name of the right side's zero point; empty for 0."""
    bias: str
    """Float constant, one for each output channel; empty if there is none."""
    output: str
    """The product in floats."""
    moving: bool
    """True if the graph computes the right side; false if the right side is a constant."""


def product_of(graph: Operations, node: Any) -> DynamicProduct:
    """The dynamic int8 pattern around a ConvInteger or MatMulInteger.

    Raises:
        UnknownPattern: something else is around it.
    """
    left = maker_of(graph, node, node.input[0], "DynamicQuantizeLinear")
    bias = ""
    after = only_taker(graph, node)
    if after.op_type == "Add":
        bias = _bias(graph, after, node.output[0])
        after = only_taker(graph, after)
    scaled = only_taker(graph, after)
    if (after.op_type, scaled.op_type) != ("Cast", "Mul"):
        raise UnknownPattern(f"{told(node)} is followed by {after.op_type} and {scaled.op_type}, not Cast and Mul")
    scales = maker_of(graph, scaled, _other(scaled, after.output[0]), "Mul")
    if left.output[1] not in scales.input:
        raise UnknownPattern(f"{told(node)} isn't scaled by what its input was quantised with")
    scale = _other(scales, left.output[1])
    moving = graph.constant(node.input[1]) is None
    right = str(node.input[1])
    if moving:
        quantized = maker_of(graph, node, right, "DynamicQuantizeLinear")
        if scale != quantized.output[1]:
            raise UnknownPattern(f"{told(node)} isn't scaled by what its second input was quantised with")
        right = str(quantized.input[0])
    zero_point = str(node.input[3]) if len(node.input) > 3 else ""
    return DynamicProduct(left, right, scale, zero_point, bias, str(scaled.output[0]), moving)


def constant_of(graph: Operations, node: Any, name: str) -> NDArray[Any]:
    """The value of a constant input of `node`.

    Raises:
        UnknownPattern: it is no constant.
    """
    value = graph.constant(name)
    if value is None:
        raise UnknownPattern(f"{told(node)} takes {name or 'a missing input'}, which is no constant")
    return value


def along(graph: Operations, node: Any, name: str, shape: tuple[int, ...], axis: int) -> NDArray[np.float32]:
    """A weight's scale or zero point (one value, or one per index of `axis`), shaped to broadcast over the weight's
    shape.

    Raises:
        UnknownPattern: there are others.
    """
    part = constant_of(graph, node, name).astype(np.float32)
    if part.size == 1:
        return part.reshape(())
    if part.size != shape[axis]:
        raise UnknownPattern(f"{told(node)} has {part.size} scales for {shape[axis]} channels")
    return part.reshape([-1 if place == axis % len(shape) else 1 for place in range(len(shape))])


def maker_of(graph: Operations, node: Any, tensor: str, operator: str) -> Any:
    """The node that computes an input of `node`.

    Raises:
        UnknownPattern: it is no `operator`.
    """
    maker = graph.maker(tensor)
    if maker is None or maker.op_type != operator:
        found = "no operation" if maker is None else maker.op_type
        raise UnknownPattern(f"{told(node)} takes {tensor}, which {found} makes, not {operator}")
    return maker


def only_taker(graph: Operations, node: Any) -> Any:
    """The only node that takes the output of `node`.

    Raises:
        UnknownPattern: there is none, or another.
    """
    takers = graph.takers(node.output[0])
    if len(takers) != 1:
        raise UnknownPattern(f"{told(node)} makes {node.output[0]}, which {len(takers)} operations take, not 1")
    return takers[0]


def told(node: Any) -> str:
    """A node's description for error messages."""
    return f"its {node.op_type} {node.name or node.output[0]}"


def _bias(graph: Operations, addition: Any, product: str) -> str:
    """The float bias. The int8 form divides it by the scales, rounds it down, and adds it to the integer sums."""
    node, tensor = addition, _other(addition, product)
    for operator in ("Reshape", "Cast", "Floor", "Div"):
        node = maker_of(graph, node, tensor, operator)
        tensor = str(node.input[0])
    if graph.constant(tensor) is None:
        raise UnknownPattern(f"{told(addition)} adds a bias that is no constant")
    return tensor


def _other(node: Any, tensor: str) -> str:
    return str(node.input[1] if node.input[0] == tensor else node.input[0])


# Conversion of a dynamic int8 model into a float graph of the same operations: `(q - zero_point) * scale` per weight.
#
# onnxruntime's `quantize_dynamic`, which made the int8 file of Kokoro's v1.0 release, writes four patterns:
#
# x -> DynamicQuantizeLinear -> ConvInteger [-> Add bias / scales] -> Cast -> Mul scales    Conv
# x -> DynamicQuantizeLinear -> MatMulInteger -> Cast -> Mul scales                         MatMul
# DynamicQuantizeLSTM                                                                       LSTM
# Gather int8 -> DequantizeLinear                                                           Gather
#
# Each becomes the one float operation on its right. The weights' rounding errors remain, but the ranges of
# activations are no longer measured and rounded in each run. Patterns are found by structure, never by names.

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
