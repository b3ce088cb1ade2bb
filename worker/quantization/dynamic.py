"""Dynamic int8: activations U8 in ranges that are measured anew in each run.

Matrix products take S8 weights. Convolutions take U8, as in the published models: onnxruntime's ConvInteger with S8
weights takes several times as long (`python -m benchmarks.convolutions`). LSTMs always get S8 from onnxruntime's tools.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.quant_utils import add_pre_process_metadata

from worker.quantization.surgery import put_in_order


def quantized_dynamically(
    model: Any,
    *,
    per_channel: bool,
    reduced: bool,
    operators: Sequence[str] = (),
    nodes: Sequence[str] = (),
) -> Any:
    """Another model.

    Args:
        model: its nodes must have names.
        per_channel: a scale for each output channel of a weight.
        reduced: use 7 bits of S8 weights (`worker.signed_products`); U8 by U8 doesn't saturate.
        operators: types of operators to quantise; all that onnxruntime can, if empty: then all weights are U8, but for
            those of LSTMs.
        nodes: names of nodes to quantise; all, if empty.
    """
    with tempfile.TemporaryDirectory(prefix="kokoro-live-") as folder:
        whole, quantized = Path(folder) / "whole.onnx", Path(folder) / "quantized.onnx"
        prepared = type(model)()
        prepared.CopyFrom(model)
        add_pre_process_metadata(prepared)  # a warning asks for that otherwise
        onnx.save(prepared, whole)
        del prepared
        if reduced and not operators:
            # In one go the U8 weights would lose a bit with them.
            recurrent = Path(folder) / "recurrent.onnx"
            quantize_dynamic(
                whole,
                recurrent,
                op_types_to_quantize=["LSTM"],
                per_channel=per_channel,
                reduce_range=True,
                weight_type=QuantType.QInt8,
            )
            whole = recurrent
        quantize_dynamic(
            whole,
            quantized,
            op_types_to_quantize=list(operators),
            nodes_to_quantize=list(nodes),
            per_channel=per_channel,
            reduce_range=reduced and bool(operators),
            weight_type=QuantType.QInt8 if operators else QuantType.QUInt8,
        )
        made = onnx.load(quantized)
    del made.metadata_props[:]
    made.metadata_props.extend(model.metadata_props)
    put_in_order(made)
    return made
