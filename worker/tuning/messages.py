"""Messages between `supervisor.tuning` and the process that measures an engine: one line of JSON each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

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
    """One line of JSON with its line end."""
    return msgspec.json.encode(result, enc_hook=_text_of_path) + b"\n"


def _text_of_path(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} isn't written as JSON")


def _path_of_text(kind: type[Any], value: Any) -> Path:
    if kind is Path:
        return Path(value)
    raise TypeError(f"{kind.__name__} isn't read from JSON")


decode_settings = msgspec.json.Decoder(WorkerSettings, dec_hook=_path_of_text).decode
decode_result: Callable[[bytes], Result] = msgspec.json.Decoder(Result).decode
