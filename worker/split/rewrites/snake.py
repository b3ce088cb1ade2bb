"""Snake without a sine call: x + c sin²(a x), with the sine as a polynomial of the argument reduced by whole
half-turns.

sin²(pi t) has period 1, so t - round(t), which is exact, is all that matters. From -1/2 to 1/2 an odd polynomial of
degree 7 is within 6e-7 of sin(pi r) (minimax, by Lawson's iteration); squared and scaled that is the rounding of 32-bit
floats (`python -m benchmarks.rewrites`). The factor pi goes into a, and the polynomial's first coefficient into c, so
it costs ten cheap operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.graph.graph import Chain, Nodes, attribute

SINE = (3.14158202, -5.1671428, 2.54189902, -0.55463619)
"""sin(pi r) = r (SINE[0] + SINE[1] r² + SINE[2] r⁴ + SINE[3] r⁶), for r from -1/2 to 1/2."""


@dataclass(frozen=True, slots=True)
class Snake:
    """A Snake in the graph, x + outside * sin²(inside * x), in 32-bit floats."""

    nodes: tuple[Any, ...]
    """The Snake's five nodes, in order."""
    x: str
    inside: NDArray[Any]
    outside: NDArray[Any]

    @property
    def output(self) -> str:
        return str(self.nodes[-1].output[0])

    def replaced(self, by: list[Any]) -> dict[int, list[Any]]:
        """The argument of `Nodes.replace` that puts `by` in place of the last node, and nothing in place of the
        others."""
        return {id(node): [] for node in self.nodes} | {id(self.nodes[-1]): by}


def snakes(nodes: Nodes) -> list[Snake]:
    """All Snakes in 32-bit floats with constant factors."""
    return [found for node in nodes if node.op_type == "Sin" and (found := _match(nodes, node)) is not None]


def rewrite_snakes(nodes: Nodes) -> int:
    """Rewrite all of `snakes`; return their number."""
    found = snakes(nodes)
    nodes.replace({node: by for each in found for node, by in each.replaced(_polynomial(nodes, each)).items()})
    return len(found)


def _match(nodes: Nodes, sine: Any) -> Snake | None:
    """The Snake around a sine; None if the nodes around it don't form one."""
    inner, square = nodes.maker(sine.input[0]), nodes.only_taker(sine.output[0])
    outer = nodes.only_taker(square.output[0]) if square and _is_square(nodes, square) else None
    total = nodes.only_taker(outer.output[0]) if outer else None
    if inner is None or square is None or outer is None or total is None:
        return None
    kinds = [node.op_type for node in (inner, outer, total)]
    if kinds != ["Mul", "Mul", "Add"] or nodes.only_taker(inner.output[0]) is not sine:
        return None
    inside, x = _factor(nodes, inner)
    outside, squared = _factor(nodes, outer)
    if inside is None or outside is None:
        return None
    fits = squared == square.output[0] and sorted(total.input) == sorted([x, outer.output[0]])
    return Snake((inner, sine, square, outer, total), x, inside, outside) if fits else None


def _is_square(nodes: Nodes, node: Any) -> bool:
    if node.op_type == "Mul":
        return bool(node.input[0] == node.input[1])
    exponent = nodes.constant(node.input[1]) if node.op_type == "Pow" else None
    return exponent is not None and exponent.size == 1 and float(exponent.item()) == 2.0


def _factor(nodes: Nodes, product: Any) -> tuple[NDArray[Any] | None, str]:
    """A product's constant factor, in 32-bit floats, and its other operand."""
    for mine, other in (product.input, list(product.input)[::-1]):
        value = _value(nodes, mine)
        if value is not None and value.dtype == np.float32:
            return value, str(other)
    return None, ""


def _value(nodes: Nodes, tensor: str) -> NDArray[Any] | None:
    """The value of a constant, or of the reciprocal of a constant, which exporters leave to be computed in each run."""
    value = nodes.constant(tensor)
    node = nodes.maker(tensor)
    if value is not None or node is None:
        return value
    parts = [nodes.constant(name) for name in node.input]
    if node.op_type == "Reciprocal" and parts[0] is not None:
        return np.asarray(np.reciprocal(parts[0]))
    if node.op_type == "Div" and parts[0] is not None and parts[1] is not None:
        return np.asarray(parts[0] / parts[1])
    return None


def _polynomial(nodes: Nodes, snake: Snake) -> list[Any]:
    chain = Chain(nodes)
    *others, first = SINE
    turns = chain.node("Mul", [snake.x, chain.floats(snake.inside / np.pi)])
    r = chain.node("Sub", [turns, chain.node("Round", [turns])])
    square = chain.node("Mul", [r, r])
    value = square
    for coefficient in others[:0:-1]:
        value = chain.node("Add", [value, chain.floats(coefficient / first)])
        value = chain.node("Mul", [value, square])
    value = chain.node("Add", [value, chain.floats(others[0] / first)])
    sine = chain.node("Mul", [value, r])
    scaled = chain.node("Mul", [chain.node("Mul", [sine, sine]), chain.floats(snake.outside * first**2)])
    chain.node("Add", [snake.x, scaled], snake.output)
    return chain.nodes


# Snake between a norm with given statistics and a quantisation: a sine and three more operations for each sample,
# instead of thirteen. Where statistics are inputs, a norm is one factor and one summand for each channel, so Snake's
# inner factor a becomes a part of both. With z = a x, and with 1/a as the outer factor, as Kokoro has it, Snake is
#
#     x + sin²(a x) / a = (z + sin² z) / a
#
# onnxruntime's `Sin` takes as long as five passes and runs in one thread. On one or two cores this is done sooner than
# the polynomial, in which every operation uses all threads.

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
