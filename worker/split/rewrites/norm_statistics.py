"""The statistics of a stage's norms (AdaIN's means and variances): reported, given as inputs, or of weighted frames."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from onnx import TensorProto, helper

from worker.graph.graph import CannotSplit, Chain, Nodes, attribute, names_taken

STATISTICS = ("means", "variances")
"""One vector each, float32, of all channels of a stage's norms, norm by norm in the order of the graph."""

WEIGHT_INPUTS = ("first_weights", "second_weights")
"""Float32 vectors: the first stage's weights, 10 for each frame at 80 Hz, and the second stage's, 60 and one more."""

_NO_KERNEL = sys.maxsize


@dataclass(frozen=True, slots=True)
class Norms:
    """The instance norms of one tensor; they share its statistics."""

    x: str
    channels: int
    nodes: tuple[Any, ...]


def norms(nodes: Nodes) -> list[Norms]:
    """The instance norms, in an order that is the same for every export of a model.

    Exporters write branches in different orders, and some share the norms of parallel residual blocks. So the order is
    by the number of preceding norms on the longest path, then by channels (most first), then by the kernel length of
    the next convolution: no two norms of a stage of Kokoro are alike in all three.

    Raises:
        CannotSplit: a norm's channels can't be told.
    """
    found: dict[str, Norms] = {}
    depths: dict[str, int] = {}
    order: dict[str, tuple[int, int, int]] = {}
    for node in nodes:
        depth = max((depths.get(name, 0) for name in names_taken(node)), default=0)
        if node.op_type == "InstanceNormalization":
            scale = nodes.constant(node.input[1])
            if scale is None:
                raise CannotSplit("an instance norm has no constant scale")
            x = node.input[0]
            before = found[x].nodes if x in found else ()
            found[x] = Norms(x, len(scale), (*before, node))
            order[x] = (depth, -len(scale), min(_next_kernel(nodes, node), order.get(x, (0, 0, _NO_KERNEL))[2]))
            depth += 1
        depths |= dict.fromkeys(node.output, depth)
    return [found[x] for x in sorted(found, key=order.__getitem__)]


def channels_of(nodes: Nodes) -> int:
    """The number of channels of all norms together."""
    return sum(norm.channels for norm in norms(nodes))


def _next_kernel(nodes: Nodes, norm: Any) -> int:
    """The length of the smallest kernel among the nearest following convolutions."""
    level = nodes.takers(norm.output[0])
    while level:
        kernels: list[int] = [max(kernel) for node in level if (kernel := attribute(node, "kernel_shape"))]
        if kernels:
            return min(kernels)
        level = [taker for node in level for name in node.output for taker in nodes.takers(name)]
    return _NO_KERNEL


def tell_statistics(nodes: Nodes) -> None:
    """Add `STATISTICS` as outputs of a stage that computes its own statistics."""
    chain = Chain(nodes)
    told: tuple[list[str], list[str]] = ([], [])
    for norm in norms(nodes):
        x = chain.cast(norm.x, _element_type(nodes, norm), TensorProto.FLOAT)
        mean = chain.node("GlobalAveragePool", [x])
        deviation = chain.node("Sub", [x, mean])
        variance = chain.node("GlobalAveragePool", [chain.node("Mul", [deviation, deviation])])
        for names, value in zip(told, (mean, variance), strict=True):
            names.append(chain.node("Reshape", [value, chain.ints(-1)]))
    for name, parts in zip(STATISTICS, told, strict=True):
        chain.node("Concat", parts, name, axis=0)
    nodes.outputs |= _described(STATISTICS, channels_of(nodes))
    nodes.replace({}, after=chain.nodes)


def give_statistics(nodes: Nodes, moving: list[str]) -> None:
    """Replace a stage's norms by norms that take their statistics as inputs.

    AdaIN is norm * (1 + gamma) + beta. With given statistics this is one multiplication and one addition per sample. So
    the two operations after a norm are folded into the batch normalisation that replaces the norm, if their other
    operands don't depend on `moving` (the tensors that change along the segment).
    """
    found = norms(nodes)
    chain = Chain(nodes)
    sizes = chain.ints(*(norm.channels for norm in found))
    split = [[nodes.name() for _ in found] for _ in STATISTICS]
    for name, parts in zip(STATISTICS, split, strict=True):
        chain.nodes.append(helper.make_node("Split", [name, sizes], parts, axis=0))
    replaced: dict[int, list[Any]] = {}
    for norm, *statistics in zip(found, *split, strict=True):
        replaced |= _normalized(nodes, norm, statistics, moving)
    nodes.inputs |= _described(STATISTICS, channels_of(nodes))
    nodes.replace(replaced, before=chain.nodes)


