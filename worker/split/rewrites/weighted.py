"""The generator with statistics of its own in which some frames count for more than one.

    mean = sum(w x);  variance = sum(w (x - mean)²);  the weights w of a stage's moments add up to 1

A run that leaves frames out, and has similar ones count for them, so has the statistics of the whole segment. The
statistics are folded into each norm as given ones are (`rewrite.give_statistics`), which alone makes this
generator a tenth faster than the whole one.
"""

from __future__ import annotations

from typing import Any

from onnx import TensorProto, helper

from worker.graph.graph import Graph
from worker.split.rewrites.rewrite import Additions, norms, put_statistics

WEIGHT_INPUTS = ("first_weights", "second_weights")
"""Float32 vectors: the first stage's weights, 10 for each frame at 80 Hz, and the second stage's, 60 and one more."""


def weigh_statistics(
    graph: Graph, places: list[int], moving: list[str], second: list[str]
) -> tuple[dict[int, list[Any]], Additions]:
    """Replace a generator's norms by norms that compute their statistics with the weights of `WEIGHT_INPUTS`.

    Args:
        places: the generator's nodes.
        moving: the tensors that change along the segment.
        second: the tensors with which the second stage begins.

    Returns:
        The replacement nodes by place, and the additions that must come before all nodes.
    """
    more = Additions("weighted")
    column = more.ints(1)
    first_weights, second_weights = (more.node("Unsqueeze", [name, column]) for name in WEIGHT_INPUTS)
    instead: dict[int, list[Any]] = {}
    for norm in norms(graph, places):
        local = Additions(f"weighted_{norm.places[0]}")
        weights = second_weights if graph.depends(norm.x, second) else first_weights
        x = local.cast(norm.x, graph.element_type(graph.nodes[norm.places[0]].input[1]), TensorProto.FLOAT)
        mean = local.node("MatMul", [x, weights])
        deviation = local.node("Sub", [x, mean])
        variance = local.node("MatMul", [local.node("Mul", [deviation, deviation]), weights])
        flat = local.ints(-1)
        statistics = local.node("Reshape", [mean, flat]), local.node("Reshape", [variance, flat])
        more.constants += [*put_statistics(graph, norm, statistics, moving, instead), *local.constants]
        # Other norms of the same tensor come later in the graph.
        place = norm.places[0]
        instead[place] = [*local.nodes, *instead.get(place, [])]
    return instead, more


def weight_inputs() -> list[Any]:
    """The descriptions of `WEIGHT_INPUTS`."""
    return [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None]) for name in WEIGHT_INPUTS]
