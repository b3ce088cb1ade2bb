"""The generator for windows of one length, for accelerators, which compile graphs of known shapes.

The static generator is a file alongside the stages, made at its first use. It computes in floats, of which accelerators
take more than of integers: an int8 model is converted for it. Its large weights are the float generator's, or, in half
precision, its own.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
from kokoro_onnx.config import DEFAULT_VOCAB
from numpy.typing import NDArray

from shm.atomic import write_whole
from worker.engine import EngineError, EngineUnavailable, ProviderUnavailable, RunControl
from worker.models.sources import cached_sha256_of, sha256_of
from worker.settings import WorkerSettings
from worker.split.prepared import Prepared, Unprepared, alone
from worker.split.segments.segment import GENERATOR_CONTEXT, HarmonicSource, Prosody
from worker.split.segments.stage import LoadedStage
from worker.split.segments.windows import WindowShape
from worker.targets import StageTarget

log = logging.getLogger(__name__)

_INTEGERS = ("DynamicQuantizeLinear", "MatMulIntegerToFloat", "ConvInteger", "MatMulInteger", "QLinearConv")
"""Operators of int8 models, of which accelerators take none: their quantisation is another form (QDQ), or none."""

_FLOATS = "floats"
"""Name of the folder with the generator in floats, where the stages have none that is fit for accelerators."""


def static_generator(model: Path, prepared: Prepared, frames: int, half: bool = False) -> Path:
    """The generator for windows of this many frames at 80 Hz, with the statistics given.

    Args:
        model: the file from which `prepared` was made.
        half: with float16 types (`worker.split.static.static_graph`).

    The generator takes features [1, channels, frames], harmonics [1, 22, 60 frames + 1], style, means and variances; it
    returns audio of 300 samples for each frame, in order, in any shape.

    Raises:
        Unprepared: there can be none; the message says why.
    """
    file = prepared.folder / f"generator-{frames}{'.half' if half else ''}.onnx"
    if not _sound(file):
        with alone(prepared.folder.parent):
            if not _sound(file):
                started = time.monotonic()
                _make(model, prepared, frames, half, file)
                log.info("made the generator for windows of %d frames in %.1f s", frames, time.monotonic() - started)
    return file


def _floats(model: Path, prepared: Prepared, half: bool) -> Path:
    """The folder with the generator in floats for windows of any length: the stages' own, or a folder among them."""
    import onnx

    from worker.graph.dynamic_int8 import dequantize
    from worker.graph.loading import load_graph
    from worker.split.rewrites.stage_files import GENERATOR, WEIGHTS, write_generator

    floats = prepared.folder / _FLOATS
    # An int8 model's graph has operations that no accelerator takes.
    nodes = onnx.load(prepared.folder / GENERATOR, load_external_data=False).graph.node
    in_integers = any(node.op_type in _INTEGERS for node in nodes)
    if not in_integers and not half:
        return prepared.folder
    if _sound(floats / WEIGHTS):
        return floats
    graph = load_graph(model)
    if in_integers:
        graph = dequantize(graph)
    shutil.rmtree(floats, ignore_errors=True)
    floats.mkdir()
    write_generator(graph, floats)
    _checksum(floats / WEIGHTS).write_text(_line(floats / WEIGHTS))
    return floats


def _line(file: Path, folder: str = "") -> str:
    """A line of a checksum file, as `sha256sum` writes it."""
    return f"{sha256_of(file)}  {folder}{file.name}\n"


def _checksum(file: Path) -> Path:
    return file.with_suffix(".sha256")


def _sound(file: Path) -> bool:
    """True if the file exists with its checksum, and so do the weights outside it that it doesn't share with stages."""
    try:
        lines = [line.split("  ") for line in _checksum(file).read_text().splitlines()]
        if lines and all(cached_sha256_of(file.parent / name) == expected for expected, name in lines):
            return True
    except (FileNotFoundError, ValueError):  # a text that can't be decoded is a ValueError
        if not file.exists():
            return False
    log.warning("%s is made again: it isn't as it was written", file)
    return False


