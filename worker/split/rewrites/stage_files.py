"""Writes a model as one file per stage, with one file of weights for all stages.

Weights outside the graphs are mapped into memory by onnxruntime, so stages, variants of a stage, sessions of different
thread counts and even processes share them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper
from onnx.external_data_helper import set_external_data

from worker.graph.graph import CannotSplit, Graph, Nodes, attribute
from worker.split.rewrites.choice import DEFAULT, Rewrite
from worker.split.rewrites.cuts import Cuts, find_cuts, first_upsampling
from worker.split.rewrites.norm_statistics import (
    CROP,
    STATISTICS,
    Additions,
    crop_context,
    give_statistics,
    norms,
    tell_statistics,
    weigh_statistics,
    weight_inputs,
)
from worker.split.rewrites.packed import pack_convolutions
from worker.split.rewrites.planar import make_planar
from worker.split.rewrites.snake import fold_sines, rewrite_snakes
from worker.split.rewrites.spectrum import rewrite_spectra
from worker.split.segments.source import Noise

PROSODY, SOURCE, DECODER = "prosody.onnx", "source.onnx", "decoder.onnx"
GENERATOR = "generator.onnx"
"""The generator that takes its statistics as inputs."""
WHOLE_GENERATOR = "generator-whole.onnx"
"""The generator that computes the segment's own statistics."""
WEIGHTED_GENERATOR = "generator-weighted.onnx"
"""The generator that computes them of a part of the segment, in which frames have weights."""
EXACT_GENERATOR = "generator-exact.onnx"
"""The same, which reports them: for trials, and for the samples of a predictor. It keeps each norm's input in memory
until its end, so no speech is made with it: it takes twice as much memory for a sentence."""
WEIGHTS = "weights.bin"
SERVED = (PROSODY, SOURCE, DECODER, GENERATOR, WHOLE_GENERATOR, WEIGHTED_GENERATOR)
"""The stages that speak."""
STAGES = (*SERVED, EXACT_GENERATOR)

_INLINE = 1024
"""Bytes below which a weight stays in its stage's own file: onnxruntime's loader reads shapes and indices there."""
_ALIGNMENT = 4096

_REWRITES = {
    Rewrite.PACKED: pack_convolutions,
    Rewrite.PLANAR: make_planar,
    Rewrite.SINE: fold_sines,
    Rewrite.SNAKE: rewrite_snakes,
    Rewrite.SPECTRUM: rewrite_spectra,
}
"""The order is that in which they are done: a Snake that `SINE` has taken is none for `SNAKE`."""
_REWRITTEN = {PROSODY: {Rewrite.PACKED}, SOURCE: {Rewrite.SPECTRUM}}
"""Stages that get only some of the rewrites."""


def write_stages(graph: Graph, folder: Path, rewrites: Collection[Rewrite] = DEFAULT) -> tuple[tuple[Noise, ...], int]:
    """Write `STAGES` and `WEIGHTS`. Without `rewrites` the stages together equal the model to the bit.

    Returns:
        The source's noise, and the channels of the generator's norms.

    Raises:
        CannotSplit: the model isn't built as Kokoro is.
    """
    cuts = find_cuts(graph)
    prosody = [cuts.text, cuts.f0, cuts.energy]
    given = [cuts.features, cuts.harmonics, cuts.style]
    generator, _ = graph.needed([cuts.audio], given)
    channels = sum(norm.channels for norm in norms(graph, generator))
    if not channels:
        raise CannotSplit("no instance norm is found in its generator")
    with (folder / WEIGHTS).open("wb") as weights:
        writer = _Writer(graph, folder, weights, rewrites)
        inputs = [cuts.tokens, cuts.style, cuts.speed]
        writer.write(PROSODY, _Part(inputs, [*prosody, cuts.durations]), graph.model.metadata_props)
        noise = _write_source(graph, writer, cuts)
        writer.write(DECODER, _Part([*prosody, cuts.style], [cuts.features]))
        _write_generator(graph, writer, cuts)
        writer.write(WHOLE_GENERATOR, _Part(given, [cuts.audio]))
        instead, more = weigh_statistics(graph, generator, given[:2], [node.output[0] for node in cuts.second_stage])
        writer.write(WEIGHTED_GENERATOR, _Part(given, [cuts.audio], instead, more, more_inputs=weight_inputs()))
        told = tell_statistics(graph, generator)
        writer.write(EXACT_GENERATOR, _Part(given, [cuts.audio], more=told, more_outputs=_statistics(channels)))
    return noise, channels


