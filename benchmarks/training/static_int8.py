"""Static int8 with outputs per channel: a model in which the generator's residual convolutions are QLinearConv.

    python -m benchmarks.training.static_int8 --model kokoro-v1.0.int8.onnx --out static.onnx [--texts 24] [--time]

A model in dynamic int8 speaks sentences of calibration whole, by several voices. The range of each such convolution's
input, and of each channel of its output, becomes a constant of the file: integers go in and come out. QLinearConv has
one scale for all outputs, so a channel's own scale is folded into the scale of that channel's weights, and its zero
point into its bias; DequantizeLinear gives both back. The weights' integers stay. `python -m benchmarks.quality
--variant FILE` judges the file. `--time`, also of a file that is there already, compares windows of the generator in
turn, with one thread: the first window's 34 frames and the longest's 58. The rewrite `sine` isn't for static integers.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from kokoro_onnx.config import DEFAULT_VOCAB
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from benchmarks.measuring.evaluation.sentences import calibration
from benchmarks.measuring.report import Cell, Table
from benchmarks.rewrites import VARIANTS, inputs, measured, ratio
from shm.messages import Voice
from worker.graph.dynamic_int8 import DynamicProduct, along, constant_of, product_of
from worker.graph.graph import Graph
from worker.graph.loading import load_graph
from worker.machine import cores
from worker.session import NUMPY_TYPES
from worker.settings import WorkerSettings
from worker.split.prepared import prepare
from worker.split.rewrites.choice import Rewrite
from worker.split.rewrites.cuts import find_cuts
from worker.split.rewrites.stage_files import GENERATOR
from worker.split.segments.stage import LoadedStage
from worker.targets import StageTarget
from worker.voices.kokoro_voices import EMBEDDED
from worker.voices.voice_bank import VoiceBank

VOICES = ("af_heart", "am_michael", "bf_emma", "bm_george", "ef_dora", "ff_siwis", "jf_alpha", "zm_yunxi")

FRAMES, TURNS = (34, 58), 9
"""Frames at 80 Hz of the windows that are timed, and how often."""

EXTREMES = ("ReduceMin", "ReduceMax")
"""Operators that give a range's ends."""

_MIDDLE = 128
"""QLinearConv's zero point: of unsigned 8-bit integers, and the distance of those from signed ones."""
_STEPS = 255

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Convolution:
    """A residual convolution of the generator in dynamic int8."""

    node: Any
    product: DynamicProduct

    @property
    def x(self) -> str:
        return str(self.product.quantization.input[0])

    @property
    def y(self) -> str:
        return self.product.output


@dataclass(frozen=True, slots=True)
class Range:
    """Least and largest values of a tensor, 0 included: one for each channel, or one of all."""

    least: Vector
    largest: Vector

    @property
    def scale(self) -> Vector:
        return np.maximum((self.largest - self.least) / _STEPS, 1e-12).astype(np.float32)

    @property
    def zero_point(self) -> NDArray[np.uint8]:
        return np.round(-self.least / self.scale).clip(0, _STEPS).astype(np.uint8)


def residual_convolutions(graph: Graph) -> list[Convolution]:
    """The generator's convolutions that make as many channels as they take.

    Raises:
        CannotSplit, UnknownPattern: the model isn't Kokoro in dynamic int8.
    """
    cuts = find_cuts(graph)
    generator = graph.part([cuts.features, cuts.harmonics, cuts.style], [cuts.audio])
    nodes = list(generator.of_type("ConvInteger"))
    shapes = {node.output[0]: constant_of(graph, node, node.input[1]).shape for node in nodes}
    alike = [node for node in nodes if shapes[node.output[0]][0] == shapes[node.output[0]][1]]
    return [Convolution(node, product_of(graph, node)) for node in alike]


def ranges(graph: Graph, convolutions: Sequence[Convolution], scripts: Sequence[str]) -> dict[str, Range]:
    """Ranges by tensor while the scripts are spoken: of inputs in all, of outputs by channel."""
    model = onnx.ModelProto()
    model.CopyFrom(graph.model)
    asked = {each.x: (1, 2) for each in convolutions} | {each.y: (2,) for each in convolutions}
    for name, axes in asked.items():
        for operator in EXTREMES:
            output = f"{operator} {name}"
            model.graph.node.append(_reduction(model, graph.opset, operator, name, output, axes))
            model.graph.output.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, None))
    session = _session(model)
    bank = VoiceBank.open(EMBEDDED)
    names = [f"{operator} {name}" for operator in EXTREMES for name in asked]
    found: dict[str, Vector] = {}
    for number, script in enumerate(scripts):
        voice = ((VOICES[number % len(VOICES)], 1.0),)
        for name, values in zip(names, session.run(names, _inputs(session, bank, script, voice)), strict=True):
            farther = np.minimum if name.startswith(EXTREMES[0]) else np.maximum
            found[name] = farther(found.get(name, np.float32(0)), values.ravel())
        print(f"{number + 1} of {len(scripts)} texts", file=sys.stderr, flush=True)
    return {name: Range(*(found[f"{operator} {name}"] for operator in EXTREMES)) for name in asked}


def _reduction(model: Any, opset: int, operator: str, name: str, output: str, axes: tuple[int, ...]) -> Any:
    if opset < 18:
        return helper.make_node(operator, [name], [output], axes=list(axes), keepdims=0)
    constant = f"axes {len(axes)}"
    if constant not in {tensor.name for tensor in model.graph.initializer}:
        model.graph.initializer.append(numpy_helper.from_array(np.array(axes, np.int64), constant))
    return helper.make_node(operator, [name, constant], [output], keepdims=0)


