"""Convolutions along time: integer ones as matrix products, float ones over a plane one sample high, and the source's
short-time Fourier transform as one convolution.

onnxruntime's ConvInteger multiplies U8 by U8 and reads its weights in the order of the file in every run: 80 to 125
GFLOP/s on a core with VNNI, less than its float convolution. Its product of U8 activations with S8 weights, which are
packed once at load, reaches 230 to 400 with everything below counted (`python -m benchmarks.convolutions`). A weight q
with zero point z is the same weight as q - 128 with zero point z - 128, so nothing is rounded again: what changes are
the 32-bit sums' order, which integers don't show, and the bias, which is added as a float rather than rounded down to
integers first.

    x [1, I, T] -> DynamicQuantizeLinear -> Transpose, Squeeze [T, I] -> Pad -> Gather: each row with the neighbours
    that the kernel takes [T, K, I] -> Reshape [T, K I] -> MatMulIntegerToFloat [T, O] -> Unsqueeze, Transpose [1, O, T]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import TensorProto, helper

from worker.graph.dynamic_int8 import DynamicProduct, UnknownPattern, product_of
from worker.graph.graph import Chain, Nodes, attribute

_SIGN = 128
"""Offset from U8 to S8 values."""

DOMAIN = "com.microsoft"
"""The operator domain of MatMulIntegerToFloat."""


def pack_convolutions(nodes: Nodes) -> int:
    """Rewrite all convolutions along time in dynamic int8 with U8 weights; return their number."""
    replaced: dict[int, list[Any]] = {}
    for node in nodes:
        if node.op_type != "ConvInteger" or not _has_u8_weights(nodes, node):
            continue
        try:
            found = product_of(nodes, node)
        except UnknownPattern:
            continue
        scaled = nodes.maker(found.output)
        if (weights := _weights(nodes, node, found)) is not None:
            # The preceding nodes lose their taker here, and are removed.
            replaced[id(scaled)] = _product(nodes, node, found, weights)
    nodes.replace(replaced)
    return len(replaced)


def _has_u8_weights(nodes: Nodes, node: Any) -> bool:
    weights = nodes.constant(node.input[1])
    return (
        weights is not None
        and weights.dtype == np.uint8
        and weights.ndim == 3
        and attribute(node, "group", 1) == 1
        and attribute(node, "auto_pad", b"NOTSET") == b"NOTSET"
    )


def _weights(nodes: Nodes, node: Any, found: DynamicProduct) -> list[str] | None:
    """Names of the S8 weights [K I, O], their scales and zero points; None unless all are constants of the right
    size."""
    weights, scale = nodes.constant(found.right), nodes.constant(found.right_scale)
    zero_point = nodes.constant(found.right_zero_point) if found.right_zero_point else np.zeros((), np.uint8)
    if weights is None or scale is None or zero_point is None:
        return None
    channels = weights.shape[0]
    if not {scale.size, zero_point.size} <= {1, channels}:
        return None
    rows = weights.transpose(2, 1, 0).reshape(-1, channels)
    return [
        nodes.derive(f"{node.input[1]}_packed", _signed(rows)),
        nodes.add(scale.ravel().astype(np.float32)),
        nodes.add(_signed(zero_point).ravel()),
    ]


def _signed(values: Any) -> Any:
    return (values.astype(np.int16) - _SIGN).astype(np.int8)


def _product(nodes: Nodes, node: Any, found: DynamicProduct, weights: list[str]) -> list[Any]:
    chain = Chain(nodes)
    kernel = nodes.constant(found.right).shape[2]  # type: ignore[union-attr]  # `_weights` has seen it
    before, after = attribute(node, "pads", [0, 0])
    [stride] = attribute(node, "strides", [1])
    [dilation] = attribute(node, "dilations", [1])
    integers, scale, zero_point = found.quantization.output
    rows = chain.node("Squeeze", [chain.node("Transpose", [integers], perm=[0, 2, 1]), chain.ints(0)])
    if before or after:
        rows = chain.node("Pad", [rows, chain.ints(before, 0, after, 0), zero_point])
    if kernel > 1 or stride > 1:
        rows = chain.node("Gather", [rows, _neighbours(chain, rows, kernel, stride, dilation)], axis=0)
        # Both sizes are known but for time, which follows the flattened kernel window.
        into = nodes.constant(found.right).shape[1]  # type: ignore[union-attr]
        rows = chain.node("Reshape", [rows, chain.ints(-1, kernel * into)])
    inputs = [rows, weights[0], scale, weights[1], zero_point, weights[2]]
    if found.bias:
        inputs.append(found.bias)
    product = chain.node("MatMulIntegerToFloat", inputs, domain=DOMAIN)
    chain.node("Transpose", [chain.node("Unsqueeze", [product, chain.ints(0)])], found.output, perm=[0, 2, 1])
    return chain.nodes


def _neighbours(chain: Chain, rows: str, kernel: int, stride: int, dilation: int) -> str:
    """Row numbers that each output takes: int32 [T, K]."""
    span = dilation * (kernel - 1)
    length = chain.node("Gather", [chain.node("Shape", [rows]), chain.floats(0, np.int64)])
    end = chain.node("Sub", [chain.node("Cast", [length], to=TensorProto.INT32), chain.floats(span, np.int32)])
    first = chain.node("Range", [chain.floats(0, np.int32), end, chain.floats(stride, np.int32)])
    column = chain.node("Unsqueeze", [first, chain.ints(1)])
    return chain.node("Add", [column, chain.floats(dilation * np.arange(kernel), np.int32)])


# onnxruntime's CPU provider has a blocked layout (NCHWc) and direct convolutions for planes only. Each convolution's
# input gains the height dimension and its output loses it again, which costs nothing: both are only reshapes.

_ALONG_TIME = ("strides", "dilations")


def make_planar(nodes: Nodes) -> int:
    """Rewrite all convolutions along time whose weights are constants in 32-bit floats; return their number.

    Quantised convolutions stay as they are: their weights are computed by other nodes, and onnxruntime runs lines and
    planes with the same code.
    """
    found = [node for node in nodes if node.op_type == "Conv" and _has_float_weights(nodes, node)]
    axis = nodes.add(np.array([2], np.int64)) if found else ""
    replaced: dict[int, list[Any]] = {}
    for node in found:
        weights = node.input[1]
        channels, into, kernel = nodes.graph.initializers[weights].dims
        nodes.reshaped[weights] = (channels, into, 1, kernel)
        chain = Chain(nodes)
        inputs = [chain.node("Unsqueeze", [node.input[0], axis]), *node.input[1:]]
        plane: dict[str, Any] = {name: [1, *values] for name in _ALONG_TIME if (values := attribute(node, name))}
        before, after = attribute(node, "pads", [0, 0])
        made = chain.node(
            "Conv",
            inputs,
            kernel_shape=[1, kernel],
            pads=[0, before, 0, after],
            group=attribute(node, "group", 1),
            **plane,
        )
        chain.node("Squeeze", [made, axis], node.output[0])
        replaced[id(node)] = chain.nodes
    nodes.replace(replaced)
    return len(found)


def _has_float_weights(nodes: Nodes, node: Any) -> bool:
    weights = nodes.graph.initializers.get(node.input[1])
    # Other takers of the weights would get them in another shape.
    return (
        weights is not None
        and weights.data_type == TensorProto.FLOAT
        and len(weights.dims) == 3
        and all(_takes_as_weights(taker, weights.name) for taker in nodes.takers(weights.name))
    )


def _takes_as_weights(node: Any, weights: str) -> bool:
    padded = attribute(node, "auto_pad", b"NOTSET") != b"NOTSET"
    return node.op_type == "Conv" and node.input[0] != weights == node.input[1] and not padded


_ROUNDING = 1e-7
"""Weights below this value are set to 0."""
_TINY = 1e-5
"""Parts of a silent spectrum below this share of its largest part are rounding errors."""
_FACTOR = 10
"""Factor by which the rounding errors are added, so that the convolution's own errors, a tenth of theirs, don't turn
the phase."""
_NOWHERE = 1e-20
"""Value added to all parts, so that no phase is undefined."""
_SILENT_FRAMES = 16
"""Frames at 80 Hz of silence in which the rounding errors are measured."""


def rewrite_spectra(nodes: Nodes) -> int:
    """Rewrite all transforms of real signals with constant windows and hops; return their number."""
    replaced: dict[int, list[Any]] = {}
    for node in nodes:
        if node.op_type == "STFT" and (found := _window(nodes, node)) is not None:
            replaced[id(node)] = _convolution(nodes, node, *found)
    nodes.replace(replaced)
    return len(replaced)


def _window(nodes: Nodes, node: Any) -> tuple[NDArray[np.float32], int] | None:
    """The window, [frame length], and the hop in samples; None if they aren't constants, or the spectrum is
    two-sided."""
    window = nodes.constant(node.input[2]) if len(node.input) > 2 and node.input[2] else None
    hop = nodes.constant(node.input[1])
    length = nodes.constant(node.input[3]) if len(node.input) > 3 and node.input[3] else window
    if window is None or hop is None or length is None or window.dtype != np.float32:
        return None
    frame = len(window) if length is window else int(length.item())
    return (window, int(hop.item())) if frame == len(window) and attribute(node, "onesided", 1) == 1 else None


def _convolution(nodes: Nodes, node: Any, window: NDArray[np.float32], hop: int) -> list[Any]:
    length = len(window)
    bins = length // 2 + 1
    angles = 2 * np.pi * np.outer(np.arange(bins), np.arange(length)) / length
    parts = np.stack([np.cos(angles), -np.sin(angles)], axis=1) * window.astype(float)
    weights = np.where(np.abs(parts) < _ROUNDING, 0, parts).reshape(2 * bins, 1, length).astype(np.float32)
    chain = Chain(nodes)
    signal = chain.node("Reshape", [node.input[0], chain.ints(1, 1, -1)])
    inputs = [signal, chain.floats(weights), chain.floats(_errors(nodes, node, bins))]
    spectrum = chain.node("Conv", inputs, kernel_shape=[length], strides=[hop])
    frames = chain.node("Transpose", [spectrum], perm=[0, 2, 1])
    chain.node("Reshape", [frames, chain.ints(1, -1, bins, 2)], node.output[0])
    return chain.nodes


def _errors(nodes: Nodes, node: Any, bins: int) -> NDArray[np.float64]:
    """Rounding errors in the empty bins of the spectrum of silence, [2 bins]; nearly 0 if the source takes more inputs
    than F0: another export takes noise too, and then no bin is empty."""
    inside, names = nodes.needed(node.output)
    given = [name for name in names if nodes.maker(name) is None and name not in nodes.graph.initializers]
    if len(given) != 1:
        return np.full(2 * bins, _NOWHERE)
    graph = helper.make_graph(
        inside,
        "silence",
        [helper.make_tensor_value_info(given[0], TensorProto.FLOAT, [1, _SILENT_FRAMES])],
        [helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, None)],
        [tensor for name, tensor in nodes.graph.initializers.items() if name in names],
    )
    model = helper.make_model(graph, opset_imports=nodes.graph.model.opset_import)
    model.ir_version = nodes.graph.model.ir_version
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    [[spectrum]] = session.run(None, {given[0]: np.zeros((1, _SILENT_FRAMES), np.float32)})
    middle = spectrum[len(spectrum) // 2].ravel().astype(float)
    return np.where(np.abs(middle) < _TINY * np.abs(middle).max(), _FACTOR * middle, 0) + _NOWHERE
