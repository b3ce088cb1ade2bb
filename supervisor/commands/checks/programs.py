"""Checks of other programs: the one that uses the port, and other servers of this user."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psutil

from supervisor.commands.checks.finding import Circumstances, Finding, ok, warning

TITLE = "kokoro-live: supervisor"


def listening_on(port: int) -> str:
    """The program that listens on a port, with its pid; empty if it isn't visible (another user's).

    Connections are read process by process, because macOS shows all of them at once only to root.
    """
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if listens(process, port):
                return f"{_title(process)} (pid {process.pid})"
    return ""


def listens(process: psutil.Process, port: int | None) -> bool:
    """True if the process listens on that TCP port.

    Raises:
        psutil.Error: the process is gone, or another user's.
    """
    return any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in process.net_connections("tcp"))


def supervisors() -> Iterator[psutil.Process]:
    """The supervisors of this user's servers, including those that this process started."""
    user = psutil.Process().username()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if _title(process).startswith(TITLE) and process.username() == user:
                yield process


def other_servers(_: Circumstances) -> Finding:
    """Check for other running servers. They may be intended, each with a port, a name and a model of its own."""
    running = [f"pid {process.pid} on {_address(process)}" for process in supervisors()]
    if len(running) < 2:
        return ok("one server runs" if running else "none runs")
    return warning(
        f"{len(running)} servers run, each with a model of its own in memory: {', '.join(running)}",
        "Unless that is meant, end one (kill PID); if it comes back at login, kokoro-live uninstall-service.",
    )


def _title(process: psutil.Process) -> str:
    return " ".join(process.cmdline()).strip() or str(process.name())


def _address(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        for one in process.net_connections("tcp"):
            if one.status == psutil.CONN_LISTEN:
                return f"{one.laddr.ip}:{one.laddr.port}"
    return "an address that can't be seen"