def write_generator(graph: Graph, folder: Path) -> None:
    """Write `GENERATOR` and its part of `WEIGHTS`, with none of the rewrites, which are for onnxruntime's CPU provider.

    Raises:
        CannotSplit: the model isn't built as Kokoro is.
    """
    with (folder / WEIGHTS).open("wb") as weights:
        _write_generator(graph, _Writer(graph, folder, weights, ()), find_cuts(graph))


def _write_generator(graph: Graph, writer: _Writer, cuts: Cuts) -> None:
    given = [cuts.features, cuts.harmonics, cuts.style]
    generator, _ = graph.needed([cuts.audio], given)
    channels = sum(norm.channels for norm in norms(graph, generator))
    instead, more = give_statistics(graph, generator, given[:2])
    crop, crop_more = crop_context(graph, cuts)
    more.nodes += crop_more.nodes
    more.constants += crop_more.constants
    more_inputs = [*_statistics(channels), helper.make_tensor_value_info(CROP, onnx.TensorProto.INT64, [2])]
    writer.write(GENERATOR, _Part(given, [cuts.audio], instead | crop, more, more_inputs=more_inputs))


def fingerprint(graph: Graph) -> tuple[float, ...]:
    """Numbers that separate model families: equal weights give nearly equal numbers, whatever their quantisation.

    The fingerprint holds the sums of the first upsampling's weights for each output channel; it is empty if that
    upsampling is quantised.
    """
    weights = graph.constant(first_upsampling(graph).input[1])
    if weights is None or weights.dtype.kind != "f":
        return ()
    return tuple(float(each) for each in weights.astype(np.float64).sum(axis=(0, 2)))


def _write_source(graph: Graph, writer: _Writer, cuts: Cuts) -> tuple[Noise, ...]:
    places, _ = graph.needed([cuts.harmonics], [cuts.f0])
    operations = random_operations(graph, places)
    names = [node.output[0] for node in operations]
    noise: tuple[Noise, ...] = ()
    if operations:
        noise = noise_of(graph, operations, writer.model(_Part([cuts.f0], names), inline=True).SerializeToString())
    writer.write(SOURCE, _Part([cuts.f0, *names], [cuts.harmonics]))
    return noise


