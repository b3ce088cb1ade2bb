"""Weights of matrix products in 8 bits, in blocks with a scale each; they are widened as they are used."""

from __future__ import annotations

import logging
from typing import Any

from worker.quantization.error import QuantizationError
from worker.quantization.surgery import own_weights, put_in_order
from worker.split.graph import Graph

_BLOCK = 32
"""Weights that have a scale together."""


def with_small_weights(graph: Graph) -> Any:
    """Another model.

    Raises:
        QuantizationError: a library is missing.
    """
    # Its module takes over the root logger when it is imported.
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
    except ImportError as error:
        raise QuantizationError(
            f"weight-only needs a library that isn't there ({error.name}); in kokoro-live's folder: "
            ".venv/bin/python -m pip install -c constraints.txt -e '.[quantize]'"
        ) from error
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
    own_weights(graph, list(graph.of_type("MatMul")))
    quantizer = MatMulNBitsQuantizer(graph.model, bits=8, block_size=_BLOCK, is_symmetric=True)
    quantizer.process()
    made = quantizer.model.model
    put_in_order(made)
    return made
