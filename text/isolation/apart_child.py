"""The helper's side of `text.isolation.apart`: keeps iterators, and ends with a signal where a step takes too long."""

from __future__ import annotations

import itertools
import pickle
import signal
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import text.isolation.passages  # noqa: F401 - loaded before the helper forks
from text.isolation.apart import HelpersError, HelpersOrder

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