def _statistics(channels: int) -> list[Any]:
    return [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [channels]) for name in STATISTICS]


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of a graph that makes `outputs` from `inputs`, and the changes to it."""

    inputs: list[str]
    outputs: list[str]
    instead: Mapping[int, list[Any]] = field(default_factory=dict)
    """Nodes that replace those at their places."""
    more: Additions = field(default_factory=lambda: Additions("none"))
    """Further nodes: they come first, or last if they make outputs."""
    more_inputs: list[Any] = field(default_factory=list)
    more_outputs: list[Any] = field(default_factory=list)


class _Writer:
    """Writes parts of one graph into one folder."""

    def __init__(self, graph: Graph, folder: Path, weights: BinaryIO, rewrites: Collection[Rewrite]) -> None:
        self._graph = graph
        self._folder = folder
        self._weights = weights
        self._rewrites = rewrites
        self._external: dict[str, Any] = {}

    def write(self, name: str, part: _Part, properties: Sequence[Any] = ()) -> None:
        """Write a stage. `properties`: the metadata that it keeps."""
        model = self.model(part, set(self._rewrites) & _REWRITTEN.get(name, set(Rewrite)))
        model.metadata_props.extend(properties)
        (self._folder / name).write_bytes(model.SerializeToString())

    def model(self, part: _Part, rewrites: Collection[Rewrite] = (), *, inline: bool = False) -> Any:
        """The part as a model. `inline`: with its weights inside."""
        graph = self._graph
        places, names = graph.needed(part.outputs, part.inputs)
        nodes = [node for place in places for node in part.instead.get(place, [graph.nodes[place]])]
        nodes = [*nodes, *part.more.nodes] if part.more_outputs else [*part.more.nodes, *nodes]
        made = [*part.outputs, *(value.name for value in part.more_outputs)]
        rewritten = Nodes(nodes, made, graph, "rewritten")
        for rewrite, change in _REWRITES.items():
            if rewrite in rewrites:
                change(rewritten)
        rewritten.drop_unused()
        taken = rewritten.taken()
        names = (names & taken) | set(part.outputs)
        kept = [graph.initializers[name] for name in sorted(names & graph.initializers.keys())]
        initializers = kept if inline else [_shaped(self._outside(tensor), rewritten.reshaped) for tensor in kept]
        derived = [tensor for name, tensor in rewritten.derived.items() if name in taken]
        proto = helper.make_graph(
            list(rewritten),
            "kokoro-live",
            [*map(graph.value, part.inputs), *part.more_inputs],
            [*map(graph.value, part.outputs), *part.more_outputs],
            [*initializers, *map(self._outside, derived), *part.more.constants, *rewritten.constants],
        )
        model = helper.make_model(proto, opset_imports=graph.model.opset_import, functions=graph.model.functions)
        model.ir_version = graph.model.ir_version
        imported = {opset.domain for opset in model.opset_import}
        for domain in {node.domain for node in rewritten} - imported - {""}:
            model.opset_import.append(helper.make_opsetid(domain, 1))
        return model

    def _outside(self, tensor: Any) -> Any:
        """The tensor with its values moved to the file of weights."""
        if tensor.name not in self._external:
            values = tensor.raw_data if tensor.HasField("raw_data") else None
            if values is None and tensor.data_type != onnx.TensorProto.STRING:
                values = numpy_helper.to_array(tensor).tobytes()
            if values is None or len(values) < _INLINE:
                self._external[tensor.name] = tensor
            else:
                self._external[tensor.name] = self._written(tensor, values)
        return self._external[tensor.name]

    def _written(self, tensor: Any, values: bytes) -> Any:
        self._weights.write(bytes(-self._weights.tell() % _ALIGNMENT))
        outside = onnx.TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims, raw_data=b"")
        set_external_data(outside, WEIGHTS, self._weights.tell(), len(values))
        outside.ClearField("raw_data")
        self._weights.write(values)
        return outside


def _shaped(tensor: Any, shapes: Mapping[str, tuple[int, ...]]) -> Any:
    """The tensor in its new shape; the order of its values stays."""
    if tensor.name not in shapes:
        return tensor
    shaped = onnx.TensorProto()
    shaped.CopyFrom(tensor)
    shaped.ClearField("dims")
    shaped.dims.extend(shapes[tensor.name])
    return shaped


_PROBES = (20, 40, 70)
"""Frames of F0 in the probe runs: two find how a shape grows, the third checks the result."""


def random_operations(graph: Graph, places: list[int]) -> list[Any]:
    """The random operations of a source that inputs can replace.

    Raises:
        CannotSplit: there are random operations of another kind.
    """
    found = [graph.nodes[place] for place in places if graph.nodes[place].op_type.startswith("Random")]
    for node in found:
        if graph.element_type(node.output[0]) != onnx.TensorProto.FLOAT:
            raise CannotSplit("its noise isn't made of 32-bit floats")
    return found


def noise_of(graph: Graph, operations: list[Any], source: bytes) -> tuple[Noise, ...]:
    """The noise input for each random operation; `source` takes F0 and gives each operation's output.

    Raises:
        CannotSplit: a shape doesn't grow evenly with F0.
    """
    session = ort.InferenceSession(source, providers=["CPUExecutionProvider"])
    f0 = session.get_inputs()[0]
    kind = np.float16 if f0.type == "tensor(float16)" else np.float32
    shapes = [
        [result.shape for result in session.run(None, {f0.name: np.full((1, frames), 150, kind)})] for frames in _PROBES
    ]
    noises = []
    for operation, *found in zip(operations, *shapes, strict=True):
        first, second, third = _PROBES
        grown = [(b - a) // (second - first) for a, b in zip(found[0], found[1], strict=True)]
        shape = tuple((by, size - by * first) for by, size in zip(grown, found[0], strict=True))
        if tuple(by * third + fixed for by, fixed in shape) != found[2]:
            raise CannotSplit(f"its noise has the shapes {found} for {_PROBES} frames")
        normal = "Normal" in operation.op_type
        low = attribute(operation, "mean" if normal else "low", 0.0)
        spread = attribute(operation, "scale", 1.0) if normal else attribute(operation, "high", 1.0) - low
        noises.append(Noise(kind="normal" if normal else "uniform", centre=low, spread=spread, shape=shape))
    return tuple(noises)
