"""Writes a model as one file per stage, with one file of weights for all stages.

Weights outside the graphs are mapped into memory by onnxruntime, so stages, variants of a stage, sessions of different
thread counts and even processes share them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper
from onnx.external_data_helper import set_external_data

from worker.graph.graph import CannotSplit, Chain, Graph, Nodes, attribute
from worker.split.rewrites.choice import DEFAULT, Rewrite
from worker.split.rewrites.convolutions import make_planar, pack_convolutions, rewrite_spectra
from worker.split.rewrites.cuts import Cuts, find_cuts, first_upsampling
from worker.split.rewrites.norm_statistics import channels_of, give_statistics, tell_statistics, weigh_statistics
from worker.split.rewrites.snake import fold_sines, rewrite_snakes
from worker.split.segments.segment import Noise

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

CROP = "crop"
"""int64 [2]: frames at 80 Hz that the generator drops left and right before its second stage."""

_FIRST_STAGE_RATE = 10
_HARMONICS_RATE = 60
"""Frames of harmonics per frame at 80 Hz."""

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
    channels = channels_of(_generator(graph, cuts))
    if not channels:
        raise CannotSplit("no instance norm is found in its generator")
    with (folder / WEIGHTS).open("wb") as weights:
        writer = _Writer(graph, folder, weights, rewrites)
        prosody = [cuts.text, cuts.f0, cuts.energy]
        spoken = graph.part([cuts.tokens, cuts.style, cuts.speed], [*prosody, cuts.durations])
        writer.write(PROSODY, spoken, graph.model.metadata_props)
        noise = _write_source(graph, writer, cuts)
        writer.write(DECODER, graph.part([*prosody, cuts.style], [cuts.features]))
        _write_generator(graph, writer, cuts)
        writer.write(WHOLE_GENERATOR, _generator(graph, cuts))
        weighted = _generator(graph, cuts)
        weigh_statistics(weighted, cuts.moving, [node.output[0] for node in cuts.second_stage])
        writer.write(WEIGHTED_GENERATOR, weighted)
        exact = _generator(graph, cuts)
        tell_statistics(exact)
        writer.write(EXACT_GENERATOR, exact)
    return noise, channels


def write_generator(graph: Graph, folder: Path) -> None:
    """Write `GENERATOR` and its part of `WEIGHTS`, with none of the rewrites, which are for the CPU."""
    with (folder / WEIGHTS).open("wb") as weights:
        _write_generator(graph, _Writer(graph, folder, weights, ()), find_cuts(graph))


def _write_generator(graph: Graph, writer: _Writer, cuts: Cuts) -> None:
    generator = _generator(graph, cuts)
    give_statistics(generator, cuts.moving)
    _crop_context(generator, cuts)
    writer.write(GENERATOR, generator)


def _generator(graph: Graph, cuts: Cuts) -> Nodes:
    return graph.part([*cuts.moving, cuts.style], [cuts.audio])


def _crop_context(generator: Nodes, cuts: Cuts) -> None:
    """Make the generator drop context between its stages, by the frames that the input `CROP` gives.

    The second stage, which costs more, needs less context than the first (`worker.split.segments.segment`).
    """
    first = Chain(generator)
    left, right = (first.node("Gather", [CROP, first.ints(side)]) for side in (0, 1))
    replaced: dict[int, list[Any]] = {}
    for node, rate in zip(cuts.second_stage, (_FIRST_STAGE_RATE, _HARMONICS_RATE), strict=True):
        chain = Chain(generator)
        per_frame, time = chain.ints(rate), chain.ints(2)
        length = chain.node("Gather", [chain.node("Shape", [node.input[0]]), time])
        end = chain.node("Sub", [length, chain.node("Mul", [right, per_frame])])
        cropped = chain.node("Slice", [node.input[0], chain.node("Mul", [left, per_frame]), end, time])
        changed = type(node)()
        changed.CopyFrom(node)
        changed.input[0] = cropped
        replaced[id(node)] = [*chain.nodes, changed]
    generator.inputs[CROP] = helper.make_tensor_value_info(CROP, onnx.TensorProto.INT64, [2])
    generator.replace(replaced, before=first.nodes)


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
    drawn = graph.part([cuts.f0], [cuts.harmonics])
    operations = [node for node in drawn if node.op_type.startswith("Random")]
    names = [node.output[0] for node in operations]
    if any(graph.element_type(name) != onnx.TensorProto.FLOAT for name in names):
        raise CannotSplit("its noise isn't made of 32-bit floats")
    noise: tuple[Noise, ...] = ()
    if operations:
        probe = writer.model(graph.part([cuts.f0], names), inline=True)
        noise = _noise_of(operations, probe.SerializeToString())
    writer.write(SOURCE, graph.part([cuts.f0, *names], [cuts.harmonics]))
    return noise


class _Writer:
    """Writes parts of one graph into one folder."""

    def __init__(self, graph: Graph, folder: Path, weights: BinaryIO, rewrites: Collection[Rewrite]) -> None:
        self._graph = graph
        self._folder = folder
        self._weights = weights
        self._rewrites = rewrites
        self._external: dict[str, Any] = {}

    def write(self, name: str, part: Nodes, properties: Sequence[Any] = ()) -> None:
        """Write a stage. `properties`: the metadata that it keeps."""
        for rewrite, change in _REWRITES.items():
            if rewrite in self._rewrites and rewrite in _REWRITTEN.get(name, _REWRITES):
                change(part)
        model = self.model(part)
        model.metadata_props.extend(properties)
        (self._folder / name).write_bytes(model.SerializeToString())

    def model(self, part: Nodes, *, inline: bool = False) -> Any:
        """The part as a model. `inline`: with its weights inside."""
        part.drop_unused()
        model, taken = self._graph.model, part.taken() | part.outputs.keys()
        kept = [self._graph.initializers[name] for name in sorted(taken & self._graph.initializers.keys())]
        initializers = kept if inline else [_shaped(self._outside(tensor), part.reshaped) for tensor in kept]
        derived = [self._outside(tensor) for name, tensor in part.derived.items() if name in taken]
        proto = helper.make_graph(
            list(part),
            "kokoro-live",
            list(part.inputs.values()),
            list(part.outputs.values()),
            [*initializers, *derived, *(tensor for tensor in part.constants if tensor.name in taken)],
        )
        made = helper.make_model(proto, opset_imports=model.opset_import, functions=model.functions)
        made.ir_version = model.ir_version
        imported = {opset.domain for opset in made.opset_import}
        for domain in {node.domain for node in part} - imported - {""}:
            made.opset_import.append(helper.make_opsetid(domain, 1))
        return made

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


def _noise_of(operations: list[Any], source: bytes) -> tuple[Noise, ...]:
    """The noise input for each random operation; `source` takes F0 and gives each operation's output."""
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
