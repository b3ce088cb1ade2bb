"""The update: a new version takes this process over, while the old one finishes its answers in a fork of it.

```
  SIGUSR2            `Update.begin`: the new version's rehearsal runs as a child, and this version serves on
  it fails           one line in the log; nothing else happens
  it succeeds        fork. The child is the *predecessor*: it goes on as it was, with all processes and connections.
                     This process executes the new version, which gets the listening sockets, and starts its own
  the new one speaks `Said.SERVES`: the predecessor accepts no more, gives back what nobody has read, drains and ends
```

The process id stays, so that service managers, terminals and containers notice nothing. The predecessor isn't the
parent of its processes: their exit statuses go to the new version, which reaps them (`Inheritance.processes`).
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import IO

import msgspec

from shm.decoding import json_decoder
from shm.handover import PROTOCOL, Handover, handover_pair
from supervisor.processes.timers import Timers

VARIABLE = "KOKORO_LIVE_INHERITANCE"
"""Environment variable of a new version that takes a process over, with an `Inheritance` in JSON."""

HANDLED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR2, signal.SIGCHLD)
"""Signals that the supervisor handles. They are blocked from the fork until the new version handles them."""

_ACTIVATION = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")
"""Variables about sockets that a service manager has passed, which the new version gets in another way."""

_NOTIFICATION = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
"""Variables with which the server alone speaks to the service manager."""

REHEARSAL_LIMIT = 420.0
"""Seconds after which a rehearsal is ended: a worker may load for 300 of them."""

log = logging.getLogger(__name__)


class Inheritance(msgspec.Struct, frozen=True, kw_only=True):
    """Resources that the old version leaves to the new one. Descriptors are numbers; unknown fields are ignored."""

    http: int
    wyoming: int | None = None
    tls: int | None = None
    behind_tls: int | None = None
    channels: tuple[int, ...]
    """Channels to predecessors that haven't ended, the newest last (`shm.handover`)."""
    predecessors: tuple[int, ...]
    """Their process ids."""
    processes: tuple[int, ...] = ()
    """Process ids of their processes that this process has started, and must reap."""
    metrics: str = ""
    """The folder of counts; empty if there is none."""
    metrics_lock: int = -1

    @property
    def descriptors(self) -> tuple[int, ...]:
        found = (self.http, self.wyoming, self.tls, self.behind_tls, *self.channels, self.metrics_lock)
        return tuple(each for each in found if each is not None and each >= 0)


def inherited(environment: MutableMapping[str, str]) -> Inheritance | None:
    """The inheritance of a process that takes another version's place; None at an ordinary start.

    Raises:
        msgspec.DecodeError: the variable makes no sense.
    """
    text = environment.pop(VARIABLE, "")
    if not text:
        return None
    found = json_decoder(Inheritance)(text.encode())
    for descriptor in found.descriptors:
        os.set_inheritable(descriptor, False)
    return found


