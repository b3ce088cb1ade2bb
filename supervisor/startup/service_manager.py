"""Duties to the service manager that started a server: telling it the state, and keeping the log file small.

It tells by the protocol of sd_notify(3): a notification is a datagram of `NAME=value` lines to the socket that
`NOTIFY_SOCKET` names. launchd appends standard error to a log file that it never rotates.
"""

from __future__ import annotations

import fcntl
import logging
import math
import os
import shutil
import socket
import time
from collections.abc import Callable, MutableMapping
from pathlib import Path

from supervisor.processes.children import KILL_GRACE
from supervisor.processes.standing import Phase, Standing
from supervisor.processes.timers import Timers


class ServiceManager:
    """Turns the lifecycle's standings into notifications. Without a manager, they are dropped."""

    def __init__(
        self, notifications: Notifications, drain_timeout: Callable[[], float], *, is_update: bool = False
    ) -> None:
        """`is_update`: another version of the server was ready before, so that the watchdog is fed from the start."""
        self._notifications = notifications
        self.watchdog_seconds = notifications.watchdog_seconds or math.inf
        """Seconds within which the manager's watchdog must be fed again."""
        self._drain_timeout = drain_timeout
        self._phase = Phase.STARTING
        self._feeds_early = is_update

    def stands(self, standing: Standing) -> None:
        """Report a standing that differs from the previous one."""
        before, self._phase = self._phase, standing.phase
        fields = self._entering(standing.phase) if standing.phase is not before else {}
        self._notifications.notify(**fields, STATUS=standing.summary)

    def leave(self) -> None:
        """Tell the manager nothing more: another process is the server."""
        self._notifications.silence()

    def answers(self) -> None:
        """Feed the manager's watchdog, if it has one, once the server is ready: no front is silent."""
        if self.watchdog_seconds < math.inf and (self._feeds_early or self._phase is not Phase.STARTING):
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


log = logging.getLogger(__name__)

SEND_SECONDS = 1.0
"""Seconds for which the manager may block the server when its queue is full."""


class Notifications:
    """The connection to the service manager; without a manager, notifications are dropped."""

    def __init__(self, environment: MutableMapping[str, str], pid: int) -> None:
        """The variables are removed from the environment, so that no child process sends notifications."""
        self._address = _address(environment.pop("NOTIFY_SOCKET", ""))
        self.watchdog_seconds = _watchdog(
            environment.pop("WATCHDOG_USEC", ""), environment.pop("WATCHDOG_PID", str(pid)), pid
        )
        """Longest time in seconds between two `WATCHDOG=1`; None if the manager expects none."""
        if self._address is None:
            self.watchdog_seconds = None

    def silence(self) -> None:
        """Send nothing from now on."""
        self._address = None

    def notify(self, **fields: object) -> None:
        """Send the values; line ends become spaces. A failure to deliver is logged, and the server continues."""
        if self._address is None:
            return
        lines = [f"{name}={' '.join(str(value).splitlines())}" for name, value in fields.items()]
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.settimeout(SEND_SECONDS)
            try:
                channel.sendto("\n".join(lines).encode(errors="replace"), self._address)
            except OSError as error:
                log.warning("the service manager can't be told %s: %s", ", ".join(lines), error)


def _address(named: str) -> str | None:
    if not named:
        return None
    if named[0] == "@":
        return f"\0{named[1:]}"  # an abstract socket's name begins with a null byte
    if named[0] != "/":
        log.warning("NOTIFY_SOCKET=%s is neither a path nor an abstract socket: nothing is told to it", named)
        return None
    return named


def _watchdog(microseconds: str, for_pid: str, pid: int) -> float | None:
    if not microseconds or for_pid != str(pid):
        return None
    if not microseconds.isdecimal() or int(microseconds) == 0:
        log.warning("WATCHDOG_USEC=%s is no number of microseconds: no watchdog is fed", microseconds)
        return None
    return int(microseconds) / 1e6


LARGEST = 10_000_000
"""Bytes from which the file is emptied; the file with the suffix `.1` then has them."""

LOOK_EVERY = 600.0
"""Seconds between two looks at the file's size."""


LOG_VARIABLE = "KOKORO_LIVE_SERVICE_LOG"
"""Environment variable with the file's path, in the service's definition."""


def keep_small(path: Path, timers: Timers) -> None:
    """Rotate the log file now and from time to time, if this process's standard error is appended to it."""

    def look() -> None:
        try:
            rotate(path)
        except OSError as error:
            log.warning("%s can't be rotated: %s", path, error.strerror)
        timers.after(LOOK_EVERY, look)

    if _is_standard_error(path):
        look()


def _is_standard_error(path: Path) -> bool:
    """True if standard error is that file, and every write to it goes to the file's end."""
    try:
        same = os.path.samestat(os.fstat(2), path.stat())
        return same and bool(fcntl.fcntl(2, fcntl.F_GETFL) & os.O_APPEND)
    except OSError:
        return False


def rotate(path: Path, largest: int = LARGEST) -> None:
    """Move the lines of a file of `largest` bytes or more into the file `.1`, whose own are dropped.

    All processes of a server write to the one open file, so it is copied and emptied in place. A line that is written
    between the copy's last byte and the emptying is lost.

    Raises:
        OSError: there is no room for the copy, or the files can't be used; the log stays as it is.
    """
    if path.stat().st_size < largest:
        return
    unfinished = path.with_name(f"{path.name}.1.part")
    with path.open("r+b") as file, unfinished.open("wb") as earlier:
        shutil.copyfileobj(file, earlier)
        earlier.flush()
        file.truncate(0)
    unfinished.replace(path.with_name(f"{path.name}.1"))
