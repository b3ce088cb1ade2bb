"""Messages between `kokoro-live tune` and the process that measures an engine: one line of JSON each."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from shm.decoding import one_error
from worker.settings import WorkerSettings


class Round(msgspec.Struct, frozen=True, tag="round"):
    """One measurement of an engine."""

    first: float
    """Seconds until the first audible sample of a sentence spoken alone."""
    alone: float
    """Seconds of audio per second, one sentence at a time."""
    together: float
    """Seconds of audio per second, with as many concurrent sentences as the engine takes."""


class MeasurementFailed(msgspec.Struct, frozen=True, tag="failed"):
    """The engine can't be measured, and its process ends."""

    reason: str


Result = Round | MeasurementFailed


def encode(result: Result | WorkerSettings) -> bytes:
    """One line of JSON with its line end; paths are written as text."""
    return msgspec.json.encode(result, enc_hook=str) + b"\n"


decode_settings = msgspec.json.Decoder(WorkerSettings, dec_hook=lambda kind, value: kind(value)).decode
decode_result: Callable[[bytes], Result] = one_error(msgspec.json.Decoder(Result).decode)