class Predecessors:
    """The earlier versions that still finish their answers, as the new version sees them."""

    def __init__(self, inheritance: Inheritance | None) -> None:
        self.channels = [
            Handover(socket.socket(fileno=number)) for number in (inheritance.channels if inheritance else ())
        ]
        self.living = list(inheritance.predecessors if inheritance else ())
        self.processes = list(inheritance.processes if inheritance else ())

    @property
    def process_ids(self) -> tuple[int, ...]:
        """Process ids of those and of their processes, as far as they aren't reaped."""
        return (*self.living, *self.processes)

    def reap(self) -> None:
        """Reap those that have ended, and their processes."""
        for pids in (self.living, self.processes):
            pids[:] = [pid for pid in pids if _lives(pid)]

    def stop(self) -> None:
        """Have them drain, because the server ends."""
        self._signal(signal.SIGTERM)

    def wait(self, seconds: float) -> None:
        """Wait for their ends, and kill them after so many seconds."""
        give_up = time.monotonic() + seconds
        while self.living and time.monotonic() < give_up:
            time.sleep(0.05)
            self.reap()
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        for pid in self.living:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def _lives(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == 0
    except ChildProcessError:
        return False


class Update:
    """The old version's part: the rehearsal, the fork and the exec."""

    def __init__(
        self,
        command: Sequence[str],
        arguments: Sequence[str],
        environment: Mapping[str, str],
        timers: Timers,
        inheritance: Callable[[Handover], Inheritance],
        become_predecessor: Callable[[Handover], None],
    ) -> None:
        """
        Args:
            command: the command line with which this process was started, up to `serve`, which it leaves out.
            arguments: of `serve`.
            environment: with which this process was started.
            inheritance: what the new version gets; it is given the new version's end of the channel.
            become_predecessor: called in the fork, with its end of the channel.
        """
        self._command = tuple(command)
        self._arguments = tuple(arguments)
        self._environment = {name: value for name, value in environment.items() if name not in _ACTIVATION}
        self._timers = timers
        self._inheritance = inheritance
        self._become_predecessor = become_predecessor
        self._rehearsal: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None

    def begin(self, url: str) -> None:
        """Start the new version's rehearsal. `url`: of this server, whose speech is compared."""
        if self._rehearsal:
            log.info("an update is under way")
            return
        log.info("trying the installed version before it takes this one's place")
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - it is read when the rehearsal has ended
        try:
            rehearsal = subprocess.Popen(
                [*self._command, "rehearse", str(PROTOCOL), url, *self._arguments],
                env={name: value for name, value in self._environment.items() if name not in _NOTIFICATION},
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                start_new_session=True,
            )
        except OSError as error:
            self._said.close()
            self._refuse(str(error))
            return
        self._rehearsal = rehearsal

        def expire() -> None:
            if self._rehearsal is rehearsal:
                log.error("the rehearsal hasn't ended after %g s", REHEARSAL_LIMIT)
                self.cancel()

        self._timers.after(REHEARSAL_LIMIT, expire)

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The process id of a rehearsal that is under way."""
        return (self._rehearsal.pid,) if self._rehearsal else ()

    def cancel(self) -> None:
        """End a rehearsal that is under way."""
        if self._rehearsal:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._rehearsal.pid, signal.SIGKILL)

    def look(self) -> None:
        """Go on if the rehearsal has ended."""
        if self._rehearsal is None or (status := self._rehearsal.poll()) is None:
            return
        self._rehearsal = None
        if status:
            self._refuse(self._last_line() or f"its rehearsal ended with {status}")
        else:
            log.info("%s; it takes this one's place", self._last_line())
            self._hand_over()

    def _last_line(self) -> str:
        assert self._said is not None
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").split("\n")
        self._said.close()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _refuse(self, why: str) -> None:
        log.error("not updated, this version goes on: %s", why)

    def _hand_over(self) -> None:
        ours, theirs = handover_pair()
        failed_read, failed_write = os.pipe()  # the write end closes at the exec
        signal.pthread_sigmask(signal.SIG_BLOCK, HANDLED)
        for output in (sys.stdout, sys.stderr):
            output.flush()
        child = os.fork()
        if not child:
            os.close(failed_write)
            theirs.close()
            if os.read(failed_read, 1):
                os._exit(1)
            os.close(failed_read)
            self._become_predecessor(ours)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDLED)
            return
        ours.close()
        try:
            self._execute(self._inheritance(Handover(theirs)), child)
        except OSError as error:
            os.write(failed_write, b"!")
            os.waitpid(child, 0)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDLED)
            self._refuse(str(error))
        for descriptor in (failed_read, failed_write):
            os.close(descriptor)
        theirs.close()

    def _execute(self, left: Inheritance, predecessor: int) -> None:
        left = msgspec.structs.replace(left, predecessors=(*left.predecessors, predecessor))
        for descriptor in left.descriptors:
            os.set_inheritable(descriptor, True)
        environment = self._environment | {VARIABLE: msgspec.json.encode(left).decode()}
        os.execve(self._command[0], [*self._command, "serve", *self._arguments], environment)
