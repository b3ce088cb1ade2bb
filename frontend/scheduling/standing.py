"""The engine that can speak now, or the reason why none can."""

from __future__ import annotations

import asyncio
import math
import time

from frontend.contract.countdown import Countdown
from frontend.scheduling.shared import Shared
from shm.engine_info import EngineInfo
from shm.messages import WorkersNeeded
from shm.situation import Situation

FATAL = "fatal"
"""`Situation.worker_state` of a worker that is not started again for minutes."""


class EngineStanding:
    """The supervisor's last report on the workers, combined with the connected links.

    Tells the supervisor when the workers may rest, because no stream has been open for `--idle-unload`, and when they
    are needed again. A stream is open from its request until its listener has taken the last sample or has left. A
    paused listener, a clip and a self-check keep the workers.
    """

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self.situation = Situation("starting", "the worker is starting", {})
        self._countdown = Countdown(self._rest)
        """Runs while a worker speaks and no stream is open."""
        self._needed: bool | None = None
        """The last message to the supervisor; None before the first."""
        self.idle = asyncio.Event()
        """Event that is set while an engine can speak and no stream is open."""
        self.speaks = asyncio.Event()
        """Event that is set while an engine can speak."""

    @property
    def engine(self) -> EngineInfo | None:
        """The engine that speaks, or did a moment ago and is being restarted: requests that arrive meanwhile wait."""
        return None if self.is_fatal else self._shared.links.best_engine

    @property
    def reason(self) -> str:
        if self._shared.links.current:
            return ""
        reason, seconds = self.situation.reason, self._next_try
        return reason if seconds is None else f"{reason}; the next try is in {math.ceil(seconds)} s"

    @property
    def retry_after(self) -> float:
        return max(self._next_try or 0.0, 1.0)

    @property
    def is_fatal(self) -> bool:
        """True if no worker will be started again soon."""
        return self.situation.worker_state == FATAL

    @property
    def _next_try(self) -> float | None:
        """Seconds until a worker is started again, if none is before; None if one can speak or is being started."""
        tries = (report.next_start for report in self.situation.processes if report.role == "worker")
        known = [moment for moment in tries if moment is not None]
        return max(min(known) - time.monotonic(), 0.0) if self.is_fatal and known else None

    @property
    def lost_slots(self) -> list[int]:
        """Slots whose worker is not started again soon."""
        workers = (process for process in self.situation.processes if process.role == "worker")
        return [process.slot or 0 for process in workers if process.state == FATAL]

    def pid_of(self, generation: int) -> int | None:
        """The worker's process id from the supervisor's report; None if the report lacks it."""
        workers = (process for process in self.situation.processes if process.role == "worker")
        return next((process.pid for process in workers if process.generation == generation), None)

    def look(self) -> None:
        """Set or clear `idle`. Call it after a stream or a link is added or removed."""
        speaks = bool(self._shared.links.current and self.engine)
        (self.speaks.set if speaks else self.speaks.clear)()
        if speaks and not self._shared.streams:
            self.idle.set()
            if self._shared.settings.idle_unload and not self._countdown.running:
                self._countdown.start(self._shared.settings.idle_unload)
        else:
            self.idle.clear()
            self._countdown.stop()
            if self._shared.streams and self._needed is not True:
                self._tell_needed(True)

    def _rest(self) -> None:
        self._tell_needed(False)
        self.look()  # the supervisor doesn't follow while another front still finishes its streams

    def _tell_needed(self, needed: bool) -> None:
        self._needed = needed
        self._shared.tell(WorkersNeeded(needed))

    def follow(self, situation: Situation) -> None:
        """Take in the supervisor's report. The engines of workers that rest or are being started count as engines that
        speak: requests wait for them."""
        self.situation = situation
        for slot, engine in situation.returning.items():
            self._shared.links.remember(slot, engine)
