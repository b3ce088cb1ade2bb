"""Replacement of a model's nodes: only nodes that its outputs need are kept, in an order that ONNX allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx

from worker.split.graph import Graph


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
