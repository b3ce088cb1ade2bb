"""Notifications of the server's state to the service manager (systemd)."""

from __future__ import annotations

import time
from collections.abc import Callable

from supervisor.processes.nursery import KILL_GRACE
from supervisor.processes.standing import Phase, Standing
from supervisor.processes.watchdog import WatchdogFeed
from supervisor.startup.notifications import Notifications


class ServiceManager:
    """Turns the lifecycle's standings into notifications. Without a manager, they are dropped."""

    def __init__(
        self, notifications: Notifications, watchdog: WatchdogFeed | None, drain_timeout: Callable[[], float]
    ) -> None:
        """`watchdog`: None if the manager has none."""
        self._notifications = notifications
        self._watchdog = watchdog
        self._drain_timeout = drain_timeout
        self._phase = Phase.STARTING

    def stands(self, standing: Standing) -> None:
        """Report a standing that differs from the previous one."""
        before, self._phase = self._phase, standing.phase
        fields = self._entering(standing.phase) if standing.phase is not before else {}
        self._notifications.notify(**fields, STATUS=standing.summary)
        if self._watchdog and standing.phase is Phase.SERVING and before is Phase.STARTING:
            self._watchdog.start()
        elif self._watchdog and standing.phase is Phase.DRAINING:
            self._watchdog.draining()

    def _entering(self, phase: Phase) -> dict[str, object]:
        match phase:
            case Phase.SERVING:
                return {"READY": 1}
            case Phase.RELOADING:
                return {"RELOADING": 1, "MONOTONIC_USEC": time.monotonic_ns() // 1000}
            case Phase.DRAINING:
                # A reload may have given streams more time to finish than the unit's TimeoutStopSec= allows.
                seconds = self._drain_timeout() + 2 * KILL_GRACE
                return {"STOPPING": 1, "EXTEND_TIMEOUT_USEC": int(seconds * 1e6)}
            case Phase.STARTING:
                return {}
