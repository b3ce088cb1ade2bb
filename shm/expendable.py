"""A helper process that may die: a request in bytes, an answer in bytes, and a new helper after each death.

C code that segfaults on some inputs runs there instead of in a process that others depend on. The helper is two
processes (`shm.expendable_child`): a keeper that has loaded everything and forks, and the fork that answers. A death
of the fork costs another fork, and no start of an interpreter.

```
caller ──requests──► fork (reads, answers, may die)
       ◄──replies───┘  ▲ forks the next one, after writing the caller's token into `replies`
       ──lifeline──► keeper
```

The token is 16 random bytes, with a byte after it for the fork's exit status or signal. The token ends any reply that a
dead fork may have left half-written, so a reply is whole or none.
"""

from __future__ import annotations

import logging
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

log = logging.getLogger(__name__)

HEADER = struct.Struct("!4sIBI")
"""Header of requests and replies: mark, sequence number, kind, and length of the body."""

MARK = b"XPND"
TOKEN_BYTES = 16
ANSWER, ERROR, SERVING = 0, 1, 2
"""Kinds of reply: the target's answer, its exception (name, newline, message), and a fork's process id when it starts.
"""

_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGPROF)
"""Signals that a request brought upon its fork; SIGPROF ends one that used up the processor time it gave itself."""
_READ_BYTES = 1 << 16
_FAILED_STARTS = 3
_LONGEST_PAUSE = 5.0
_LONGEST_START = 30.0
"""Limit in seconds for a helper's start; on an idle machine a start takes 0.1."""

_LOOPS = 1 / 40
"""Processor time in the second half of the timeout, as a share of the timeout, from which a late fork is in an endless
loop. A fork that gets so much finishes any request in the first half; less means that it is stopped or starved."""

_KEEPERS_TURN = 5.0
"""Limit in seconds within which a running keeper forks again."""


class HelperDied(Exception):
    """The request crashed the helper or took too long, or no helper can be started."""


class NoHelper(HelperDied):
    """No helper can be started: its program ends before it takes a request."""


class HelperError(Exception):
    """The target raised an exception; the helper itself is fine."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        """Class name of the target's exception."""


