"""Convolutions along time as convolutions over a plane one sample high: the same numbers, summed in another order.

onnxruntime's CPU provider has a blocked layout (NCHWc) and direct convolutions for planes only. Each convolution's
input gains the height dimension and its output loses it again, which costs nothing: both are only reshapes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from worker.graph.graph import Chain, Nodes, attribute

_ALONG_TIME = ("strides", "dilations")


def make_planar(nodes: Nodes) -> int:
    """Rewrite all convolutions along time whose weights are constants in 32-bit floats; return their number.

    Quantised convolutions stay as they are: their weights are computed by other nodes, and onnxruntime runs lines and
    planes with the same code.
    """
    found = [node for node in nodes if node.op_type == "Conv" and _is_along_time(nodes, node)]
    axis = nodes.add(np.array([2], np.int64)) if found else ""
    replaced: dict[int, list[Any]] = {}
    for node in found:
        weights = node.input[1]
        channels, into, kernel = nodes.graph.initializers[weights].dims
        nodes.reshaped[weights] = (channels, into, 1, kernel)
        chain = Chain(nodes)
        inputs = [chain.node("Unsqueeze", [node.input[0], axis]), *node.input[1:]]
        plane: dict[str, Any] = {name: [1, *values] for name in _ALONG_TIME if (values := attribute(node, name))}
        before, after = attribute(node, "pads", [0, 0])
        made = chain.node(
            "Conv",
            inputs,
            kernel_shape=[1, kernel],
            pads=[0, before, 0, after],
            group=attribute(node, "group", 1),
            **plane,
        )
        chain.node("Squeeze", [made, axis], node.output[0])
        replaced[id(node)] = chain.nodes
    nodes.replace(replaced)
    return len(found)


def _is_along_time(nodes: Nodes, node: Any) -> bool:
    weights = nodes.graph.initializers.get(node.input[1])
    # Other takers of the weights would get them in another shape.
    return (
        weights is not None
        and weights.data_type == TensorProto.FLOAT
        and len(weights.dims) == 3
        and all(_takes_as_weights(taker, weights.name) for taker in nodes.takers(weights.name))
    )


def _takes_as_weights(node: Any, weights: str) -> bool:
    padded = attribute(node, "auto_pad", b"NOTSET") != b"NOTSET"
    return node.op_type == "Conv" and node.input[0] != weights == node.input[1] and not padded
