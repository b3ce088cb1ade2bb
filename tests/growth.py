"""Whether the time that a piece of work takes grows with its length, or with the square of it."""

from __future__ import annotations

import time
from collections.abc import Callable

_TIMES = 10
_ATTEMPTS = 8


def grows_with_the_length(work: Callable[[int], object], length: int) -> bool:
    """True if ten times `length` takes less than 40 times as long; with the square of it, it would take 100 times.

    The quickest of several attempts counts on either side, because other processes, the garbage collector and the
    processor's clock only ever make one of them slower. Attempts end with the first that shows it.
    """
    short, long = [], []
    for _ in range(_ATTEMPTS):
        short.append(_seconds(work, length))
        long.append(_seconds(work, _TIMES * length))
        if min(long) < 4 * _TIMES * min(short) + 0.01:
            return True
    return False


def _seconds(work: Callable[[int], object], length: int) -> float:
    started = time.thread_time()
    work(length)
    return time.thread_time() - started
