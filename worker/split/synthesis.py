"""The generator's last step, from spectra to samples, with one channel for each sample of a hop.

A transposed convolution makes one channel as long as the audio, and CoreML takes no tensor with more than 16,384 in one
dimension: 0.7 s. A convolution makes a channel for each sample of a hop: [1, hops, samples per hop], in which the
samples are in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.split.graph import attribute
from worker.split.nodes import Chain, Nodes

_TIME = 2
_ORDER_STAYS = ("Squeeze", "Unsqueeze", "Reshape", "Identity")


def fold_synthesis(nodes: Nodes, audio: str, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Rewrite the nodes that make `audio` if they have Kokoro's form: two transposed convolutions, their sum or
    difference, both ends cut off. Any other form is left as it is."""
    found = _tail(nodes, audio)
    if found is None:
        return False
    makers, join, cut, rest = found
    hop = attribute(makers[0], "strides")[0]
    length = shapes[join.output[0]][_TIME]
    begin, end = 0, length
    if cut is not None:
        bounds = [nodes.constant(name) for name in cut.input[1:3]]
        if any(bound is None or bound.size != 1 for bound in bounds):
            return False
        begin, end, _ = slice(*(int(bound.item()) for bound in bounds if bound is not None)).indices(length)
    folded = [_folded(nodes, maker, hop) for maker in makers]
    if begin % hop or end % hop or end - begin != np.prod(shapes[audio]):
        return False
    chain = Chain(nodes)
    parts: dict[str, str] = {}
    for maker, weights in zip(makers, folded, strict=True):
        if weights is None:
            return False
        parts[maker.output[0]] = _convolution(chain, maker, weights)
    joined = chain.node(join.op_type, [parts[name] for name in join.input])
    hops = chain.node("Slice", [joined, chain.ints(begin // hop), chain.ints(end // hop), chain.ints(_TIME)])
    chain.node("Transpose", [hops], audio, perm=[0, 2, 1])
    gone = [*makers, join, *([cut] if cut is not None else []), *rest]
    nodes.replace({id(node): [] for node in gone} | {id(gone[-1]): chain.nodes})
    return True


def _tail(nodes: Nodes, audio: str) -> tuple[list[Any], Any, Any | None, list[Any]] | None:
    """The transposed convolutions, the node that joins them, the nodes that cut the ends off, and those that only
    reshape."""
    rest: list[Any] = []
    node = nodes.maker(audio)
    while node is not None and node.op_type in _ORDER_STAYS:
        rest.insert(0, node)
        node = nodes.maker(node.input[0])
    cut = None
    if node is not None and node.op_type == "Slice":
        cut, node = node, nodes.maker(node.input[0])
    if node is None or node.op_type not in ("Sub", "Add") or not (rest or cut):
        return None
    makers = [nodes.maker(name) for name in node.input]
    if any(maker is None or maker.op_type != "ConvTranspose" for maker in makers):
        return None
    return makers, node, cut, rest


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
