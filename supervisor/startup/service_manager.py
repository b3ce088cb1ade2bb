"""Notifications of the server's state to the service manager (systemd)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from supervisor.processes.children import KILL_GRACE
from supervisor.processes.standing import Phase, Standing
from supervisor.startup.notifications import Notifications


class ServiceManager:
    """Turns the lifecycle's standings into notifications. Without a manager, they are dropped."""

    def __init__(self, notifications: Notifications, drain_timeout: Callable[[], float]) -> None:
        self._notifications = notifications
        self.watchdog_seconds = notifications.watchdog_seconds or math.inf
        """Seconds within which the manager's watchdog must be fed again."""
        self._drain_timeout = drain_timeout
        self._phase = Phase.STARTING

    def stands(self, standing: Standing) -> None:
        """Report a standing that differs from the previous one."""
        before, self._phase = self._phase, standing.phase
        fields = self._entering(standing.phase) if standing.phase is not before else {}
        self._notifications.notify(**fields, STATUS=standing.summary)

    def answers(self) -> None:
        """Feed the manager's watchdog, if it has one, once the server is ready: no front is silent."""
        if self.watchdog_seconds < math.inf and self._phase is not Phase.STARTING:
            self._notifications.notify(WATCHDOG=1)

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
