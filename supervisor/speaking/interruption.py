"""Clean ends by a signal: `finally` blocks run before the process ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EndedByUser(KeyboardInterrupt):
    """A signal arrived. Raised in the main thread, wherever it is, so that every enclosing `finally` runs.

    The main thread must not be in an event loop then, which may take the exception for a failed connection: loops
    belong in other threads.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def tidied_up_when_killed() -> Iterator[None]:
    """Turn a signal that ends the process into `EndedByUser` within the block, and end by the same signal, as a shell
    expects.

    The process doesn't wait for its threads then. Ignored signals (by nohup, say) stay ignored. A second signal ends
    the process at once.
    """
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}

    def interrupt(number: int, _frame: FrameType | None) -> None:
        for handled in before:
            signal.signal(handled, signal.SIG_DFL)
        raise EndedByUser(number)

    for number in before:
        signal.signal(number, interrupt)
    try:
        yield
    except EndedByUser as interrupted:
        die_of(interrupted.number)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def die_of(number: int) -> None:
    """End this process by that signal's default action: no exit handler runs, and no more output is written."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
