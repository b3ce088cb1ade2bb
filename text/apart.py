"""Reading of long texts in a helper process, so that no rule's time on a text holds up the process that serves others.

One call of `re` holds the interpreter's lock until it ends. Prose of up to `AT_ONCE` characters ends in time whatever
the rule; a longer text, or one with a run that no prose has, is read by `shm.expendable`'s helper, where each step has
a limit of processor time, which a busy machine doesn't shorten. What the helper yields comes back in batches that grow,
so the first sentence comes at once.

```
caller ──(number, how many were given, work)──► helper: goes on with that iterator, or makes it and skips those
       ◄──(items, whether it ended, the exception that ended it)──┘
```
"""

from __future__ import annotations

import itertools
import pickle
import re
import signal
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, ParamSpec, TypeVar

from shm.expendable import Expendable, HelperDied
from shm.expendable_child import forked
from shm.in_flight import resting

AT_ONCE = 2_000
"""Most characters that are read in the calling thread: a rule of quadratic time takes 0.1 s for them."""

_RUN = re.compile(r"(.{1,4}?)\1{24}|\S{160}", re.DOTALL)
"""A sign or a few repeated, or a word of great length: expressions of more than linear time need one."""

_STEP_SECONDS = 2.0
_STEP_SECONDS_PER_CHARACTER = 3e-5
"""Limit of processor time for one step. A paragraph of 100,000 characters, which is one, takes 0.6 s."""

_LONGEST_BATCH = 64

_TIMEOUT = 60.0
"""Seconds after which a helper that has used up no processor time is taken for stopped."""

_P = ParamSpec("_P")
_Item = TypeVar("_Item")

_numbers = itertools.count()


class HelpersOrder(NamedTuple):
    number: int
    given: int
    """Items that the caller has."""
    most: int
    """Most items to give."""
    limit: float
    """Processor seconds for each item."""
    work: bytes
    """The pickled function and its arguments; empty if the helper is to know them."""


@dataclass(frozen=True, slots=True)
class HelpersError:
    """An exception, whose class may take other arguments than those that pickle would give it."""

    kind: type[Exception]
    arguments: tuple[Any, ...]
    state: dict[str, Any]
    trace: str

    @classmethod
    def of(cls, error: Exception) -> HelpersError:
        trace = "".join(traceback.format_tb(error.__traceback__)).rstrip()
        return cls(type(error), error.args, dict(error.__dict__), f"in the helper:\n{trace}")

    def error(self) -> Exception:
        made = self.kind.__new__(self.kind, *self.arguments)
        made.args = self.arguments
        made.__dict__.update(self.state)
        made.add_note(self.trace)
        return made


def may_take_long(text: str) -> bool:
    """True if a text is read by the helper."""
    return len(text) > AT_ONCE or _RUN.search(text) is not None


class Apart:
    """Caller's side. Thread-safe; without `start` everything is done by the calling thread."""

    def __init__(self) -> None:
        self._helper: Expendable | None = None
        self._forked: Expendable | None = None

    def start(self, restarted: Callable[[], None] = lambda: None) -> None:
        """Use a helper process from now on; the first long text starts it.

        Args:
            restarted: callback after each death of the helper.
        """
        self._helper = self._forked or _helper()
        self._helper.restarted = restarted

    def fork(self) -> None:
        """Make the helper a fork of this process, as `Expendable.fork`. `start` follows."""
        self._forked = _helper()
        self._forked.fork(forked)

    def stop(self) -> None:
        if helper := self._helper:
            self._helper = None
            helper.end_helper()

    @property
    def pids(self) -> tuple[int, ...]:
        return self._helper.pids if self._helper else ()

    def result(self, text: str, function: Callable[_P, _Item], *args: _P.args, **named: _P.kwargs) -> _Item:
        """The function's result, which reads that text. Function, arguments and result must be picklable.

        Raises:
            HelperDied: the function takes too long, or crashes.
            Exception: the function's own.
        """
        if (helper := self._for(text)) is None:
            return function(*args, **named)
        found: list[_Item] = list(_asked_items(helper, len(text), _alone, function, args, named))
        return found[0]

    def items(
        self, text: str, function: Callable[_P, Iterator[_Item]], *args: _P.args, **named: _P.kwargs
    ) -> Iterator[_Item]:
        """The items of a function's iterator, as `result`. Equal arguments must give equal items."""
        if (helper := self._for(text)) is None:
            return function(*args, **named)
        return _asked_items(helper, len(text), function, *args, **named)

    def _for(self, text: str) -> Expendable | None:
        return self._helper if may_take_long(text) else None


def _helper() -> Expendable:
    return Expendable("text.passages:answering", "kokoro-live: reader", _TIMEOUT)


def _alone(function: Callable[..., _Item], args: tuple[Any, ...], named: dict[str, Any]) -> Iterator[_Item]:
    yield function(*args, **named)


def _asked_items(
    helper: Expendable, length: int, function: Callable[_P, Iterator[_Item]], *args: _P.args, **named: _P.kwargs
) -> Iterator[_Item]:
    work = pickle.dumps((function, args, named))
    order = HelpersOrder(next(_numbers), 0, 1, _STEP_SECONDS + length * _STEP_SECONDS_PER_CHARACTER, work)
    singly = 0
    """Items up to which each is asked for alone, because the helper died of one of them."""
    while True:
        try:
            found = _asked(helper, order)
            if found is None:  # forgotten, or the helper was killed from outside
                found = _asked(helper, order._replace(work=work))
        except HelperDied:
            if not helper.pids:  # it can't be started
                yield from itertools.islice(function(*args, **named), order.given, None)
                return
            if order.most == 1:
                raise
            singly = order.given + order.most
            order = order._replace(most=1, work=work)
            continue
        items, ended, failure = found
        yield from items
        if failure:
            raise failure.error()
        if ended:
            return
        given = order.given + len(items)
        order = order._replace(given=given, most=1 if given < singly else min(2 * order.most, _LONGEST_BATCH), work=b"")


apart = Apart()
"""The process's own."""


def _asked(helper: Expendable, order: HelpersOrder) -> Any:
    with resting():
        answer = helper.ask(pickle.dumps(order))
    return pickle.loads(answer)


_MOST_OPEN = 64
"""Iterators that are kept; a forgotten one is made again, and skips what was given."""


def answering() -> Callable[[bytes], bytes]:
    """The target, which runs in the helper."""
    kept: OrderedDict[int, Iterator[Any]] = OrderedDict()

    def answer(request: bytes) -> bytes:
        order: HelpersOrder = pickle.loads(request)
        try:
            return pickle.dumps(_done(order, kept))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    return answer


Given = tuple[list[Any], bool, HelpersError | None]
"""Items, whether there are no more, and the exception that ended them."""


def _done(order: HelpersOrder, kept: OrderedDict[int, Iterator[Any]]) -> Given | None:
    """None: the order's iterator isn't known."""
    signal.setitimer(signal.ITIMER_PROF, order.limit)  # whose signal ends the process, in the middle of any call
    items: list[Any] = []
    try:
        iterator = kept.pop(order.number, None)
        if iterator is None:
            if not order.work:
                return None
            function, args, named = pickle.loads(order.work)
            iterator = itertools.islice(function(*args, **named), order.given, None)
        for item in itertools.islice(iterator, order.most):
            items.append(item)
            signal.setitimer(signal.ITIMER_PROF, order.limit)
    except Exception as error:
        return items, True, HelpersError.of(error)
    ended = len(items) < order.most
    if not ended:
        kept[order.number] = iterator
        if len(kept) > _MOST_OPEN:
            kept.popitem(last=False)
    return items, ended, None
