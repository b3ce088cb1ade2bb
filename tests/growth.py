"""The ratio of two pieces of work's times, on a machine that others use as well."""

import math
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator

_LONG, _SHORT = 4, 3
"""The long piece of work has four times the length, the short one a third of it."""
_TIMES = _LONG * _SHORT
_ATTEMPTS = 8


def grows_with_the_length(work: Callable[[int], object], length: int) -> bool:
    """True if four times `length` takes less than 27 times as long as a third of `length`, of which it is 12 times;
    with the square of it, it would take 144 times.

    The quickest of several attempts counts on either side, because other processes, the garbage collector and the
    processor's clock only ever make one of them slower. Attempts end with the first that shows it.
    """
    short, long = [], []
    for _ in range(_ATTEMPTS):
        short.append(_seconds(work, length // _SHORT))
        long.append(_seconds(work, _LONG * length))
        if min(long) < 2.25 * _TIMES * min(short) + 0.008:
            return True
    return False


def first_takes_a_fraction(items: Callable[[], Iterator[object]], fraction: float) -> bool:
    """True if the first item takes less than that part of the time that all of them take.

    The quickest of several attempts counts on either side, as above.
    """
    first, whole = [], []
    for _ in range(_ATTEMPTS):
        started = time.thread_time()
        rest = items()
        next(rest)
        first.append(time.thread_time() - started)
        deque(rest, maxlen=0)
        whole.append(time.thread_time() - started)
        if min(first) < fraction * min(whole):
            return True
    return False


def _seconds(work: Callable[[int], object], length: int) -> float:
    started = time.thread_time()
    work(length)
    return time.thread_time() - started


def limited_seconds(run: Callable[[], object], limit: float = 4.0) -> float:
    """Processor seconds of some work; infinity if it is interrupted because it has taken `limit` seconds. Calls of `re`
    can be interrupted so, by signals only."""

    def interrupt(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, limit)
    started = time.thread_time()
    try:
        run()
    except TimeoutError:
        return math.inf
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return time.thread_time() - started
