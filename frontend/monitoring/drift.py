"""Drift of the machine's speed: the recent real-time factor against an earlier one, of days or of minutes ago.

Over days, the median of the last `WINDOW` segments is compared with one that is stored for the engine; the first full
window is stored, and a faster one replaces it. Within a stream its last `PART` segments are compared with its first
ones. Only segments that were made alone and are long enough count: others say more about the text than about the
machine. Self-checks (`frontend.monitoring.selfcheck`) are compared by the same rule.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple
from zlib import crc32

import msgspec
from msgspec import UNSET

from frontend.monitoring import report
from frontend.monitoring.readings import Reading
from shm import kept
from shm.atomic import write_whole
from shm.engine_info import EngineInfo

log = logging.getLogger(__name__)

DRIFTED = 1.2
"""The slowdown that is worth telling: 1.2 is 20 % slower than before."""

NOTICED = 0.2
"""Real-time factor below which no slowdown is worth telling: first audio is early and playback is ahead, and a few
milliseconds more are the scheduler's noise (0.06 against 0.049 is a ratio of 1.22)."""

WINDOW = 20
PART = 10

ALONE = 1.25
"""Mean number of runs at once up to which a segment counts as made alone (as in `frontend.planning.costs`)."""

SHORTEST = 1.0
"""Seconds of audio below which a segment doesn't count."""

LEAST = 0.02
"""Real-time factor below which a change is the clock's noise and delays nobody."""

_FASTER = 0.9
_STREAMS = 64


class Comparison(NamedTuple):
    """A real-time factor, and the earlier one of the same engine that it is compared with."""

    now: float
    before: float

    @property
    def ratio(self) -> float:
        return self.now / self.before

    @property
    def slower(self) -> bool:
        """True if it has become slower by so much that it is worth telling."""
        return self.ratio > DRIFTED and self.now >= NOTICED


class DriftMonitor:
    """Compares one front's recent speed with stored figures, which outlive the process."""

    def __init__(self, file: Path | None = None) -> None:
        """`file` stores the figures by engine; without a file no figure is stored."""
        self._file = file
        self._baselines = _read(file) if file else {}
        self._recent: deque[float] = deque(maxlen=WINDOW)
        self._streams: OrderedDict[int, list[float]] = OrderedDict()
        self._engine = ""
        self._told = False
        self._stream: Comparison | None = None

    def observe(self, engine: EngineInfo, stream: int, seconds: float, samples: int, load: float) -> None:
        """Note that a segment of `samples` took `seconds`, with `load` runs at once on average."""
        audio = samples / engine.sample_rate
        if audio < SHORTEST or load > ALONE or seconds / audio < LEAST:
            return
        name = identity(engine)
        if name != self._engine:
            self._engine, self._told = name, False
            self._recent.clear()
        self._recent.append(seconds / audio)
        if len(self._recent) == WINDOW:
            self._compare(median(self._recent))
        self._follow(stream, seconds / audio)

    def _compare(self, recent: float) -> None:
        baseline = self._baselines.get(self._engine)
        if baseline is None or recent < baseline * _FASTER:
            self._baselines[self._engine] = recent
            self._store()
        elif Comparison(recent, baseline).slower and not self._told:
            self._told = True
            text = "slower than before: the real-time factor is %.3f, and was %.3f (median of %d segments)"
            log.warning(text, recent, baseline, WINDOW)
        elif recent < baseline * (1 + DRIFTED) / 2:
            self._told = False

    def _follow(self, stream: int, factor: float) -> None:
        factors = self._streams.setdefault(stream, [])
        self._streams.move_to_end(stream)
        while len(self._streams) > _STREAMS:
            self._streams.popitem(last=False)
        factors.append(factor)
        if len(factors) < 2 * PART:
            return
        if len(factors) > 2 * PART:
            del factors[PART]
        before, self._stream = self._stream, Comparison(median(factors[PART:]), median(factors[:PART]))
        if self._stream.slower and not (before and before.ratio > DRIFTED):
            log.warning("a stream has become %.2f times slower from its first segments to its last", self._stream.ratio)

    @property
    def ratio(self) -> float | None:
        """The recent real-time factor divided by the stored one; None while one of them is unknown."""
        baseline = self._baselines.get(self._engine)
        return median(self._recent) / baseline if baseline and len(self._recent) == WINDOW else None

    def report(self) -> report.Drift | None:
        """The drift for `/status`; None while no figure was measured."""
        found = report.Drift()
        if (baseline := self._baselines.get(self._engine)) is not None:
            found.baseline = round(baseline, 4)
        if len(self._recent) == WINDOW:
            found.recent = round(median(self._recent), 4)
        if (ratio := self.ratio) is not None:
            found.ratio = round(ratio, 3)
        if self._stream:
            found.stream_ratio = round(self._stream.ratio, 3)
        return None if found.baseline is UNSET and found.stream_ratio is UNSET else found

    def readings(self) -> Iterator[Reading]:
        for over, ratio in (("days", self.ratio), ("stream", self._stream and self._stream.ratio)):
            if ratio is not None:
                yield "real_time_factor_drift_ratio", (over,), ratio

    def _store(self) -> None:
        if self._file is None:
            return
        try:
            write_whole(self._file, kept.SPEEDS.encode(self._baselines))
        except OSError as error:
            log.error("going on without storing what is normal here: %s", error)
            self._file = None


def identity(engine: EngineInfo) -> str:
    """The engine's identity: speeds are comparable between equal identities."""
    priority = engine.priority
    processors = ",".join(map(str, priority.processors)) if priority else ""
    model = engine.model_sha256 or engine.model
    # Windows of other lengths take other times for the same speech.
    rendering = f"{crc32(engine.rendering.encode()):08x}"
    return f"{engine.name} {model} {engine.provider} {engine.threads} {engine.concurrency} [{processors}] {rendering}"


def _read(file: Path) -> dict[str, float]:
    try:
        found = _decode(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        log.error("what was normal here is forgotten, because %s can't be read: %s", file, error)
        return {}
    found.pop(kept.FIELD, None)
    return found


_decode = kept.SPEEDS.decoder(dict[str, float])
