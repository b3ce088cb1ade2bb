"""One life of a helper for `shm.expendable`, as its caller sees it: the keeper's process, and the pipes to it."""

from __future__ import annotations

import os
import secrets
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

HEADER = struct.Struct("!4sIBI")
"""Header of requests and replies: mark, sequence number, kind, and length of the body."""

MARK = b"XPND"
TOKEN_BYTES = 16
ANSWER, ERROR, SERVING = 0, 1, 2
"""Kinds of reply: the target's answer, its exception (name, newline, message), and a fork's process id when it starts.
"""

_READ_BYTES = 1 << 16
LONGEST_START = 30.0
"""Limit in seconds for a helper's start; on an idle machine a start takes 0.1."""

_LOOPS = 1 / 40
"""Processor time in the second half of the timeout, as a share of the timeout, from which a late fork is in an endless
loop. A fork that gets so much finishes any request in the first half; less means that it is stopped or starved."""

_KEEPERS_TURN = 5.0
"""Limit in seconds within which a running keeper forks again."""


class HelperError(Exception):
    """The target raised an exception; the helper itself is fine."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        """Class name of the target's exception."""


Keeper = Callable[[int, int, int, bytes, str, str], int]
"""Starts a keeper: pipes, token, target and title to its process id."""


class Gone(Exception):
    """The fork that had the request ended."""

    def __init__(self, number: int = 0) -> None:
        super().__init__(number)
        self.signal = signal.Signals(number) if number in set(signal.Signals) else None


def _await(fd: int, event: int, deadline: float) -> None:
    """Wait for an event of `select.poll` on a pipe, or for its other end to be closed.

    Raises:
        TimeoutError: the deadline (monotonic seconds) passed before.
    """
    poll = select.poll()  # select.select raises ValueError for descriptors from 1024 on, as busy fronts have them
    poll.register(fd, event)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError


class _Fork:
    """A forked keeper, in the shape of a `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._status: int | None = None
        self._reaping = threading.Lock()

    def kill(self) -> None:
        with self._reaping, suppress(ProcessLookupError):
            if self._status is None:
                os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        if sys.platform == "linux":
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with self._reaping:
            self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            return self._status


class HelperLink:
    """One keeper process and the pipes to it."""

    def __init__(self, target: str, title: str, forked: Keeper | None = None) -> None:
        """`forked`: forks the keeper; None: it is a new interpreter."""
        self.served = False
        """True if the helper has answered a request, or was interrupted."""
        self.ended = False
        """True if both processes are gone."""
        self.looped = False
        """True if the fork computed until the last request's timeout."""
        self.server = 0
        """Process id of the fork, once the fork has sent it; 0 before."""
        self._token = secrets.token_bytes(TOKEN_BYTES)
        self._buffer = bytearray()
        self._searched = 0
        """Number of characters of the buffer that are known to hold no token."""
        with ExitStack() as ours, ExitStack() as theirs:
            self._requests, requests = self._pipe(ours, theirs, written_by_us=True)
            self._replies, replies = self._pipe(ours, theirs, written_by_us=False)
            self._lifeline, lifeline = self._pipe(ours, theirs, written_by_us=True)
            inherited = (requests, replies, lifeline)
            self.process: subprocess.Popen[bytes] | _Fork
            if forked:
                self.process = _Fork(forked(*inherited, self._token, target, title))
            else:
                self.process = subprocess.Popen(
                    [
                        sys.executable,
                        "-m",
                        "shm.expendable_child",
                        *map(str, inherited),
                        self._token.hex(),
                        target,
                        title,
                    ],
                    pass_fds=inherited,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                )
            self.close = ours.pop_all().close

    @staticmethod
    def _pipe(ours: ExitStack, theirs: ExitStack, *, written_by_us: bool) -> tuple[int, int]:
        """A pipe's end for this process and the one for the helper, each closed by its stack."""
        reader, writer = os.pipe()
        mine, other = (writer, reader) if written_by_us else (reader, writer)
        ours.callback(os.close, mine)
        theirs.callback(os.close, other)
        return mine, other

    def ask(self, sequence: int, request: bytes, timeout: float) -> bytes:
        """The answer to a request, within `timeout` seconds; the helper's start doesn't count.

        Raises:
            Gone: the fork ended.
            HelperError: the target raised an exception.
            TimeoutError: no answer came in time.
        """
        try:
            if not self.server:
                self.server = int(self._frame(time.monotonic() + LONGEST_START)[2])
            self.looped, computed = False, None
            deadline = time.monotonic() + timeout
            self._send(HEADER.pack(MARK, sequence, ANSWER, len(request)) + request, deadline)
            while True:
                try:
                    found, kind, body = self._frame(deadline - timeout / 2 if computed is None else deadline)
                except TimeoutError:
                    if computed is None:
                        computed = self._computed()
                        continue
                    self.looped = self._computed() - computed >= _LOOPS * timeout
                    raise
                if kind == SERVING:
                    self.server = int(body)
                elif found == sequence:
                    self.served = True
                    if kind == ERROR:
                        name, _, message = body.decode(errors="replace").partition("\n")
                        raise HelperError(name, message)
                    return body
        except TimeoutError:
            raise
        except OSError:
            self.ended = True
            raise Gone from None

    def _computed(self) -> float:
        """Processor seconds that the fork has used so far."""
        import psutil  # only a late request needs it

        try:
            times = psutil.Process(self.server).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)

    def end_server(self) -> None:
        """Kill a hanging fork and read all its output; kill the keeper too if it forks no successor."""
        self.kill_server()
        try:
            while True:
                self._frame(time.monotonic() + _KEEPERS_TURN)
        except Gone:
            pass
        except OSError:
            self.ended = True
            self.process.kill()

    def kill_server(self) -> None:
        """Kill the fork, or both processes if the fork's process id isn't known yet."""
        with suppress(ProcessLookupError):
            os.kill(self.server or self.process.pid, signal.SIGKILL)

    def _send(self, data: bytes, deadline: float) -> None:
        rest = memoryview(data)
        while rest:
            _await(self._requests, select.POLLOUT, deadline)
            rest = rest[os.write(self._requests, rest[: select.PIPE_BUF]) :]

    def _frame(self, deadline: float) -> tuple[int, int, bytes]:
        while True:
            need = HEADER.size
            if len(self._buffer) >= need:
                mark, sequence, kind, length = HEADER.unpack_from(self._buffer)
                need += length if mark == MARK else 0
                if mark == MARK and len(self._buffer) >= need and self._died_at(need) < 0:
                    body = bytes(self._buffer[HEADER.size : need])
                    del self._buffer[:need]
                    self._searched = 0
                    return sequence, kind, body
            if (died := self._died_at(len(self._buffer))) >= 0:
                ending = died + TOKEN_BYTES
                if len(self._buffer) > ending:
                    number = self._buffer[ending]
                    del self._buffer[: ending + 1]
                    self._searched = 0
                    raise Gone(number)
                self._searched = died
            _await(self._replies, select.POLLIN, deadline)
            more = os.read(self._replies, _READ_BYTES)
            if not more:
                self.ended = True
                raise Gone
            self._buffer += more

    def _died_at(self, end: int) -> int:
        """Index at which the token begins within the buffer's first `end` characters, or -1."""
        place = self._buffer.find(self._token, max(0, self._searched - TOKEN_BYTES), end)
        self._searched = end if place < 0 else 0
        return place
