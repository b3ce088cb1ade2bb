"""Ends by a signal that leave nothing behind: `finally` blocks run before the process ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """A signal came. Raised wherever the main thread is, so that every `finally` on the way is run.

    That must not be in an event loop, which may take it for a failed connection: loops belong in other threads.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def tidied_up_when_killed() -> Iterator[None]:
    """Leave the block by `Interrupted` when a signal says to end; then end by that very signal, as a shell expects.

    The process doesn't wait for its threads then. Signals that are ignored (by nohup, say) stay so. A second signal
    doesn't wait for anything.
    """
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}

    def interrupt(number: int, _frame: FrameType | None) -> None:
        for handled in before:
            signal.signal(handled, signal.SIG_DFL)
        raise Interrupted(number)

    for number in before:
        signal.signal(number, interrupt)
    try:
        yield
    except Interrupted as interrupted:
        die_of(interrupted.number)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def die_of(number: int) -> None:
    """End this process as that signal does by default: no exit handler runs, nothing more is written."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
