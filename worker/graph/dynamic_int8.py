"""Convolutions and matrix products in dynamic int8, as onnxruntime's `quantize_dynamic` writes them.

    x -> DynamicQuantizeLinear -> ConvInteger | MatMulInteger [-> Add bias / scales] -> Cast -> Mul scales

The int8 file of Kokoro's v1.0 release is written like this. The pattern is found by structure, never by names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class UnknownPattern(Exception):
    """An integer operation isn't written as expected; the message names the operation and its actual form."""


class Operations(Protocol):
    """A graph's nodes by their outputs and inputs: `worker.graph.graph.Graph`, or `worker.graph.nodes.Nodes`."""

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
