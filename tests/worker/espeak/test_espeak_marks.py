"""Samples at which espeak-ng's words begin to sound."""

import numpy as np
import pytest

from tests.worker.espeak_speech import FOX, TEXTS, one, spoken
from worker.engine import Utterance
from worker.engines.espeak import EspeakEngine


@pytest.fixture(scope="module")
def engine():
    return EspeakEngine()


def marked(engine, script, language="en-us", speed=1.0, from_sample=0):
    """The marks, and the samples from the utterance's start."""
    asked = Utterance(script, language, one("af_heart"), speed, 0, from_sample, marks=True)
    [block] = engine.begin(asked)
    return list(block.marks), np.concatenate([np.zeros(from_sample, np.int16), block.samples])


def level(samples):
    return np.abs(samples.astype(int)).max()


@pytest.mark.parametrize("speed", [0.25, 0.4, 1.0, 1.7, 2.6, 4.0])
def test_words_are_marked_where_they_sound(engine, speed):
    """Silence lies between "stop" and "Now" at the usual pace and slower, and its borders are marked."""
    script = "Please stop, Now let it go."
    marks, samples = marked(engine, script, speed=speed)
    where = dict(marks)
    pause = [12] if speed <= 1 else []
    assert [place for place, _ in marks] == [0, 7, *pause, 13, 17, 21, 24, 27]
    assert level(samples[where[27] :]) <= 64 < level(samples[where[24] : where[27]])
    if pause:
        assert level(samples[where[12] : where[13]]) < 300 < level(samples[where[7] : where[12]])
        assert where[13] - where[12] > 0.05 * 24_000
    for place, word in ((7, "stop"), (17, "let"), (24, "go")):
        following = min(sample for at, sample in marks if at > place)
        alone = len(spoken(engine, word, speed=speed))
        assert 0.3 * alone < following - where[place] < 1.7 * alone, word


def test_without_being_asked_it_marks_nothing(engine):
    [block] = engine.begin(Utterance(FOX, "en-us", one("af_heart"), 1.0))
    assert block.marks == ()


def test_marks_are_whole_wherever_the_samples_begin(engine):
    assert marked(engine, FOX, from_sample=30_000)[0] == marked(engine, FOX)[0]


@pytest.mark.parametrize("speed", [0.25, 1.0, 4.0])
@pytest.mark.parametrize(
    ("language", "script"),
    [
        *TEXTS.items(),
        ("en-us", '"It costs $5," he said in 2026 (of the year).'),
        ("en-us", "★ ✓"),
        ("en-us", ""),
        ("en-us", " leading and trailing  "),
        ("en-us", "wonderful " * 100),
        ("en-us", "---हह (कुछ)-हह 😀👍🏽 U.S.A. naïve \x00 www.a-b.com/c?d=e"),
    ],
)
def test_marks_rise_and_end_with_the_script(engine, language, script, speed):
    marks, samples = marked(engine, script, language, speed)
    places, at = zip(*marks, strict=True)
    assert list(places) == sorted(set(places)) and list(at) == sorted(at)
    assert marks[-1][0] == len(script) and 0 < marks[-1][1] <= len(samples)
    assert places[0] >= 0 and at[0] >= 0


def test_what_is_read_as_several_words_is_one_written_word(engine):
    marks, _ = marked(engine, "in 2026 a lot")
    assert [place for place, _ in marks] == [0, 3, 4, 8, 10, 13]
    assert marks[3][1] - marks[1][1] > 4 * (marks[1][1] - marks[0][1]), "the whole number"


def test_a_text_that_is_cut_into_pieces_is_marked_through(engine):
    script = "wonderful " * 100
    marks, samples = marked(engine, script)
    begun = [sample for place, sample in marks if place % 10 == 0 and place < len(script)]
    assert len(begun) == 100
    assert np.allclose(np.diff(begun), len(samples) / 100, rtol=0.35)


def test_what_was_rewritten_is_marked_in_the_script(engine):
    """The hyphen next to the bracket is taken out before espeak-ng counts, and a long word gets spaces."""
    script = "say (it)-well " + "x" * 50 + " then"
    marks, _ = marked(engine, script)
    assert {0, script.index("it"), script.index("then"), len(script)} <= {place for place, _ in marks}
