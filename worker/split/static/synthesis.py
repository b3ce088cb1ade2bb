"""The generator's last step, from spectra to samples, with one channel for each sample of a hop.

A transposed convolution makes one channel as long as the audio, and CoreML takes no tensor with more than 16,384 in one
dimension: 0.7 s. A convolution makes a channel for each sample of a hop: [1, hops, samples per hop], in which the
samples are in the same order. What follows in the published models (the sum of squared windows that divides a few
samples, a factor, both ends cut off) becomes one factor for each sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.graph.graph import Chain, Nodes, attribute

Shapes = Mapping[str, tuple[int, ...]]

_TIME = 2
_ORDER_STAYS = ("Squeeze", "Unsqueeze", "Reshape", "Identity")
_KNOWN = (*_ORDER_STAYS, "Gather", "Slice", "Mul", "ScatterND")


@dataclass
class _Samples:
    """The samples that a transposed convolution made, as the nodes after it leave them."""

    places: NDArray[np.int64]
    """Each sample's place in the convolution's output."""
    factors: NDArray[np.float64]
    """Factor by which each sample has been multiplied since."""


def fold_synthesis(nodes: Nodes, audio: str, shapes: Shapes) -> bool:
    """Rewrite the nodes that make `audio` if they have Kokoro's form: one transposed convolution, or the sum or
    difference of two, then nodes that reorder nothing. Any other form is left as it is."""
    found = _tail(nodes, audio)
    if found is None:
        return False
    makers, join, rest = found
    hop = attribute(makers[0], "strides")[0]
    samples = _after(nodes, rest, shapes[rest[0].input[0]][-1], shapes)
    folded = [_folded(nodes, maker, hop) for maker in makers]
    if samples is None or len(samples.places) != np.prod(shapes[audio]):
        return False
    begin, end = int(samples.places[0]), int(samples.places[-1]) + 1
    if begin % hop or end % hop or end - begin != len(samples.places):
        return False
    chain = Chain(nodes)
    parts: list[str] = []
    for maker, weights in zip(makers, folded, strict=True):
        if weights is None:
            return False
        kind = weights.dtype
        parts.append(_convolution(chain, maker, weights))
    joined = chain.node(join.op_type, parts) if join is not None else parts[0]
    hops = chain.node("Slice", [joined, chain.ints(begin // hop), chain.ints(end // hop), chain.ints(_TIME)])
    _in_order(chain, hops, samples.factors.reshape(1, -1, hop).astype(kind), audio)
    gone = [*makers, *([join] if join is not None else []), *rest]
    nodes.replace({id(node): [] for node in gone} | {id(gone[-1]): chain.nodes})
    return True


def _tail(nodes: Nodes, audio: str) -> tuple[list[Any], Any | None, list[Any]] | None:
    """The transposed convolutions, the node that joins them, and the nodes after them."""
    rest: list[Any] = []
    node = nodes.maker(audio)
    while node is not None and node.op_type in _KNOWN:
        rest.insert(0, node)
        node = nodes.maker(node.input[0])
    if node is None or not rest:
        return None
    if node.op_type == "ConvTranspose":
        return [node], None, rest
    if node.op_type not in ("Add", "Sub"):
        return None
    makers = [nodes.maker(name) for name in node.input]
    if any(maker is None or maker.op_type != "ConvTranspose" for maker in makers):
        return None
    return makers, node, rest


def _after(nodes: Nodes, rest: list[Any], length: int, shapes: Shapes) -> _Samples | None:
    """The samples of `length` after the nodes `rest`; None if one of these does anything else."""
    samples = _Samples(np.arange(length), np.ones(length))
    for node in rest:
        before = shapes[node.input[0]]
        if max(before) != len(samples.places) or np.prod(before) != len(samples.places):
            return None
        if node.op_type == "Slice":
            kept = _kept(nodes, node, before)
        elif node.op_type == "Mul":
            kept = _times(samples, nodes.constant(node.input[1]))
        elif node.op_type == "ScatterND":
            kept = _divided(nodes, node, samples)
        elif node.op_type == "Gather" and not _of_one(nodes, node, before):
            kept = None
        else:
            kept = slice(None)
        if kept is None:
            return None
        samples = _Samples(samples.places[kept], samples.factors[kept])
    return samples


def _of_one(nodes: Nodes, node: Any, shape: tuple[int, ...]) -> bool:
    """True if the node takes the only element of a dimension."""
    place = nodes.constant(node.input[1])
    return place is not None and place.size == 1 and shape[attribute(node, "axis", 0)] == 1


def _kept(nodes: Nodes, node: Any, shape: tuple[int, ...]) -> slice | None:
    """The samples that a Slice leaves; None if it isn't one of samples."""
    bounds = [nodes.constant(name) for name in node.input[1:]]
    if len(bounds) < 3 or any(bound is None or bound.size != 1 for bound in bounds):
        return None
    begin, end, axis, step = ([int(bound.item()) for bound in bounds if bound is not None] + [1])[:4]
    return slice(begin, end) if axis % len(shape) == int(np.argmax(shape)) and step == 1 else None