def _session(model: Any) -> Any:
    options = ort.SessionOptions()
    options.intra_op_num_threads = cores()
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _inputs(session: Any, bank: VoiceBank, script: str, voice: Voice) -> dict[str, Any]:
    tokens = [DEFAULT_VOCAB[phoneme] for phoneme in script if phoneme in DEFAULT_VOCAB]
    values: dict[str, Any] = {"style": bank.style(voice, len(tokens)), "speed": [1]}
    return {
        given.name: np.asarray(values.get(given.name, [[0, *tokens, 0]]), NUMPY_TYPES[given.type])
        for given in session.get_inputs()
    }


def make_static(graph: Graph, convolutions: Sequence[Convolution], known: Mapping[str, Range]) -> Any:
    """The graph's model with these convolutions static; the graph is no longer valid."""
    made: dict[int, list[Any]] = {}
    for each in convolutions:
        nodes, constants = _static(graph, each, known[each.x], known[each.y])
        made[id(graph.maker(each.y))] = nodes
        for name, value in constants.items():
            graph.derive(name, np.asarray(value))
    graph.replace(made)
    graph.drop_unused()
    graph.store()
    return graph.model


def _static(graph: Graph, each: Convolution, x: Range, y: Range) -> tuple[list[Any], dict[str, Any]]:
    """The nodes in place of one convolution, and their constants."""
    node, product = each.node, each.product
    weights = constant_of(graph, node, product.right)
    centre = constant_of(graph, node, product.right_zero_point) if product.right_zero_point else np.zeros((), np.uint8)
    scale = np.broadcast_to(along(graph, node, product.right_scale, weights.shape, 0).ravel(), len(weights))
    bias = constant_of(graph, node, product.bias) if product.bias else np.zeros(len(weights), np.float32)
    shifted = bias + (y.zero_point.astype(np.float32) - _MIDDLE) * y.scale
    constants: dict[str, Any] = dict(_named(each, x, y, scale)) | {
        f"{each.y} weights": _signed(weights),
        f"{each.y} weights' zero": _signed(centre).reshape(()) if centre.size == 1 else _signed(centre),
        f"{each.y} bias": np.round(shifted / (x.scale * scale)).astype(np.int32),
    }
    shared = ["one", "middle"]
    constants |= {"one": np.float32(1), "middle": np.uint8(_MIDDLE)}
    of_x = [f"{each.x} scale", f"{each.x} zero"]
    of_w = [f"{each.y} weights", f"{each.y} weights' scale", f"{each.y} weights' zero"]
    taken, given = f"{each.y} taken", f"{each.y} given"
    convolution = helper.make_node("QLinearConv", [taken, *of_x, *of_w, *shared, f"{each.y} bias"], [given])
    convolution.attribute.extend(node.attribute)
    nodes = [
        helper.make_node("QuantizeLinear", [each.x, *of_x], [taken]),
        convolution,
        helper.make_node("DequantizeLinear", [given, f"{each.y} scale", f"{each.y} zero"], [each.y], axis=1),
    ]
    return nodes, constants


def _named(each: Convolution, x: Range, y: Range, scale: Vector) -> Iterator[tuple[str, Any]]:
    yield f"{each.x} scale", x.scale.reshape(())
    yield f"{each.x} zero", x.zero_point.reshape(())
    yield f"{each.y} scale", y.scale
    yield f"{each.y} zero", y.zero_point
    yield f"{each.y} weights' scale", (scale / y.scale).astype(np.float32)


def _signed(values: NDArray[Any]) -> NDArray[np.int8]:
    return (values.astype(np.int16) - _MIDDLE).astype(np.int8)


def times(model: Path, static: Path, frames: int, turns: int) -> Table:
    """Time and processor time of one window, least and as a ratio to the model as it is served."""
    with tempfile.TemporaryDirectory() as scratch:
        ways = {
            "dynamic, as served": prepare(model, Path(scratch, "served"), tuple(Rewrite)),
            "dynamic, all rewrites but sine": prepare(model, Path(scratch, "plain"), VARIANTS["all but sine"]),
            "static, outputs per channel": prepare(static, Path(scratch, "static"), VARIANTS["all but sine"]),
        }
        settings = WorkerSettings(threads=1)
        stages = {name: LoadedStage(made.folder / GENERATOR, settings, StageTarget()) for name, made in ways.items()}
        found = measured(stages, inputs(next(iter(ways.values())), frames), 1, turns)
        served = next(iter(found.values()))
        rows: list[list[Cell]] = [
            [
                name,
                1000 * min(each.processor),
                ratio(each.processor, served.processor),
                ratio(each.elapsed, served.elapsed),
            ]
            for name, each in found.items()
        ]
    columns = ("generator", "least ms of processor time", "processor time, ratio", "time, ratio")
    return Table(f"A window of {frames} frames, one thread", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="in dynamic int8, as published")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--texts", type=int, default=24, help="sentences of calibration")
    parser.add_argument("--time", action="store_true", help="compare the time of windows")
    options = parser.parse_args()
    if not (options.time and options.out.exists()):
        graph = load_graph(options.model)
        convolutions = residual_convolutions(graph)
        known = ranges(graph, convolutions, calibration()[: options.texts])
        onnx.save(make_static(graph, convolutions, known), options.out)
        print(f"{options.out}: {len(convolutions)} convolutions, {options.out.stat().st_size:,} bytes")
    for frames in FRAMES if options.time else ():
        print(times(options.model, options.out, frames, TURNS).as_markdown())


if __name__ == "__main__":
    main()
