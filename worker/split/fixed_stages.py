"""The fixed-length generator stages that a tuning record asks for."""

from __future__ import annotations

from worker.engine import ProviderUnavailable
from worker.providers.records import StageRecord
from worker.settings import WorkerSettings
from worker.split.prepared import Prepared, Unprepared
from worker.split.segment import GENERATOR_CONTEXT
from worker.split.stage import Stage
from worker.split.static_windows import static_generator
from worker.split.windows import WindowShape


def fixed_generators(prepared: Prepared, settings: WorkerSettings, record: StageRecord) -> dict[int, Stage]:
    """Fixed-length generators by length in frames at 80 Hz: the record's length, and a shorter one for the first
    window, so that the sound begins no later than with a generator for any length.

    Raises:
        ProviderUnavailable: they can't be made.
    """
    first = WindowShape.of(settings).first + 2 * GENERATOR_CONTEXT
    lengths = {min(first, record.window), record.window} if record.window else set()
    return {frames: _stage(prepared, frames, settings, record) for frames in lengths}


def _stage(prepared: Prepared, frames: int, settings: WorkerSettings, record: StageRecord) -> Stage:
    try:
        return Stage(static_generator(prepared, frames), settings, record)
    except Unprepared as error:
        raise ProviderUnavailable(record.provider, str(error)) from error