def _times(samples: _Samples, factor: NDArray[Any] | None) -> slice | None:
    if factor is None or factor.size != 1:
        return None
    samples.factors *= factor.item()
    return slice(None)


def _divided(nodes: Nodes, node: Any, samples: _Samples) -> slice | None:
    """Some samples are replaced by themselves, divided: ScatterND(x, places, Reshape(Gather(x, places) / divisors))."""
    updates = nodes.maker(node.input[2])
    while updates is not None and updates.op_type in _ORDER_STAYS:
        updates = nodes.maker(updates.input[0])
    taken = nodes.maker(updates.input[0]) if updates is not None and updates.op_type == "Div" else None
    if updates is None or taken is None or taken.op_type != "Gather" or taken.input[0] != node.input[0]:
        return None
    divisors, read, written = (nodes.constant(name) for name in (updates.input[1], taken.input[1], node.input[1]))
    if divisors is None or read is None or written is None or divisors.size != read.size or not written.size:
        return None
    places = written.reshape(-1, written.shape[-1])
    if places[:, :-1].any() or not np.array_equal(places[:, -1], read.ravel()):
        return None
    samples.factors[places[:, -1]] /= divisors.ravel()
    return slice(None)


def _folded(nodes: Nodes, maker: Any, hop: int) -> NDArray[Any] | None:
    """The weights as a convolution's, [hop, channels, hops per window]; None if the node does more than overlap and
    add."""
    weights = nodes.constant(maker.input[1])
    form = [attribute(maker, name, default) for name, default in (("group", 1), ("dilations", [1]), ("pads", [0, 0]))]
    if weights is None or len(maker.input) > 2 or form != [1, [1], [0, 0]] or attribute(maker, "strides") != [hop]:
        return None
    channels, out, size = weights.shape
    if out != 1 or size % hop or attribute(maker, "output_padding", [0]) != [0]:
        return None
    return weights.reshape(channels, size // hop, hop)[:, ::-1].transpose(2, 0, 1)


def _convolution(chain: Chain, maker: Any, weights: NDArray[Any]) -> str:
    taps = weights.shape[-1]
    pads = [taps - 1, taps - 1]
    return chain.node("Conv", [maker.input[0], chain.floats(weights, weights.dtype)], kernel_shape=[taps], pads=pads)


def _in_order(chain: Chain, hops: str, factors: NDArray[Any], audio: str) -> None:
    """Write `audio`: `hops` [1, samples per hop, hops] in the samples' order, times factors [1, hops, samples per
    hop]."""
    if np.all(factors == 1):
        chain.node("Transpose", [hops], audio, perm=[0, 2, 1])
    else:
        samples = chain.node("Transpose", [hops], perm=[0, 2, 1])
        chain.node("Mul", [samples, chain.floats(factors, factors.dtype)], audio)
