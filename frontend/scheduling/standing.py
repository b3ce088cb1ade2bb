"""The engine that can speak now, or the reason why none can."""

from __future__ import annotations

import asyncio

from frontend.scheduling.idle_unload import IdleUnload
from frontend.scheduling.shared import Shared
from shm.engine_info import EngineInfo
from shm.situation import Situation

FATAL = "fatal"
"""`Situation.worker_state` of a worker that is not started again."""


class EngineStanding:
    """The supervisor's last report on the workers, combined with the connected links."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self.situation = Situation("starting", "the worker is starting", {})
        self._unload = IdleUnload(shared.settings.idle_unload, shared.tell)
        self.idle = asyncio.Event()
        """Event that is set while an engine can speak and no stream is open."""

    @property
    def engine(self) -> EngineInfo | None:
        """The engine that speaks, or did a moment ago and is being restarted: requests that arrive meanwhile wait."""
        return None if self.is_fatal else self._shared.links.voice

    @property
    def reason(self) -> str:
        """Implements `Speaker.reason`."""
        return "" if self._shared.links.current else self.situation.reason

    @property
    def retry_after(self) -> float:
        """Implements `Speaker.retry_after`."""
        return 30.0 if self.is_fatal else 1.0

    @property
    def is_fatal(self) -> bool:
        """True if no worker will be started again."""
        return self.situation.worker_state == FATAL

    @property
    def lost_slots(self) -> list[int]:
        """Slots whose worker is not started again."""
        workers = (process for process in self.situation.processes if process.role == "worker")
        return [process.slot or 0 for process in workers if process.state == FATAL]

    def pid_of(self, generation: int) -> int | None:
        """The worker's process id from the supervisor's report; None if the report lacks it."""
        workers = (process for process in self.situation.processes if process.role == "worker")
        return next((process.pid for process in workers if process.generation == generation), None)

    def look(self) -> None:
        """Set or clear `idle`. Call it after a stream or a link is added or removed."""
        if self._shared.links.current and self.engine and not self._shared.streams:
            self.idle.set()
            self._unload.idle()
        else:
            self.idle.clear()
            self._unload.busy(bool(self._shared.streams))

    def follow(self, situation: Situation) -> None:
        """Take in the supervisor's report. The engines of resting workers count as engines that speak: a request
        starts them."""
        self.situation = situation
        for slot, engine in situation.resting.items():
            self._shared.links.remember(slot, engine)
