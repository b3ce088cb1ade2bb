"""The graph of a small Kokoro: its real architecture, with few channels and random weights, without torch.

The operations and their order are those that torch's exporter makes of Kokoro's modules; the prosody part, which is
never cut, is shorter. It sounds like nothing, but loud enough that one wrong sample shows.
"""

import functools
import json
from typing import Any, Literal, TypeAlias

import numpy as np
import onnx
from kokoro_onnx.config import DEFAULT_VOCAB
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Norms: TypeAlias = Literal["node", "written", "merged", "axes", "none"]

STYLE = 128
TEXT = 16
WIDE = 24
CHANNELS = (16, 8, 6)
"""The generator's inputs, and the outputs of its two stages."""
HARMONICS = 3
FFT, HOP = 20, 5
BINS = FFT // 2 + 1


@functools.cache
def small_kokoro(
    noise_inputs: bool, durations_output: bool, tokens_name: str, folded: bool, random: bool, norms: Norms
) -> bytes:
    """The serialised model; the arguments are those of `tests.split_model.make_split_model`."""
    g = _Builder(folded, norms)
    style = g.node("Slice", ["style", g.ints(0), g.ints(STYLE), g.ints(1)])
    text, f0, energy, durations = _prosody(g, tokens_name)
    features = _front(g, text, f0, energy, style)
    harmonics = _source(g, f0, noise_inputs)
    if random:
        features = g.node("Add", [features, g.node("RandomNormalLike", [features])])
    audio = _generator(g, features, harmonics, style)
    g.nodes.append(helper.make_node("Reshape", [audio, g.ints(-1)], ["audio"]))
    inputs = [
        helper.make_tensor_value_info(tokens_name, TensorProto.INT64, [1, "tokens"]),
        helper.make_tensor_value_info("style", TensorProto.FLOAT, [1, 256]),
        helper.make_tensor_value_info("speed", TensorProto.FLOAT, [1]),
    ]
    if noise_inputs:
        inputs.append(helper.make_tensor_value_info("uniform", TensorProto.FLOAT, [1, HARMONICS]))
        inputs.append(helper.make_tensor_value_info("normal", TensorProto.FLOAT, [1, "samples", HARMONICS]))
    outputs = [helper.make_tensor_value_info("audio", TensorProto.FLOAT, ["samples"])]
    if durations_output:
        g.nodes.append(helper.make_node("Identity", [durations], ["duration"]))
        outputs.append(helper.make_tensor_value_info("duration", TensorProto.INT64, ["tokens"]))
    graph = helper.make_graph(g.nodes, "small", inputs, outputs, g.constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", g.opset)], ir_version=8)
    helper.set_model_props(made, {"kokoro_config": json.dumps({"vocab": DEFAULT_VOCAB})})
    onnx.checker.check_model(made)
    return bytes(made.SerializeToString())


class _Builder:
    def __init__(self, folded: bool, norms: Norms) -> None:
        self.opset = 18 if norms == "axes" else 17
        self._norms = norms
        self._merged: dict[str, str] = {}
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._folded = folded
        self._written: dict[tuple[float, int], str] = {}
        self._random = np.random.default_rng(1)

    def node(self, operator: str, inputs: list[str], outputs: int = 0, **attributes: Any) -> Any:
        names = [f"{operator}_{len(self.nodes)}_{i}" for i in range(outputs or 1)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names if outputs else names[0]

    def constant(self, value: NDArray[Any]) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def floats(self, *values: float) -> str:
        return self.constant(np.array(values, np.float32))

    def weights(self, *shape: int, fan_in: int, gain: float = 1.0) -> str:
        return self.constant((self._random.standard_normal(shape) * gain / fan_in**0.5).astype(np.float32))

    def conv(self, x: str, size: tuple[int, int, int], stride: int = 1, dilation: int = 1, **more: Any) -> str:
        out, into, kernel = size
        padding = more.pop("padding", (kernel - 1) * dilation // 2)
        weights = self.weights(out, into, kernel, fan_in=into * kernel, gain=more.pop("gain", 1.0))
        bias = self.constant(np.full(out, more.pop("bias", 0.0), np.float32))
        return str(
            self.node(
                "Conv",
                [x, weights, bias],
                kernel_shape=[kernel],
                strides=[stride],
                dilations=[dilation],
                pads=[padding, padding],
                group=1,
            )
        )

    def up(self, x: str, into: int, out: int, kernel: int, stride: int, **more: Any) -> str:
        weights = self.weights(into, out, kernel, fan_in=max(1, into * out * kernel // stride // max(out, 1)))
        padding = (kernel - stride) // 2
        more = {"pads": [padding, padding], "group": 1} | more
        return str(self.node("ConvTranspose", [x, weights], kernel_shape=[kernel], strides=[stride], **more))

    def adain(self, x: str, style: str, channels: int) -> str:
        """(1 + gamma) * norm(x) + beta"""
        weights = self.weights(2 * channels, STYLE, fan_in=STYLE, gain=0.2)
        h = self.node("Gemm", [style, weights, self.weights(2 * channels, fan_in=100)], transB=1)
        h = self.node("Reshape", [h, self.ints(1, 2 * channels, 1)])
        gamma, beta = self.node("Split", [h, self.ints(channels, channels)], 2, axis=1)
        if self._norms == "node":
            scale, shift = self._shared(1.1, channels), self._shared(0.1, channels)
            norm = self.node("InstanceNormalization", [x, scale, shift], epsilon=1e-5)
        else:
            norm = self._written_out(x)
        if not self._folded:
            norm = self.node("Identity", [norm])
        return str(self.node("Add", [self.node("Mul", [self.node("Add", [gamma, self.floats(1.0)]), norm]), beta]))

    def _written_out(self, x: str) -> str:
        """A norm in elementary operations, without a weight or bias of its own."""
        if self._norms == "none":
            return x
        if self._norms == "written":
            norm = self._division(self._deviation(x), self._deviation(x))
        else:
            if x not in self._merged:
                deviation = self._deviation(x)
                self._merged[x] = self._division(deviation, deviation)
            norm = self._merged[x]
        return norm

    def _division(self, deviation: str, again: str) -> str:
        square = self.node("Mul", [again, again])
        variance = self.node("Add", [self.constant(np.array(1e-5, np.float32)), self._mean(square)])
        return str(self.node("Div", [deviation, self.node("Sqrt", [variance])]))

    def _deviation(self, x: str) -> str:
        return str(self.node("Sub", [x, self._mean(x)]))

    def _mean(self, x: str) -> str:
        if self.opset >= 18:
            return str(self.node("ReduceMean", [x, self.ints(2)], keepdims=1))
        return str(self.node("ReduceMean", [x], axes=[-1], keepdims=1))

    def _shared(self, value: float, channels: int) -> str:
        """Written once, as exporters do, and named by Identity where it is used again."""
        if (value, channels) not in self._written:
            self._written[value, channels] = self.floats(*[value] * channels)
            return self._written[value, channels]
        return str(self.node("Identity", [self._written[value, channels]]))

    def snake(self, x: str, channels: int) -> str:
        alpha = self.constant(self._random.uniform(0.5, 1.5, (1, channels, 1)).astype(np.float32))
        sine = self.node("Pow", [self.node("Sin", [self.node("Mul", [alpha, x])]), self.floats(2.0)])
        return str(self.node("Add", [x, self.node("Mul", [self.node("Div", [self.floats(1.0), alpha]), sine])]))


def _prosody(g: _Builder, tokens: str) -> tuple[str, str, str, str]:
    """Aligned text, F0, energy and durations, from an embedding, an LSTM and few convolutions."""
    style = g.node("Slice", ["style", g.ints(STYLE), g.ints(2 * STYLE), g.ints(1)])
    embedded = g.node("Gather", [g.weights(178, TEXT, fan_in=1), g.node("Squeeze", [tokens, g.ints(0)])])
    steps = g.node("Unsqueeze", [embedded, g.ints(1)])
    half = TEXT // 2
    weights = [g.weights(2, 4 * half, width, fan_in=width) for width in (TEXT, half)]
    read = g.node("LSTM", [steps, *weights], 1, hidden_size=half, direction="bidirectional")[0]
    read = g.node("Transpose", [g.node("Squeeze", [read, g.ints(2)])], perm=[0, 2, 1])
    encoded = g.node("Reshape", [g.node("Transpose", [read], perm=[0, 2, 1]), g.ints(-1, TEXT)])
    styled = g.node("Add", [encoded, g.node("MatMul", [style, g.weights(STYLE, TEXT, fan_in=STYLE)])])
    logits = g.node("MatMul", [styled, g.weights(TEXT, 10, fan_in=TEXT, gain=2)])
    duration = g.node("ReduceSum", [g.node("Sigmoid", [logits]), g.ints(-1)], keepdims=0)
    duration = g.node("Round", [g.node("Div", [duration, "speed"])])
    clipped = g.node("Clip", [duration, g.constant(np.array(1, np.float32))])
    durations = g.node("Cast", [clipped], to=TensorProto.INT64)
    ends = g.node("CumSum", [durations, g.constant(np.array(0, np.int64))])
    total = g.node("ReduceSum", [durations], keepdims=0)
    zero, one = (g.constant(np.array(value, np.int64)) for value in (0, 1))
    frames = g.node("Range", [zero, total, one])
    column = g.node("Unsqueeze", [ends, g.ints(1)])
    begun = g.node("GreaterOrEqual", [frames, g.node("Sub", [column, g.node("Unsqueeze", [durations, g.ints(1)])])])
    aligned = g.node("Cast", [g.node("And", [begun, g.node("Less", [frames, column])])], to=TensorProto.FLOAT)
    text = g.node("MatMul", [g.node("Transpose", [styled], perm=[1, 0]), aligned])
    text = g.node("Unsqueeze", [text, g.ints(0)])
    curves = []
    for level, spread in ((150.0, 100.0), (0.0, 1.0)):
        x = g.node("LeakyRelu", [g.adain(g.conv(text, (TEXT, TEXT, 3)), style, TEXT)], alpha=0.2)
        x = g.node("Resize", [x, "", g.floats(1, 1, 2)], mode="nearest", coordinate_transformation_mode="asymmetric")
        x = g.conv(x, (1, TEXT, 1), gain=spread, bias=level)
        curves.append(g.node("Squeeze", [x, g.ints(1)]))
    return text, curves[0], curves[1], durations


def _front(g: _Builder, text: str, f0: str, energy: str, style: str) -> str:
    curves = [g.conv(g.node("Unsqueeze", [curve, g.ints(1)]), (1, 1, 3), stride=2) for curve in (f0, energy)]
    x = _block(g, g.node("Concat", [text, *curves], axis=1), style, TEXT + 2, WIDE)
    residue = g.conv(text, (4, TEXT, 1))
    for out in (WIDE, WIDE, WIDE, CHANNELS[0]):
        x = g.node("Concat", [x, residue, *curves], axis=1)
        x = _block(g, x, style, WIDE + 6, out, doubled=out != WIDE)
    return x


def _block(g: _Builder, x: str, style: str, into: int, out: int, doubled: bool = False) -> str:
    """AdainResBlk1d."""
    y = g.node("LeakyRelu", [g.adain(x, style, into)], alpha=0.2)
    if doubled:
        weights = g.weights(into, 1, 3, fan_in=2)
        pool = {"kernel_shape": [3], "strides": [2], "pads": [1, 1], "output_padding": [1], "group": into}
        y = g.node("ConvTranspose", [y, weights], **pool)
        x = g.node("Resize", [x, "", g.floats(1, 1, 2)], mode="nearest", coordinate_transformation_mode="asymmetric")
    y = g.conv(y, (out, into, 3))
    y = g.node("LeakyRelu", [g.adain(y, style, out)], alpha=0.2)
    y = g.conv(y, (out, out, 3))
    return str(g.node("Mul", [g.node("Add", [y, g.conv(x, (out, into, 1))]), g.floats(0.5**0.5)]))


def _source(g: _Builder, f0: str, noise_inputs: bool) -> str:
    """Sines whose phase adds up, noise, and the spectrum of both."""
    f0 = g.node("Unsqueeze", [f0, g.ints(1)])
    f0 = g.node("Resize", [f0, "", g.floats(1, 1, 300)], mode="nearest", coordinate_transformation_mode="asymmetric")
    f0 = g.node("Transpose", [f0], perm=[0, 2, 1])
    tones = g.node("Mul", [f0, g.constant(np.arange(1, HARMONICS + 1, dtype=np.float32).reshape(1, 1, -1))])
    turns = g.node("Mod", [g.node("Div", [tones, g.floats(24_000)]), g.floats(1)], fmod=1)
    first = g.node("Slice", [turns, g.ints(0), g.ints(1), g.ints(1)])
    like = g.node("Squeeze", [first, g.ints(1)])
    phases = "uniform" if noise_inputs else g.node("RandomUniformLike", [like])
    phases = g.node("Mul", [phases, g.floats(0, *[1] * (HARMONICS - 1))])
    begin = g.node("Add", [first, g.node("Unsqueeze", [phases, g.ints(1)])])
    rest = g.node("Slice", [turns, g.ints(1), g.ints(2**60), g.ints(1)])
    turns = g.node("Transpose", [g.node("Concat", [begin, rest], axis=1)], perm=[0, 2, 1])
    slow = g.node("Resize", [turns, "", g.floats(1, 1, 1 / 300)], mode="linear")
    phase = g.node("CumSum", [slow, g.constant(np.array(2, np.int64))])
    phase = g.node("Mul", [phase, g.floats(2 * np.pi * 300)])
    phase = g.node("Resize", [phase, "", g.floats(1, 1, 300)], mode="linear")
    sines = g.node("Mul", [g.node("Transpose", [g.node("Sin", [phase])], perm=[0, 2, 1]), g.floats(0.1)])
    voiced = g.node("Cast", [g.node("Greater", [f0, g.floats(10)])], to=TensorProto.FLOAT)
    unvoiced = g.node("Mul", [g.node("Sub", [g.floats(1), voiced]), g.floats(0.1 / 3)])
    level = g.node("Add", [g.node("Mul", [voiced, g.floats(0.003)]), unvoiced])
    noise = g.node("Mul", [level, "normal" if noise_inputs else g.node("RandomNormalLike", [sines])])
    sines = g.node("Add", [g.node("Mul", [sines, voiced]), noise])
    merged = g.node("Tanh", [g.node("MatMul", [sines, g.weights(HARMONICS, 1, fan_in=1)])])
    return _spectrum(g, g.node("Transpose", [merged], perm=[0, 2, 1]))


def _spectrum(g: _Builder, wave: str) -> str:
    padded = g.node("Pad", [wave, g.ints(0, 0, FFT // 2, 0, 0, FFT // 2)], mode="edge")
    angles = 2 * np.pi * np.outer(np.arange(BINS), np.arange(FFT)) / FFT
    window = np.hanning(FFT + 1)[:-1]
    real, imaginary = (
        g.node("Conv", [padded, g.constant((f(angles) * window).astype(np.float32)[:, None])], strides=[HOP])
        for f in (np.cos, lambda a: -np.sin(a))
    )
    power = g.node("Add", [g.node("Mul", [real, real]), g.node("Mul", [imaginary, imaginary])])
    magnitude = g.node("Sqrt", [g.node("Add", [power, g.floats(1e-14)])])
    angle = g.node("Atan", [g.node("Div", [imaginary, g.node("Add", [g.node("Abs", [real]), g.floats(1e-4)])])])
    return str(g.node("Concat", [magnitude, angle], axis=1))


def _generator(g: _Builder, x: str, harmonics: str, style: str) -> str:
    first = {"size": (CHANNELS[1], FFT + 2, 12), "stride": 6, "padding": 3, "kernel": 7}
    second = {"size": (CHANNELS[2], FFT + 2, 1), "stride": 1, "padding": 0, "kernel": 11}
    ups = ((20, 10), (12, 6))
    for stage, (noise, (kernel, stride)) in enumerate(zip((first, second), ups, strict=True)):
        into, out = CHANNELS[stage : stage + 2]
        x = g.node("LeakyRelu", [x], alpha=0.1)
        source = g.conv(harmonics, noise["size"], stride=noise["stride"], padding=noise["padding"])
        source = _residual(g, source, style, out, noise["kernel"])
        x = g.up(x, into, out, kernel, stride)
        if stage == 1:
            x = g.node("Pad", [x, g.ints(0, 0, 1, 0, 0, 0)], mode="reflect")
        x = g.node("Add", [x, source])
        parts = [_residual(g, x, style, out, size) for size in (3, 7, 11)]
        x = g.node("Div", [g.node("Add", [g.node("Add", parts[:2]), parts[2]]), g.floats(3)])
    x = g.conv(g.node("LeakyRelu", [x], alpha=0.01), (FFT + 2, CHANNELS[2], 7), gain=0.01, bias=-0.5)
    loud = g.node("Exp", [g.node("Slice", [x, g.ints(0), g.ints(BINS), g.ints(1)])])
    phase = g.node("Sin", [g.node("Slice", [x, g.ints(BINS), g.ints(FFT + 2), g.ints(1)])])
    angles = 2 * np.pi * np.outer(np.arange(BINS), np.arange(FFT)) / FFT
    window = np.hanning(FFT + 1)[:-1] / FFT
    waves = [
        g.node(
            "ConvTranspose",
            [
                g.node("Mul", [loud, g.node(name, [phase])]),
                g.constant((f(angles) * window).astype(np.float32)[:, None]),
            ],
            kernel_shape=[FFT],
            strides=[HOP],
        )
        for name, f in (("Cos", np.cos), ("Sin", np.sin))
    ]
    whole = g.node("Sub", waves)
    return str(g.node("Slice", [whole, g.ints(FFT // 2), g.ints(-FFT // 2), g.ints(2)]))


def _residual(g: _Builder, x: str, style: str, channels: int, kernel: int) -> str:
    """AdaINResBlock1."""
    for dilation in (1, 3, 5):
        y = x
        for step in (dilation, 1):
            y = g.snake(g.adain(y, style, channels), channels)
            y = g.conv(y, (channels, channels, kernel), dilation=step, gain=0.5)
        x = g.node("Add", [y, x])
    return x
