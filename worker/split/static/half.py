"""Static windows in half precision, which Apple's Neural Engine needs: float16 types, and float32 where the sound would
suffer.

Source: https://apple.github.io/coremltools/docs-guides/source/typed-execution.html
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from worker.graph.graph import CannotSplit

_FLOAT, _HALF = TensorProto.FLOAT, TensorProto.FLOAT16


def to_half(model: Any, moving: Collection[str]) -> None:
    """Convert a model in place. Its inputs and outputs stay float32.

    Nodes that depend on a style and on statistics alone stay float32, because they are a small part of the work and
    their errors would be in every sample. So does the spectrum, from its exponential on, which spans many decades.
    onnxruntime's own converter (`onnxruntime.transformers.float16`) gives two casts one name where two nodes that stay
    float32 share an input, and onnxruntime then refuses the graph.

    Args:
        model: a model in float32, with all weights inside and its nodes in the order in which they run.
        moving: names of the inputs that change along time.

    Raises:
        CannotSplit: a node casts, or an output would be in half precision.
    """
    graph = model.graph
    kinds = {value.name: _FLOAT for value in graph.input}
    weights = {tensor.name: tensor for tensor in graph.initializer}
    along_time, spectral = set(moving), set[str]()
    halves: dict[str, Any] = {}
    nodes: list[Any] = []

    def in_kind(name: str, kind: int) -> str:
        """Name of the tensor in that type; its conversion is made at its first use."""
        present = weights[name].data_type if name in weights else kinds.get(name, kind)
        if present == kind or (present != _FLOAT and name in weights):
            return name
        other = f"{name}.{'half' if kind == _HALF else 'float'}"
        if other not in kinds:
            kinds[other] = kind
            if name in weights:
                halves[other] = numpy_helper.from_array(numpy_helper.to_array(weights[name]).astype(np.float16), other)
            else:
                nodes.append(helper.make_node("Cast", [name], [other], name=other, to=kind))
        return other

    for node in graph.node:
        if node.op_type == "Cast":
            raise CannotSplit(f"{node.name or 'a node'} casts")
        if along_time.intersection(node.input):
            along_time.update(node.output)
        if node.op_type == "Exp" or spectral.intersection(node.input):
            spectral.update(node.output)
        exact = not along_time.intersection(node.output) or bool(spectral.intersection(node.output))
        kind = _FLOAT if exact else _HALF
        node.input[:] = [in_kind(name, kind) for name in node.input]
        kinds.update(dict.fromkeys(node.output, kind))
        nodes.append(node)
    if any(kinds[value.name] == _HALF for value in graph.output):
        raise CannotSplit("its end has no spectrum")
    taken = {name for node in nodes for name in node.input}
    kept = [tensor for tensor in (*graph.initializer, *halves.values()) if tensor.name in taken]
    for value in graph.value_info:
        value.type.tensor_type.elem_type = kinds.get(value.name, value.type.tensor_type.elem_type)
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept)