class Expendable:
    """Caller's side of a helper. Thread-safe: requests are answered one after another."""

    def __init__(self, target: str, title: str, timeout: float = 10.0) -> None:
        """Create the caller's side only; the helper starts with `start` or the first `ask`.

        Args:
            target: "package.module:function", which returns a function from bytes to bytes. It runs in the helper.
            title: the helper's process title.
            timeout: seconds after which a helper that hasn't answered is killed, which counts as its death. A request
                needs a small part of them.
        """
        self._target = target
        self._title = title
        self._timeout = timeout
        self.restarted: Callable[[], None] = lambda: None
        """Callback after each death of a helper, called by the thread that noticed the death."""
        self._asking = threading.Lock()
        self._state = threading.Condition()
        self._link: _Link | None = None
        self._retired: list[_Link] = []
        """Links whose keeper has ended while a request may still be reading from them."""
        self._failed_starts = 0
        self._keeper: threading.Thread | None = None
        self._sequence = 0
        self._interrupted = False
        self._closed = False

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the running helper; empty before it starts."""
        link = self._link
        return tuple(filter(None, (link.process.pid, link.server))) if link else ()

    def start(self) -> None:
        """Start the helper without waiting for it. Idempotent."""
        with self._state:
            if self._keeper is None:
                # PR_SET_PDEATHSIG follows the thread that started a process, so that thread has to live on.
                self._keeper = threading.Thread(target=self._keep, name=self._title, daemon=True)
                self._keeper.start()

    def ask(self, request: bytes) -> bytes:
        """The target's answer. If the helper is killed from outside, stopped or starved, the request is tried once
        more.

        Raises:
            HelperDied: the helper crashed or looped, or was killed or late both times.
            NoHelper: it can't be started.
            HelperError: the target raised an exception.
        """
        self.start()
        with self._asking:
            self._interrupted = False
            tries = 2
            struck: _Link | None = None
            while tries:
                tries -= 1
                link = self._started()
                self._sequence = (self._sequence + 1) & 0xFFFF_FFFF
                try:
                    return link.ask(self._sequence, request, self._timeout)
                except _Gone as end:
                    if struck is link and link.ended and not self._interrupted:
                        # The killed fork had read half a request; its successor found the rest and gave up.
                        tries += 1
                        continue
                    struck = link
                    self.restarted()
                    if self._interrupted or end.signal in _CRASHES:
                        reason = "interrupted" if self._interrupted or not end.signal else end.signal.name
                        raise HelperDied(f"{self._title}: {reason}") from None
                except TimeoutError as error:
                    struck = link
                    link.end_server()
                    self.restarted()
                    if link.looped or not tries:
                        raise HelperDied(f"{self._title} took over {self._timeout:g} s for one request") from error
        if not link.server:
            raise NoHelper(f"{self._title} can't be started")
        raise HelperDied(f"{self._title} ended twice during one request")

    def interrupt(self) -> None:
        """Kill the fork that is answering: the pending `ask` raises `HelperDied`, unless it has the answer already."""
        self._interrupted = True
        if link := self._link:
            link.kill_server()

    def close(self) -> None:
        """End the helper. No request may follow."""
        with self._state:
            self._closed = True
            self._state.notify_all()
            keeper, self._keeper = self._keeper, None
            if self._link:
                self._link.process.kill()
        if keeper is not None:
            keeper.join()
        with self._asking:
            while self._retired:
                self._retired.pop().close()

    def _started(self) -> _Link:
        while self._retired:
            self._retired.pop().close()
        with self._state:
            self._state.wait_for(lambda: self._usable() or self._failed_starts >= _FAILED_STARTS, _LONGEST_START)
            if self._link is None or not self._usable():
                raise NoHelper(f"{self._title} can't be started")
            return self._link

    def _usable(self) -> bool:
        return self._link is not None and not self._link.ended

    def _wanted(self) -> bool:
        return not self._closed

    def _keep(self) -> None:
        while self._wanted():
            try:
                link = _Link(self._target, self._title)
            except OSError as error:  # the system has no descriptor, process or memory left just now
                self._pause_after_failure(f"can't be started ({error})")
                continue
            with self._state:
                self._link = link
                self._state.notify_all()
                if not self._wanted():  # `close` has found no link to end
                    link.process.kill()
            status = link.process.wait()
            with self._state:
                self._link = None
            self._retired.append(link)
            if link.served:
                self._failed_starts = 0
                if self._wanted():
                    log.warning("%s ended with status %d and is started again", self._title, status)
            else:
                self._pause_after_failure(f"ended with status {status} before it served")

    def _pause_after_failure(self, what: str) -> None:
        """Count a start that failed, and wait longer after each; `close` ends the wait."""
        with self._state:
            self._failed_starts += 1
            self._state.notify_all()
            if not self._closed:
                log.warning("%s %s; it is tried again", self._title, what)
            self._state.wait_for(lambda: self._closed, min(0.1 * 2**self._failed_starts, _LONGEST_PAUSE))


class _Gone(Exception):
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


class _Link:
    """One keeper process and the pipes to it."""

    def __init__(self, target: str, title: str) -> None:
        self.served = False
        """True if the helper has answered a request."""
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
            _Gone: the fork ended.
            HelperError: the target raised an exception.
            TimeoutError: no answer came in time.
        """
        try:
            if not self.server:
                self.server = int(self._frame(time.monotonic() + _LONGEST_START)[2])
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
            raise _Gone from None

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
        except _Gone:
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
                    raise _Gone(number)
                self._searched = died
            _await(self._replies, select.POLLIN, deadline)
            more = os.read(self._replies, _READ_BYTES)
            if not more:
                self.ended = True
                raise _Gone
            self._buffer += more

    def _died_at(self, end: int) -> int:
        """Index at which the token begins within the buffer's first `end` characters, or -1."""
        place = self._buffer.find(self._token, max(0, self._searched - TOKEN_BYTES), end)
        self._searched = end if place < 0 else 0
        return place
