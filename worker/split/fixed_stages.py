"""The fixed-length generator stages that a stage target asks for."""

from __future__ import annotations

from pathlib import Path

from worker.engine import ProviderUnavailable
from worker.providers.targets import StageTarget
from worker.settings import WorkerSettings
from worker.split.prepared import Prepared, Unprepared
from worker.split.segments.segment import GENERATOR_CONTEXT
from worker.split.segments.stage import LoadedStage
from worker.split.segments.windows import WindowShape
from worker.split.static.static_windows import static_generator


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
    return {frames: _stage(model, prepared, frames, settings, target) for frames in lengths}


def _stage(model: Path, prepared: Prepared, frames: int, settings: WorkerSettings, target: StageTarget) -> LoadedStage:
    try:
        return LoadedStage(static_generator(model, prepared, frames, target.half), settings, target)
    except Unprepared as error:
        raise ProviderUnavailable(target.provider, str(error)) from error
