"""Inflections that espeak-ng follows by its own SSML, in its sound."""

import numpy as np
import pytest

from benchmarks.inflections.sounds import level, seconds, semitones, widened
from shm.inflection import InflectedSpan, Inflection
from tests.worker.espeak_speech import FOX, one
from worker.engine import Block, Utterance
from worker.engines.espeak import EspeakEngine


@pytest.fixture(scope="module")
def engine():
    return EspeakEngine()


def said(engine: EspeakEngine, *spans: InflectedSpan, text: str = FOX, voice: str = "af_heart") -> Block:
    [block] = engine.begin(Utterance(text, "en-us", one(voice), 1.0, inflected=spans, marks=True))
    return block


def whole(**inflection) -> InflectedSpan:
    return InflectedSpan(0, len(FOX), Inflection(**inflection))


@pytest.mark.parametrize("voice", ["af_heart", "am_michael"])
def test_pitch_range_volume_and_stretch_are_heard(engine, voice: str) -> None:
    plain = said(engine, voice=voice).samples
    found = {shift: semitones(plain, said(engine, whole(pitch=shift), voice=voice).samples) for shift in (-4, -2, 2, 4)}
    assert found == pytest.approx({shift: shift for shift in found}, abs=0.8)
    flatter = said(engine, whole(range=0.5), voice=voice).samples
    assert widened(plain, flatter) == pytest.approx(0.5, abs=0.15) and abs(semitones(plain, flatter)) < 0.8
    for decibels, within in ((-12, 1), (-6, 1), (3, 1), (6, 2)):  # a limiter keeps the loudest from clipping
        changed = said(engine, whole(volume=decibels), voice=voice).samples
        assert level(changed) - level(plain) == pytest.approx(decibels, abs=within)
        assert np.abs(changed.astype(int)).max() < 30_000
    for factor in (0.8, 1.25):
        slower = said(engine, whole(stretch=factor), voice=voice).samples
        assert seconds(slower) / seconds(plain) == pytest.approx(factor, rel=0.1)


def test_a_word_is_inflected_alone_and_signs_of_ssml_are_text(engine) -> None:
    text = "The brown fox & the <lazy> dog sleep."
    place = text.index("dog")
    plain = said(engine, text=text)
    quiet = said(engine, InflectedSpan(place, place + 3, Inflection(volume=-15)), text=text)
    assert [at for at, _ in quiet.marks] == [at for at, _ in plain.marks]
    begin, end = dict(quiet.marks)[place], dict(quiet.marks)[text.index("sleep")]
    assert level(quiet.samples[begin + 1200 : end - 1200]) < level(plain.samples[begin + 1200 : end - 1200]) - 10
    assert level(quiet.samples[: begin - 1200]) == pytest.approx(level(plain.samples[: begin - 1200]), abs=1)


def test_what_it_cannot_follow_changes_nothing(engine) -> None:
    plain = said(engine)
    same = said(engine, whole(rise=10.0, contour=((0.0, 0.0), (1.0, 4.0))))
    assert np.array_equal(plain.samples, same.samples)
    assert (engine.info.inflects, engine.info.scores) == (True, False)
