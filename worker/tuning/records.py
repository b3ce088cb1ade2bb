"""What a trial is told, and what it answers: JSON, since the trial's process may be any that crashes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo
from worker.settings import WorkerSettings

Text = tuple[str, ...]
"""The scripts of a text's segments, in order, in the model's phonemes."""


class TrialSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One way of running the model, and what it is to speak."""

    settings: WorkerSettings
    texts: tuple[Text, ...] = ()
    """None: the engine is loaded, and says what it is."""
    repeats: int = 1
    """How often each text is spoken alone."""
    firsts: int = 0
    """How often each text's first block is made besides."""


class SegmentTimes(msgspec.Struct, frozen=True, kw_only=True):
    """One segment that was made alone. Seconds."""

    tokens: int
    prosody_seconds: float
    """Before the first sample could be vocoded; 0 from an engine that doesn't tell."""
    blocks: tuple[tuple[int, float], ...]
    """Samples of each block, and the time that it took; in the first one's, prosody is contained."""

    @property
    def samples(self) -> int:
        return sum(samples for samples, _ in self.blocks)

    @property
    def seconds(self) -> float:
        return sum(seconds for _, seconds in self.blocks)


class TextTimes(msgspec.Struct, frozen=True, kw_only=True):
    """One text, spoken by an engine that does nothing else. Seconds; medians over the repeats."""

    first: float
    """Until its first block."""
    whole: float
    """Of work for all of it."""
    silence: float
    """That a listener hears in its middle who begins to listen at once."""
    audio: float
    """Of sound."""


class Measured(msgspec.Struct, frozen=True, kw_only=True, tag="measured"):
    """A trial that came to its end."""

    engine: EngineInfo
    load_seconds: float
    """Until the engine had spoken its first word to nobody."""
    rss: int
    """Bytes of memory at the end."""
    texts: tuple[TextTimes, ...] = ()
    """In the order of the spec."""
    together: float | None = None
    """Seconds of audio per second with as many texts at once as the engine makes; None without texts."""
    segments: tuple[SegmentTimes, ...] = ()
    """Of the texts spoken alone, all repeats."""


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """A trial that came to none."""

    reason: str


Result = Measured | Failed


def silence(blocks: tuple[tuple[int, float], ...]) -> float:
    """Seconds for which somebody hears nothing who listens from the first block on.

    Args:
        blocks: of a text, one after another: samples, and the seconds that each took.
    """
    now = gaps = 0.0
    heard_until: float | None = None
    for samples, seconds in blocks:
        now += seconds
        if heard_until is None:
            heard_until = now
        elif now > heard_until:
            gaps += now - heard_until
            heard_until = now
        heard_until += samples / SAMPLE_RATE
    return gaps


def encode(record: TrialSpec | Result) -> bytes:
    """As one line of JSON."""
    return msgspec.json.encode(record, enc_hook=_plain)


def decode_spec(data: bytes) -> TrialSpec:
    """
    Raises:
        msgspec.ValidationError: that is none.
    """
    return _spec(data)


def decode_result(data: bytes) -> Result:
    """
    Raises:
        msgspec.DecodeError: that is none.
    """
    return _result(data)


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} isn't written as JSON")


def _special(kind: type[Any], value: Any) -> Any:
    if kind is Path:
        return Path(value)
    raise TypeError(f"{kind.__name__} isn't read from JSON")


_spec = msgspec.json.Decoder(TrialSpec, dec_hook=_special).decode
_result: Callable[[bytes], Result] = msgspec.json.Decoder(Measured | Failed).decode
