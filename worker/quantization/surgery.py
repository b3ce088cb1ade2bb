"""Taking a part out of a model, and putting what was made of it back in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx
from onnx import compose, helper

from worker.split.graph import Graph


def name_nodes(graph: Graph) -> None:
    """Give each node a name of its own: onnxruntime's tools choose nodes by names, and exporters may leave them out."""
    seen: set[str] = set()
    for place, node in enumerate(graph.nodes):
        if not node.name or node.name in seen:
            node.name = f"kokoro_live_{place}"
        seen.add(node.name)


def own_weights(graph: Graph, nodes: Sequence[Any]) -> None:
    """Have the nodes take their weights directly, where an export names them by Identity: tools see only those."""
    for node in nodes:
        for index, name in enumerate(node.input):
            root = name
            while (maker := graph.maker(root)) is not None and maker.op_type == "Identity":
                root = maker.input[0]
            if root in graph.initializers:
                node.input[index] = root


def part_of(graph: Graph, inputs: Sequence[str], outputs: Sequence[str]) -> Any:
    """A model of its own that makes `outputs` from `inputs`, with its own copies of nodes and weights."""
    places, names = graph.needed(outputs, inputs)
    part = helper.make_graph(
        [graph.nodes[place] for place in places],
        "kokoro-live",
        [graph.value(name) for name in inputs],
        [graph.value(name) for name in outputs],
        [graph.initializers[name] for name in sorted(names & graph.initializers.keys())],
    )
    model = helper.make_model(part, opset_imports=graph.model.opset_import, functions=graph.model.functions)
    model.ir_version = graph.model.ir_version
    return model


def put_back(graph: Graph, part: Any, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Let `part`, which takes and gives tensors of the same names, make the `outputs` in the graph's model.

    What else the part has gets names of its own: it may be of other types than what is left outside. The graph is void
    afterwards; its model is whole.
    """
    model = graph.model
    ends = [value.name for value in model.graph.output]
    kept, _ = graph.needed([*ends, *inputs], outputs)
    part = compose.add_prefix(part, "kokoro_live_part_", rename_inputs=False, rename_outputs=False)
    nodes = [*(graph.nodes[place] for place in kept), *part.graph.node]
    replace_nodes(model, nodes, [*model.graph.initializer, *part.graph.initializer])
    for imported in part.opset_import:
        if all(imported.domain != own.domain for own in model.opset_import):
            model.opset_import.append(imported)


def put_in_order(model: Any) -> None:
    """Have each node come after those that make what it takes, as ONNX demands and not all tools leave it."""
    replace_nodes(model, model.graph.node, model.graph.initializer)


def replace_nodes(model: Any, nodes: Sequence[Any], weights: Sequence[Any]) -> None:
    """Give the model those of these nodes that its outputs need, put in order, and those weights. What was known of
    tensors' types goes."""
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
    """The places so that each comes after those that it needs; otherwise as they were."""
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