def _make(model: Path, prepared: Prepared, frames: int, half: bool, file: Path) -> None:
    # The onnx package is needed once, when the file is made.
    from onnx.external_data_helper import load_external_data_for_model
    from onnx.shape_inference import InferenceError

    from worker.graph.dynamic_int8 import UnknownPattern
    from worker.graph.graph import CannotSplit, to_half
    from worker.split.rewrites.stage_files import CROP, WEIGHTS
    from worker.split.static.static_graph import static_model

    try:
        inputs = window_inputs(prepared, frames)
        fixed = {CROP: np.zeros(2, np.int64)}
        floats = _floats(model, prepared, half)
        static = static_model(floats / "generator.onnx", inputs, fixed, floats / "probe.onnx")
        if half:
            load_external_data_for_model(static, str(floats))
            to_half(static, list(inputs)[:2])
        outside = ""
        if floats != prepared.folder and not half:
            _point_into(static, floats.name)
            outside = _line(floats / WEIGHTS, f"{floats.name}/")
        data = static.SerializeToString()
        # The checksum is written first: a file without the right checksum is never used.
        _checksum(file).write_text(f"{hashlib.sha256(data).hexdigest()}  {file.name}\n{outside}")
        write_whole(file, data)
    except (CannotSplit, UnknownPattern, InferenceError) as error:
        raise Unprepared(f"its generator can't be made for windows of {frames} frames: {error}") from error
    except (EngineError, EngineUnavailable) as error:
        raise Unprepared(f"its generator doesn't run: {error}") from error
    except OSError as error:
        raise Unprepared(f"the cache {prepared.folder} can't be used: {error}") from error


def _point_into(model: Any, folder: str) -> None:
    """Have the model, which is written one folder higher, find its weights."""
    for tensor in model.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = f"{folder}/{entry.value}"


_STYLE_DEVIATION = 0.15
"""Standard deviation of the published voices' style values."""

_LEAST_DURATION = 2
"""Shortest duration of a phoneme, in frames at 80 Hz."""


def window_inputs(prepared: Prepared, frames: int, seed: int = 0) -> dict[str, NDArray[Any]]:
    """The generator's inputs (statistics included) for a window of this many frames at 80 Hz, by name and in order:
    computed from random phonemes and a random style by the other stages on the CPU.

    Raises:
        EngineError, EngineUnavailable: the stages don't work.
    """
    random = np.random.default_rng(seed)
    style = _STYLE_DEVIATION * random.standard_normal((1, 256), np.float32)
    phonemes = random.choice(sorted(DEFAULT_VOCAB.values()), (frames + frames % 2) // _LEAST_DURATION)
    tokens = np.array([[0, *phonemes, 0]])
    text, f0, energy, durations = _run(prepared, "prosody", [tokens, style, np.ones(1)])[1]
    prosody = Prosody(text, f0, energy, durations.ravel(), style)
    begin = (prosody.frames - frames) // 4 * 2
    features = _run(prepared, "decoder", [text, f0, energy, style])[1][0]
    source = HarmonicSource(_stage(prepared, "source"), prepared.manifest.noise, seed, f0, prosody.frames, RunControl())
    harmonics = source.harmonics(begin, begin + frames, 1)
    window = [features[..., begin : begin + frames], harmonics, style]
    names, (_, *statistics) = _run(prepared, "generator-exact", window)
    from worker.split.rewrites.norm_statistics import STATISTICS  # onnx, which no worker that speaks needs

    return dict(zip([*names, *STATISTICS], [*window, *statistics], strict=True))


def _stage(prepared: Prepared, name: str) -> LoadedStage:
    return LoadedStage(prepared.folder / f"{name}.onnx", WorkerSettings(), StageTarget())


def _run(prepared: Prepared, name: str, arrays: list[NDArray[Any]]) -> tuple[list[str], list[NDArray[Any]]]:
    """Names of a stage's inputs, and its outputs."""
    stage = _stage(prepared, name)
    names = [given.name for given in stage.session(1).get_inputs()]
    return names, stage.run(arrays, 1, RunControl())


def fixed_generators(
    model: Path, prepared: Prepared, settings: WorkerSettings, target: StageTarget
) -> dict[int, LoadedStage]:
    """Fixed-length generators by length in frames at 80 Hz: the target's length, and a shorter one for the first
    window, so that the sound begins no later than with a generator for any length.

    Raises:
        ProviderUnavailable: they can't be made.
    """
    first = WindowShape.of(settings).first + 2 * GENERATOR_CONTEXT
    lengths = {min(first, target.window), target.window} if target.window else set()
    return {frames: _fixed_generator(model, prepared, frames, settings, target) for frames in lengths}


def _fixed_generator(
    model: Path, prepared: Prepared, frames: int, settings: WorkerSettings, target: StageTarget
) -> LoadedStage:
    try:
        return LoadedStage(static_generator(model, prepared, frames, target.half), settings, target)
    except Unprepared as error:
        raise ProviderUnavailable(target.provider, str(error)) from error
