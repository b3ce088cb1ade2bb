"""Snake between a norm with given statistics and a quantisation: a sine and three more operations for each sample,
instead of thirteen.

Where statistics are inputs, a norm is one factor and one summand for each channel, so Snake's inner factor a becomes a
part of both. With z = a x, and with 1/a as the outer factor, as Kokoro has it, Snake is

    x + sin²(a x) / a = (z + sin² z) / a

onnxruntime's `Sin` takes as long as five passes and runs in one thread. On one or two cores this is done sooner than
the polynomial of `worker.split.rewrites.snake`, in which every operation uses all threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from worker.graph.graph import attribute
from worker.graph.nodes import Chain, Nodes
from worker.split.rewrites.snake import Snake, snakes

NORM = "BatchNormalization"
"""The operator of a norm whose statistics are inputs."""

_TOLERANCE = 1e-5


def fold_sines(nodes: Nodes) -> int:
    """Rewrite all Snakes that follow such a norm and are then quantised; return their number."""
    found = [(snake, norm) for snake in snakes(nodes) if (norm := _norm_before(nodes, snake)) is not None]
    replaced: dict[int, list[Any]] = {}
    for snake, norm in found:
        x, scale, shift, *statistics = norm.input
        chain = Chain(nodes)
        factor = chain.floats(snake.inside.ravel())
        turned = [chain.node("Mul", [name, factor]) for name in (scale, shift)]
        z = chain.node(NORM, [x, *turned, *statistics], epsilon=attribute(norm, "epsilon", 1e-5))
        sine = chain.node("Sin", [z])
        total = chain.node("Add", [z, chain.node("Mul", [sine, sine])])
        chain.node("Mul", [total, chain.floats(snake.outside)], snake.output)
        replaced |= snake.replaced(chain.nodes) | {id(norm): []}
    nodes.replace(replaced)
    return len(found)


def _norm_before(nodes: Nodes, snake: Snake) -> Any | None:
    """The norm that makes `snake.x`; None if the Snake can't be folded into it, or isn't quantised."""
    norm, taker = nodes.maker(snake.x), nodes.only_taker(snake.output)
    if norm is None or norm.op_type != NORM or taker is None or taker.op_type != "DynamicQuantizeLinear":
        return None
    ends = {id(snake.nodes[0]), id(snake.nodes[-1])}
    if {id(node) for node in nodes.takers(snake.x)} != ends or snake.inside.shape != snake.outside.shape:
        return None
    return norm if np.allclose(snake.inside * snake.outside, 1, rtol=0, atol=_TOLERANCE) else None
