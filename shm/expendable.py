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
import signal
import threading
from collections.abc import Callable

from shm.expendable_link import LONGEST_START, Gone, HelperLink, Keeper

log = logging.getLogger(__name__)

_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGPROF)
"""Signals that a request brought upon its fork; SIGPROF ends one that used up the processor time it gave itself."""
_FAILED_STARTS = 3
_LONGEST_PAUSE = 5.0


class HelperDied(Exception):
    """The request crashed the helper or took too long, or no helper can be started."""


class NoHelper(HelperDied):
    """No helper can be started: its program ends before it takes a request."""


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
        self._link: HelperLink | None = None
        self._forked: HelperLink | None = None
        """A helper that was forked, until it is in use."""
        self._retired: list[HelperLink] = []
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

    def fork(self, forked: Keeper) -> None:
        """Make the helper a fork of this process, which must have one thread. `start` follows.

        Args:
            forked: `shm.expendable_child.forked`.

        Raises:
            OSError: the system has no room for it.
        """
        self._forked = HelperLink(self._target, self._title, forked)

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
            struck: HelperLink | None = None
            while tries:
                tries -= 1
                link = self._started()
                self._sequence = (self._sequence + 1) & 0xFFFF_FFFF
                try:
                    return link.ask(self._sequence, request, self._timeout)
                except Gone as end:
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
            link.served = True  # the end of one that hasn't is a failed start, and three of them refuse a request
            link.kill_server()

    def end_helper(self) -> None:
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

    def _started(self) -> HelperLink:
        while self._retired:
            self._retired.pop().close()
        with self._state:
            self._state.wait_for(lambda: self._usable() or self._failed_starts >= _FAILED_STARTS, LONGEST_START)
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
                link, self._forked = self._forked or HelperLink(self._target, self._title), None
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
