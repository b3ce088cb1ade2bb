"""Which nodes of Kokoro's graph may lose precision: found by kernels and by what depends on what, never by names."""

from __future__ import annotations

from typing import Any

import onnx

from worker.split.cuts import Cuts
from worker.split.graph import CannotSplit, Graph, attribute

_QUANTIZED = ("Quant", "Integer", "NBits", "QLinear", "QGemm", "QAttention", "Bnb4")
"""What the names of operators on integers contain: ONNX's own, and those that onnxruntime's tools put in."""

_HALF = (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)


def is_quantized(graph: Graph) -> bool:
    """Whether somebody has quantised the model before, or halved its precision."""
    if any(part in node.op_type for node in graph.nodes for part in _QUANTIZED):
        return True
    constants = (attribute(node, "value") for node in graph.of_type("Constant"))
    weights = (*graph.model.graph.initializer, *constants)
    return any(tensor is not None and tensor.data_type in _HALF for tensor in weights)


def generator_nodes(graph: Graph, cuts: Cuts) -> list[int]:
    """Places of all that makes sound of features, harmonics and style."""
    return graph.needed([cuts.audio], [cuts.features, cuts.harmonics, cuts.style])[0]


def prosody_nodes(graph: Graph, cuts: Cuts) -> list[int]:
    """Places of all that predicts durations, F0 and energy, and aligns the text."""
    return graph.needed([cuts.text, cuts.f0, cuts.energy, cuts.durations], [])[0]


def residual_convolutions(graph: Graph, cuts: Cuts) -> list[Any]:
    """The convolutions of the generator's residual blocks and noise blocks: 48 in Kokoro.

    They do nearly nine tenths of all its multiplications, and they alone keep the number of channels and the rate. The
    generator's other convolutions change one of these: its upsamplings, those that take harmonics in, and the last one,
    which makes the spectrum that the iSTFT inverts.

    Raises:
        CannotSplit: there are none.
    """
    found = []
    for place in generator_nodes(graph, cuts):
        node = graph.nodes[place]
        if node.op_type != "Conv" or attribute(node, "group", 1) != 1:
            continue
        weights = graph.constant(node.input[1])
        if weights is not None and weights.shape[0] == weights.shape[1] and weights.shape[-1] > 1:
            found.append(node)
    if not found:
        raise CannotSplit("its generator has no convolutions of residual blocks")
    return found


def spectrum_convolution(graph: Graph, cuts: Cuts) -> Any:
    """The generator's last convolution, which makes the spectrum that the iSTFT inverts.

    Raises:
        CannotSplit: there is none.
    """
    found = [place for place in generator_nodes(graph, cuts) if graph.nodes[place].op_type == "Conv"]
    if not found:
        raise CannotSplit("its generator has no convolutions")
    return graph.nodes[found[-1]]
