"""Utterances of espeak-ng that end early."""

import threading
from contextlib import contextmanager

import pytest

from tests.worker.espeak_speech import FOX, one, spoken
from worker.engine import Cancelled, RunControl, Utterance
from worker.engines.espeak import EspeakEngine


@pytest.fixture(scope="module")
def engine():
    return EspeakEngine()


def test_an_utterance_that_was_cancelled_before_it_began(engine):
    utterance = Utterance(FOX, "en-us", one("af_heart"), 1.0)
    utterance.control.cancel()
    with pytest.raises(Cancelled):
        next(engine.begin(utterance))
    assert len(spoken(engine, FOX)) > 24_000, "the next one is spoken"


def test_an_utterance_is_cancelled_while_it_is_spoken(engine):
    """Cancel as from another thread, as soon as the library speaks."""

    class SetWhenStoppable(RunControl):
        @contextmanager
        def stopping(self, stop):
            with super().stopping(stop):
                listener_leaves = threading.Thread(target=self.cancel)
                listener_leaves.start()
                yield
                listener_leaves.join()

    control = SetWhenStoppable()
    with pytest.raises(Cancelled):
        next(engine.begin(Utterance("wonderful " * 100, "en-us", one("af_heart"), 1.0, control=control)))
    assert len(spoken(engine, FOX)) > 24_000, "the next one is spoken"


def test_closing_early(engine):
    never_begun = engine.begin(Utterance(FOX, "en-us", one("af_heart"), 1.0))
    never_begun.close()
    after_one = engine.begin(Utterance(FOX, "en-us", one("af_heart"), 1.0))
    next(after_one)
    after_one.close()
    assert list(never_begun) == list(after_one) == []
