"""Cut points of Kokoro's graph, found by the types of its nodes and their connections, never by node names.

    tokens, style, speed -> PROSODY   -> aligned text, F0, energy (40, 80, 80 frames a second), durations
                     F0 -> SOURCE    -> harmonics (a spectrum of 22 values, 4,800 a second; its phase adds up)
  text, F0, energy, style -> DECODER -> features (80 frames a second)
  features, harmonics, style -> GENERATOR -> audio (24,000 samples a second)

The landmarks are the rates and kernels of Kokoro's iSTFTNet (`config.json`: upsample_rates 10 and 6, kernels 20 and
12, hop 5), which every export has and which the numbers of channels don't touch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from worker.graph.graph import CannotSplit, Graph, attribute

_CONVOLUTIONS = ("Conv", "ConvInteger", "QLinearConv")
_THROUGH = ("Cast", "Identity", "DequantizeLinear", "QuantizeLinear", "DynamicQuantizeLinear")
"""Operators that exporters put between an operation and the tensor that is its actual input."""
_RANDOM = ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial")


@dataclass(frozen=True, slots=True)
class Cuts:
    """Names of the tensors at which the graph is cut, and the two nodes at which the generator's second stage
    begins."""

    tokens: str
    style: str
    speed: str
    durations: str
    """Frames of 600 samples per token."""
    text: str
    """[1, channels, frames at 40 Hz]"""
    f0: str
    """[1, frames at 80 Hz], like `energy`"""
    energy: str
    features: str
    """[1, channels, frames at 80 Hz]"""
    harmonics: str
    """[1, 22, 60 per frame at 80 Hz, and one]"""
    audio: str
    second_stage: tuple[Any, Any]
    """The nodes whose first inputs are the first stage's result (10 per frame at 80 Hz) and the harmonics."""

    @property
    def moving(self) -> list[str]:
        """The generator's inputs that change along the segment."""
        return [self.features, self.harmonics]


def find_cuts(graph: Graph) -> Cuts:
    """
    Raises:
        CannotSplit: a landmark is missing, exists twice, or isn't connected as in Kokoro.
    """
    if graph.opset < 13:
        raise CannotSplit(f"opset {graph.opset} is older than 13")
    tokens = next((name for name in graph.inputs if name in ("tokens", "input_ids")), None)
    if tokens is None or set(graph.inputs) != {tokens, "style", "speed"}:
        raise CannotSplit(f"its inputs are {', '.join(graph.inputs)}")
    first_up = first_upsampling(graph)
    second_up = _only(graph, "second upsampling", ("ConvTranspose",), kernel=12, stride=6)
    first_noise = _only(graph, "first noise convolution", _CONVOLUTIONS, kernel=12, stride=6)
    harmonics = _source(graph, first_noise.input[0])
    second_noise = [
        node
        for node in graph.of_type(*_CONVOLUTIONS)
        if attribute(node, "kernel_shape") == [1] and _source(graph, node.input[0]) == harmonics
    ]
    if len(second_noise) != 1:
        raise CannotSplit(f"it has {len(second_noise)} second noise convolutions")
    curves = [
        node
        for node in graph.of_type(*_CONVOLUTIONS)
        if attribute(node, "kernel_shape") == [3] and attribute(node, "strides") == [2]
    ]
    if len(curves) != 2:
        raise CannotSplit(f"it has {len(curves)} convolutions of F0 and energy, not 2")
    f0, energy = (_curve(graph, node) for node in curves)
    if graph.depends(harmonics, [energy]):
        f0, energy = energy, f0
    cuts = Cuts(
        tokens=tokens,
        style="style",
        speed="speed",
        durations=_durations(graph),
        text=_aligned_text(graph, curves),
        f0=f0,
        energy=energy,
        features=_before_activation(graph, first_up.input[0]).input[0],
        harmonics=harmonics,
        audio=graph.model.graph.output[0].name,
        second_stage=(_before_activation(graph, second_up.input[0]), second_noise[0]),
    )
    _check(graph, cuts)
    return cuts


def _check(graph: Graph, cuts: Cuts) -> None:
    """Check that no stage needs a tensor that it isn't given, and that only the source draws random numbers."""
    prosody = [cuts.text, cuts.f0, cuts.energy]
    stages = {
        "prosody": ([*prosody, cuts.durations], [cuts.tokens, cuts.style, cuts.speed]),
        "source": ([cuts.harmonics], [cuts.f0]),
        "decoder": ([cuts.features], [*prosody, cuts.style]),
        "generator": ([cuts.audio], [cuts.features, cuts.harmonics, cuts.style]),
    }
    for stage, (outputs, given) in stages.items():
        nodes, names = graph.needed(outputs, given)
        if missing := names & set(graph.inputs):
            raise CannotSplit(f"its {stage} also needs {', '.join(sorted(missing))}")
        random = {node.op_type for node in nodes} & set(_RANDOM)
        if stage != "source" and random:
            raise CannotSplit(f"its {stage} draws random numbers ({', '.join(sorted(random))})")


def first_upsampling(graph: Graph) -> Any:
    """The upsampling node that makes 10 output frames of each input frame."""
    return _only(graph, "first upsampling", ("ConvTranspose",), kernel=20, stride=10)


def _only(graph: Graph, what: str, operators: tuple[str, ...], kernel: int, stride: int) -> Any:
    found = [
        node
        for node in graph.of_type(*operators)
        if attribute(node, "kernel_shape") == [kernel]
        and attribute(node, "strides") == [stride]
        and attribute(node, "group", 1) == 1
    ]
    if len(found) != 1:
        raise CannotSplit(f"it has {len(found)} convolutions that could be the {what}, not 1")
    return found[0]


def _source(graph: Graph, tensor: str) -> str:
    """The tensor from which casts and quantisation make this one."""
    while (node := graph.maker(tensor)) is not None and node.op_type in _THROUGH:
        tensor = node.input[0]
    return tensor


def _before_activation(graph: Graph, tensor: str) -> Any:
    node = graph.maker(_source(graph, tensor))
    if node is None or node.op_type != "LeakyRelu":
        raise CannotSplit("no LeakyRelu comes before an upsampling")
    return node


def _curve(graph: Graph, convolution: Any) -> str:
    """F0 or energy as it comes out of the predictor, [1, frames], before it is given a channel."""
    tensor = _source(graph, convolution.input[0])
    node = graph.maker(tensor)
    if node is None or node.op_type != "Unsqueeze":
        raise CannotSplit("no Unsqueeze comes before the convolution of F0 or energy")
    return _source(graph, node.input[0])


def _aligned_text(graph: Graph, curves: list[Any]) -> str:
    """The first part of the first concatenation of text, F0 and energy."""
    for node in graph.of_type("Concat"):
        if len(node.input) == 3 and all(
            any(graph.depends(part, curve.output) for part in node.input[1:]) for curve in curves
        ):
            return _source(graph, node.input[0])
    raise CannotSplit("text, F0 and energy are nowhere joined")


def _durations(graph: Graph) -> str:
    rounds = [node for node in graph.of_type("Round") if graph.depends(node.output[0], ["speed"])]
    if not rounds:
        raise CannotSplit("no durations are rounded")
    return str(list(_onward(graph, rounds[0].output[0]))[-1])


def _onward(graph: Graph, tensor: str) -> Iterator[str]:
    """All tensors that clipping, casting and squeezing make of this tensor, and the tensor itself."""
    yield tensor
    for node in graph.takers(tensor):
        if node.op_type in ("Clip", "Max", "Cast", "Squeeze") and node.input[0] == tensor:
            yield from _onward(graph, node.output[0])
            return