def weigh_statistics(nodes: Nodes, moving: list[str], second: list[str]) -> None:
    """Replace a generator's norms by norms in whose statistics some frames count for more than one.

        mean = sum(w x);  variance = sum(w (x - mean)²);  the weights w of a stage's moments add up to 1

    A run that leaves frames out, and has similar ones count for them, so has the statistics of the whole segment. They
    are folded into each norm as given ones are, which alone makes this generator a tenth faster than the whole one.

    Args:
        moving: the tensors that change along the segment.
        second: the tensors with which the second stage begins.
    """
    first = Chain(nodes)
    first_weights, second_weights = (first.node("Unsqueeze", [name, first.ints(1)]) for name in WEIGHT_INPUTS)
    replaced: dict[int, list[Any]] = {}
    for norm in norms(nodes):
        chain = Chain(nodes)
        weights = second_weights if nodes.graph.depends(norm.x, second) else first_weights
        x = chain.cast(norm.x, _element_type(nodes, norm), TensorProto.FLOAT)
        mean = chain.node("MatMul", [x, weights])
        deviation = chain.node("Sub", [x, mean])
        variance = chain.node("MatMul", [chain.node("Mul", [deviation, deviation]), weights])
        statistics = [chain.node("Reshape", [value, chain.ints(-1)]) for value in (mean, variance)]
        replaced |= _normalized(nodes, norm, statistics, moving)
        # Other norms of the same tensor come later in the graph.
        place = id(norm.nodes[0])
        replaced[place] = [*chain.nodes, *replaced[place]]
    nodes.inputs |= _described(WEIGHT_INPUTS, None)
    nodes.replace(replaced, before=first.nodes)


def _described(names: tuple[str, ...], length: int | None) -> dict[str, Any]:
    return {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [length]) for name in names}


def _element_type(nodes: Nodes, norm: Norms) -> int:
    return nodes.graph.element_type(norm.nodes[0].input[1])


def _normalized(nodes: Nodes, norm: Norms, statistics: list[str], moving: list[str]) -> dict[int, list[Any]]:
    """The nodes that normalise a tensor with its mean and variance (tensors of shape [channels]), by the nodes that
    they replace."""
    replaced: dict[int, list[Any]] = {}
    for node in norm.nodes:
        for end in _ends(nodes, node, moving):
            replaced[id(end.node)] = _given(nodes, node, end, statistics)
            replaced |= {id(gone): [] for gone in end.gone}
    return replaced


@dataclass(frozen=True, slots=True)
class _End:
    """The last nodes of a norm and of the operations folded into it."""

    node: Any
    by: str = ""
    plus: str = ""
    gone: tuple[Any, ...] = ()
    """Further nodes that the batch normalisation replaces."""


def _ends(nodes: Nodes, norm: Any, moving: list[str]) -> list[_End]:
    """One end for each residual block that the norm serves if all their factors and summands can be folded in, else a
    single end."""
    affine = [_affine(nodes, taker, norm, moving) for taker in nodes.takers(norm.output[0])]
    ends = [end for end in affine if end is not None]
    return ends if len(ends) == len(affine) else [_End(norm)]


def _given(nodes: Nodes, norm: Any, end: _End, statistics: list[str]) -> list[Any]:
    """The batch normalisation that replaces a norm, from the norm's input to its end."""
    chain = Chain(nodes)
    element_type = nodes.graph.element_type(norm.input[1])
    scale, shift = (chain.cast(name, element_type, TensorProto.FLOAT) for name in norm.input[1:3])
    if end.by:
        flat = chain.ints(-1)
        by, plus = (chain.cast(name, element_type, TensorProto.FLOAT) for name in (end.by, end.plus))
        factor = chain.node("Reshape", [by, flat])
        scale = chain.node("Mul", [scale, factor])
        shift = chain.node("Add", [chain.node("Mul", [shift, factor]), chain.node("Reshape", [plus, flat])])
    x = chain.cast(norm.input[0], element_type, TensorProto.FLOAT)
    [output] = end.node.output
    given, epsilon = [x, scale, shift, *statistics], attribute(norm, "epsilon", 1e-5)
    if element_type == TensorProto.FLOAT:
        chain.node("BatchNormalization", given, output, epsilon=epsilon)
    else:
        made = chain.node("BatchNormalization", given, epsilon=epsilon)
        chain.node("Cast", [made], output, to=element_type)
    return chain.nodes


def _affine(nodes: Nodes, product: Any, norm: Any, moving: list[str]) -> _End | None:
    """The end after a norm's factor and summand, if these are constant along the segment.

    `product` is the node that takes the norm, and the only candidate for the factor.
    """
    operands = []
    tensor, node = norm.output[0], product
    for operator in ("Mul", "Add"):
        others = [name for name in node.input if name != tensor]
        if node.op_type != operator or len(others) != 1 or nodes.graph.depends(others[0], moving):
            return None
        operands.append(others[0])
        tensor = node.output[0]
        takers = nodes.takers(tensor)
        if operator == "Mul":
            if len(takers) != 1:
                return None
            node = takers[0]
    return _End(node, operands[0], operands[1], (norm, product))
