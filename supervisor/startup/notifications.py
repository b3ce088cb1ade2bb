"""Notifications to the service manager that started this process: the protocol of sd_notify(3).

A notification is a datagram of `NAME=value` lines to the socket that `NOTIFY_SOCKET` names.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import MutableMapping

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
