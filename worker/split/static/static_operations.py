"""Operations that accelerators don't support, rewritten as supported ones. The numbers stay the same, to rounding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from worker.graph.graph import attribute
from worker.graph.nodes import Chain, Nodes

Shapes = Mapping[str, tuple[int, ...]]
_Writer = Callable[[Nodes, Chain, Any, Shapes], bool]

_TIME = 2


def replace_operations(nodes: Nodes, shapes: Shapes) -> None:
    """Replace all operations of a known form; `shapes` has the shape of every tensor."""
    replaced: dict[int, list[Any]] = {}
    for node in nodes:
        chain = Chain(nodes)
        writer = _WRITERS.get(node.op_type)
        if writer is not None and writer(nodes, chain, node, shapes):
            replaced[id(node)] = chain.nodes
    nodes.replace(replaced)


def _norm(_: Nodes, chain: Chain, node: Any, shapes: Shapes) -> bool:
    """A normalisation with given statistics, as one factor and one summand per channel."""
    x, scale, shift, mean, variance = node.input
    column = chain.ints(1, shapes[x][1], 1)
    deviation = chain.node("Sqrt", [chain.node("Add", [variance, chain.floats([attribute(node, "epsilon", 1e-5)])])])
    factor = chain.node("Div", [scale, deviation])
    summand = chain.node("Sub", [shift, chain.node("Mul", [mean, factor])])
    scaled = chain.node("Mul", [x, chain.node("Reshape", [factor, column])])
    chain.node("Add", [scaled, chain.node("Reshape", [summand, column])], node.output[0])
    return True


def _reflection(nodes: Nodes, chain: Chain, node: Any, shapes: Shapes) -> bool:
    """Reflection padding along time, as slices of one sample each."""
    pads, rank = nodes.constant(node.input[1]), len(shapes[node.input[0]])
    if attribute(node, "mode", b"constant") != b"reflect" or rank != 3 or pads is None or len(pads) != 6:
        return False
    x, length = node.input[0], shapes[node.input[0]][_TIME]
    left, right = int(pads[2]), int(pads[5])
    if pads.sum() != left + right:
        return False
    before = [_slice(chain, x, place, place + 1) for place in range(left, 0, -1)]
    after = [_slice(chain, x, length - 2 - place, length - 1 - place) for place in range(right)]
    chain.node("Concat", [*before, x, *after], node.output[0], axis=_TIME)
    return True


def _doubling(_: Nodes, chain: Chain, node: Any, shapes: Shapes) -> bool:
    """Nearest-neighbour upsampling along time by 2: each sample twice."""
    x, output = shapes[node.input[0]], shapes[node.output[0]]
    repeats = attribute(node, "mode", b"nearest") == b"nearest" and (
        attribute(node, "coordinate_transformation_mode", b"half_pixel") in (b"asymmetric", b"half_pixel")
        and attribute(node, "nearest_mode", b"round_prefer_floor") in (b"round_prefer_floor", b"floor")
    )
    if not repeats or len(x) != 3 or output != (*x[:_TIME], 2 * x[_TIME]):
        return False
    _interleave(chain, node.input[0], node.input[0], output, node.output[0])
    return True


def _upsampling(nodes: Nodes, chain: Chain, node: Any, shapes: Shapes) -> bool:
    """The transposed convolution that doubles each channel's length, as two sums for even and odd samples."""
    weights = nodes.constant(node.input[1]) if attribute(node, "output_padding", [0]) != [0] else None
    x, channels = node.input[0], shapes[node.input[0]][1]
    form = [attribute(node, name) for name in ("strides", "pads", "output_padding", "group")]
    if weights is None or weights.shape != (channels, 1, 3) or form != [[2], [1, 1], [1], channels]:
        return False
    before, middle, after = (chain.floats(weights[:, 0, tap].reshape(1, -1, 1), weights.dtype) for tap in range(3))
    nothing = chain.floats(np.zeros((1, channels, 1)), weights.dtype)
    following = chain.node("Concat", [_slice(chain, x, 1, shapes[x][_TIME]), nothing], axis=_TIME)
    even = chain.node("Mul", [x, middle])
    odd = chain.node("Add", [chain.node("Mul", [x, after]), chain.node("Mul", [following, before])])
    if len(node.input) == 3:
        column = chain.ints(1, channels, 1)
        bias = chain.node("Reshape", [node.input[2], column])
        even, odd = (chain.node("Add", [part, bias]) for part in (even, odd))
    _interleave(chain, even, odd, shapes[node.output[0]], node.output[0])
    return True


def _nothing_cut(_: Nodes, chain: Chain, node: Any, shapes: Shapes) -> bool:
    if shapes[node.input[0]] != shapes[node.output[0]]:
        return False
    chain.node("Identity", node.input[:1], node.output[0])
    return True


_WRITERS: dict[str, _Writer] = {
    "Slice": _nothing_cut,
    "BatchNormalization": _norm,
    "Pad": _reflection,
    "Resize": _doubling,
    "ConvTranspose": _upsampling,
}


def _slice(chain: Chain, x: str, begin: int, end: int) -> str:
    return chain.node("Slice", [x, chain.ints(begin), chain.ints(end), chain.ints(_TIME)])


def _interleave(chain: Chain, even: str, odd: str, shape: tuple[int, ...], output: str) -> None:
    last = chain.ints(_TIME + 1)
    columns = [chain.node("Unsqueeze", [part, last]) for part in (even, odd)]
    pairs = chain.node("Concat", columns, axis=_TIME + 1)
    chain.node("Reshape", [pairs, chain.ints(*shape)], output)
