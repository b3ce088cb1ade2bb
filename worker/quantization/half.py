"""Half precision, of the whole model or of what bears it."""

from __future__ import annotations

from typing import Any

from onnxruntime.transformers.float16 import DEFAULT_OP_BLOCK_LIST, convert_float_to_float16

from worker.quantization.regions import spectrum_convolution
from worker.quantization.surgery import part_of, put_back, put_in_order
from worker.split.cuts import Cuts
from worker.split.graph import Graph

_FULL = [*DEFAULT_OP_BLOCK_LIST, "RandomNormalLike", "RandomUniformLike", "RandomNormal", "RandomUniform"]
"""Operators that keep 32 bits: those of onnxruntime's list, and random ones, which become inputs of the split model."""


def halved(model: Any) -> Any:
    """Another model, all of whose arithmetic is in 16 bits; its inputs and outputs stay as they are."""
    made = convert_float_to_float16(model, keep_io_types=True, op_block_list=_FULL)
    put_in_order(made)
    return made


def halve_vocoder(graph: Graph, cuts: Cuts) -> None:
    """Halve what lies between prosody and the spectrum that the iSTFT inverts, in place.

    Prosody, the sine source, whose phase adds up, and what makes a wave of a spectrum keep 32 bits.
    """
    inputs = [cuts.text, cuts.f0, cuts.energy, cuts.harmonics, cuts.style]
    outputs = [spectrum_convolution(graph, cuts).input[0]]
    part = convert_float_to_float16(part_of(graph, inputs, outputs), keep_io_types=True, op_block_list=_FULL)
    put_back(graph, part, inputs, outputs)
