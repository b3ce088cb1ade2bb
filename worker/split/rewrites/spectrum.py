"""The source's short-time Fourier transform as one convolution.

onnxruntime's STFT transforms 20 samples at a time, one frame after another, in one thread; there are 4,800 frames to a
second of sound. A convolution with the windowed cosines and sines makes all at once, which is faster.

    x [1, N, 1] -> Reshape [1, 1, N] -> Conv, kernel L, stride H [1, 2 B, T] -> Transpose -> Reshape [1, T, B, 2]

Bins in which a sum is 0 in exact arithmetic, as nearly all are while the voice is silent, hold rounding errors, and the
model takes the phase of those too. The source's signal is constant then, and so are onnxruntime's errors: they are
measured once, while the model is split, and added here, so that the phases of silence stay the model's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import TensorProto, helper

from worker.graph.graph import Chain, Nodes, attribute

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
