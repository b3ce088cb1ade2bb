"""Finds a graph's random operations and the shape of the numbers that each one draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

from worker.graph.graph import CannotSplit, Graph, attribute
from worker.split.rewrites.noise import Noise

_PROBES = (20, 40, 70)
"""Frames of F0 in the probe runs: two find how a shape grows, the third checks the result."""


def random_operations(graph: Graph, places: list[int]) -> list[Any]:
    """The random operations of a source that inputs can replace.

    Raises:
        CannotSplit: there are random operations of another kind.
    """
    found = [graph.nodes[place] for place in places if graph.nodes[place].op_type.startswith("Random")]
    for node in found:
        if graph.element_type(node.output[0]) != onnx.TensorProto.FLOAT:
            raise CannotSplit("its noise isn't made of 32-bit floats")
    return found


def noise_of(graph: Graph, operations: list[Any], source: bytes) -> tuple[Noise, ...]:
    """The noise input for each random operation; `source` takes F0 and gives each operation's output.

    Raises:
        CannotSplit: a shape doesn't grow evenly with F0.
    """
    session = ort.InferenceSession(source, providers=["CPUExecutionProvider"])
    f0 = session.get_inputs()[0]
    kind = np.float16 if f0.type == "tensor(float16)" else np.float32
    shapes = [
        [result.shape for result in session.run(None, {f0.name: np.full((1, frames), 150, kind)})] for frames in _PROBES
    ]
    noises = []
    for operation, *found in zip(operations, *shapes, strict=True):
        first, second, third = _PROBES
        grown = [(b - a) // (second - first) for a, b in zip(found[0], found[1], strict=True)]
        shape = tuple((by, size - by * first) for by, size in zip(grown, found[0], strict=True))
        if tuple(by * third + fixed for by, fixed in shape) != found[2]:
            raise CannotSplit(f"its noise has the shapes {found} for {_PROBES} frames")
        normal = "Normal" in operation.op_type
        low = attribute(operation, "mean" if normal else "low", 0.0)
        spread = attribute(operation, "scale", 1.0) if normal else attribute(operation, "high", 1.0) - low
        noises.append(Noise(kind="normal" if normal else "uniform", centre=low, spread=spread, shape=shape))
    return tuple(noises)
