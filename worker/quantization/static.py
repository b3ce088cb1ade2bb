"""Static int8: activations U8, weights S8 per channel, ranges measured on speech.

Only the residual blocks' convolutions, each of which then stands between quantised tensors, so that onnxruntime makes
one QLinearConv of it. S8 activations are never asked for: onnxruntime's S8 by S8 kernel runs at a tenth of the speed on
x86 (34 against 340 GFLOP/s measured).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
from numpy.typing import NDArray
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.quant_utils import add_pre_process_metadata

from worker.quantization.regions import residual_convolutions
from worker.quantization.surgery import own_weights, part_of, put_back
from worker.split.cuts import Cuts
from worker.split.graph import Graph

GeneratorInputs = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Features, harmonics and style, as `worker.split.cuts` describes them."""


def quantize_generator(graph: Graph, cuts: Cuts, speech: Iterator[GeneratorInputs], reduced: bool) -> None:
    """Quantise the graph's model in place.

    Args:
        graph: its nodes must have names.
        cuts: the same graph's.
        speech: what the generator takes when it speaks; one at a time is in memory.
        reduced: use 7 bits of each weight (`worker.signed_products`).

    Raises:
        CannotSplit: there are no residual blocks.
    """
    convolutions = residual_convolutions(graph, cuts)
    own_weights(graph, convolutions)
    inputs = [cuts.features, cuts.harmonics, cuts.style]
    part = part_of(graph, inputs, [cuts.audio])
    add_pre_process_metadata(part)  # it has its types inferred; a warning asks for that otherwise
    with tempfile.TemporaryDirectory(prefix="kokoro-live-") as folder:
        whole, quantized = Path(folder) / "generator.onnx", Path(folder) / "quantized.onnx"
        onnx.save(part, whole)
        quantize_static(
            whole,
            quantized,
            _Reader(inputs, speech),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=["Conv"],
            nodes_to_quantize=[node.name for node in convolutions],
            per_channel=True,
            reduce_range=reduced,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )
        put_back(graph, onnx.load(quantized), inputs, [cuts.audio])


class _Reader(CalibrationDataReader):  # type: ignore[misc]  # onnxruntime has no types
    """Speech as onnxruntime's calibrator asks for it."""

    def __init__(self, names: list[str], speech: Iterator[GeneratorInputs]) -> None:
        self._names = names
        self._speech = speech

    def get_next(self) -> dict[str, NDArray[Any]] | None:
        arrays = next(self._speech, None)
        return None if arrays is None else dict(zip(self._names, arrays, strict=True))
