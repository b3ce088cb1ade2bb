"""Flushes: each is reported once, after its audio, if its client wants to hear of it."""

from frontend.contexts.context import Flushes
from frontend.contexts.events import Flushed
from frontend.contexts.journal import Settled


def test_flushes_are_reported_in_order_and_once() -> None:
    flushes = Flushes(Settled())
    for report in (True, False, True, True):
        flushes.add(report)
    assert list(flushes.reach(1)) == [Flushed(1)]
    assert list(flushes.reach(1)) == []
    assert list(flushes.reach(3)) == [Flushed(2)], "an unreported flush has no number"
    assert flushes.reached == 3
    assert list(flushes.reach(4)) == [Flushed(3)]
