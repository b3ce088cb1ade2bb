"""A periodic self-check: a short text spoken while nobody listens, its figures compared with those of earlier
checks."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import msgspec
from msgspec import UNSET

from frontend.contract.errors import Overloaded, SpeechError, Unavailable, Unspeakable
from frontend.contract.request import SpeechRequest, Urgency
from frontend.contract.speaker import Speaker
from frontend.monitoring import report
from frontend.monitoring.drift import Comparison, identity
from frontend.monitoring.readings import Reading
from shm import kept
from shm.atomic import write_whole
from text.words.language import language_of
from text.words.voice_spec import parse_voice

log = logging.getLogger(__name__)

TEXT = (
    "The quick brown fox jumps over the lazy dog, and runs away. What time is it? "
    "She said that the weather would be fine by the very end of the week."
)

KEPT = 200
"""Most checks in the history."""

COMPARED = 30
"""Number of the engine's latest checks that are compared."""

ENOUGH = 3
"""Fewest earlier checks with which one is compared."""


class Check(msgspec.Struct, frozen=True):
    """One line of the history."""

    at: float
    """Unix time of the check."""
    engine: str
    """The engine's `frontend.monitoring.drift.identity`."""
    real_time_factor: float
    first_audio_seconds: float


_decode = kept.SELFCHECK.decoder(Check)


class History:
    """A file of JSON lines, always rewritten as a whole. Unreadable lines are skipped."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.checks: list[Check] = []
        try:
            lines = file.read_bytes().splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            log.error("no earlier self-check is known: %s", error)
            return
        for line in lines[-KEPT:]:
            try:
                self.checks.append(_decode(line))
            except msgspec.DecodeError:
                log.warning("a line of %s can't be read, and is dropped", file)

    def add(self, check: Check) -> None:
        """Append the check, and write it to the disk if possible."""
        self.checks = [*self.checks, check][-KEPT:]
        try:
            write_whole(self._file, b"".join(kept.SELFCHECK.encode(known) + b"\n" for known in self.checks))
        except OSError as error:
            log.error("the self-check's result is not kept: %s", error)


class SelfChecker:
    """Runs a check every `hours`, counted from the last check in the history, even one by an earlier process."""

    def __init__(
        self,
        speaker: Speaker,
        hours: float,
        history: History,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        """`clock` gives Unix time; `timer` measures."""
        self._speaker = speaker
        self._period = hours * 3600
        self._history = history
        self._clock = clock
        self._sleep = sleep
        self._timer = timer

    async def run(self) -> None:
        while True:
            await self._sleep(self._due_in())
            while (check := await self._speak()) is None:
                pass
            self._history.add(check)
            self._judge(check)

    def _due_in(self) -> float:
        last = max((check.at for check in self._history.checks), default=None)
        if last is None:
            return 0.0
        # A clock that was set back must not postpone the check for ever.
        return min(max(last + self._period - self._clock(), 0.0), self._period)

    async def _speak(self) -> Check | None:
        """Speak the text; None if a listener came or no engine speaks: the check is tried again when nobody listens."""
        await self._speaker.idle()
        engine = self._speaker.engine
        if engine is None:
            return None
        voice = parse_voice(engine.default_voice, engine.voices)
        request = SpeechRequest(
            "selfcheck",
            TEXT,
            voice,
            language_of(voice, engine.voices),
            1.0,
            client="selfcheck",
            urgency=Urgency.IDLE,
            fresh=True,
        )
        started = self._timer()
        first, samples = 0.0, 0
        try:
            with closing(self._speaker.open(request)) as stream:
                async for piece in stream:
                    first = first or self._timer() - started
                    samples += len(piece)
            if not samples:
                raise Unspeakable("no sound came")
        except (Unavailable, Overloaded):
            return None
        except SpeechError as error:
            log.error("the self-check failed: %s", error)
            await self._sleep(self._period)
            return None
        seconds = self._timer() - started
        return Check(self._clock(), identity(engine), seconds * engine.sample_rate / samples, first)

    def _judge(self, check: Check) -> None:
        compared = self._comparison()
        log.info(
            "self-check: real-time factor %.3f, first audio after %.3f s%s",
            check.real_time_factor,
            check.first_audio_seconds,
            f", {compared.ratio:.2f} times the median before" if compared else "",
        )
        if compared and compared.slower:
            log.warning("the self-check is %.2f times slower than those before it", compared.ratio)

    def _compared(self) -> list[Check]:
        """The last check and the same engine's checks before it, the oldest first."""
        if not self._history.checks:
            return []
        engine = self._history.checks[-1].engine
        return [check for check in self._history.checks if check.engine == engine][-COMPARED - 1 :]

    @property
    def ratio(self) -> float | None:
        """The last real-time factor divided by the median of earlier ones; None while there are too few."""
        compared = self._comparison()
        return compared.ratio if compared else None

    def _comparison(self) -> Comparison | None:
        *earlier, last = [check.real_time_factor for check in self._compared()] or [0.0]
        return Comparison(last, median(earlier)) if len(earlier) >= ENOUGH else None

    def report(self) -> report.SelfCheck | None:
        """The last check for `/status`; None before the first."""
        checks = self._compared()
        if not checks:
            return None
        last, ratio = checks[-1], self.ratio
        return report.SelfCheck(
            datetime.fromtimestamp(last.at, UTC).isoformat(timespec="seconds"),
            round(last.real_time_factor, 4),
            round(last.first_audio_seconds, 4),
            len(checks),
            UNSET if ratio is None else round(ratio, 3),
        )

    def readings(self) -> Iterator[Reading]:
        """The last check for `/metrics`."""
        if checks := self._compared():
            yield "selfcheck_real_time_factor", (), checks[-1].real_time_factor
            yield "selfcheck_first_audio_seconds", (), checks[-1].first_audio_seconds
        if (ratio := self.ratio) is not None:
            yield "selfcheck_regression_ratio", (), ratio
