"""Utterances of espeak-ng that end early."""

import pytest

from tests.worker.espeak_speech import FOX, one, spoken
from worker.engine import Cancelled, Utterance
from worker.espeak import EspeakEngine
from worker.espeak_library import EspeakLibrary


@pytest.fixture(scope="module")
def engine():
    return EspeakEngine()


def test_an_utterance_that_was_cancelled_before_it_began(engine):
    utterance = Utterance(FOX, "en-us", one("af_heart"), 1.0)
    utterance.cancellation.set()
    with pytest.raises(Cancelled):
        next(engine.begin(utterance))
    assert len(spoken(engine, FOX)) > 24_000, "the next one is spoken"


def test_an_utterance_is_cancelled_while_it_is_spoken(engine, monkeypatch):
    """As from another thread, when the library has given 3 of its buffers."""
    utterance = Utterance("wonderful " * 100, "en-us", one("af_heart"), 1.0)
    taken = []
    original = EspeakLibrary._take

    def take(self, samples, count, events):
        taken.append(count)
        if len(taken) == 3:
            utterance.cancellation.set()
        return original(self, samples, count, events)

    monkeypatch.setattr(EspeakLibrary, "_take", take)
    with pytest.raises(Cancelled):
        next(engine.begin(utterance))
    assert len(taken) < 6


def test_closing_early(engine):
    never_begun = engine.begin(Utterance(FOX, "en-us", one("af_heart"), 1.0))
    never_begun.close()
    after_one = engine.begin(Utterance(FOX, "en-us", one("af_heart"), 1.0))
    next(after_one)
    after_one.close()
    assert list(never_begun) == list(after_one) == []
