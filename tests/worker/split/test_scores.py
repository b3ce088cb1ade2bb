"""Scores between prosody and decoder: what is unchanged stays as it was, to the bit; the rest is as it is written."""

from dataclasses import replace
from unittest.mock import patch

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shm.inflection import InflectedSpan, Inflection
from shm.score import HIGHEST_HERTZ, LEAST_ENERGY, MOST_ENERGY, MOST_UNITS, PhonemeScore, Score, pack, unpack
from tests.worker.split.splitting import SCRIPT, blocks_of, joined, make_engine
from worker.split.gain import Gain
from worker.split.inflections import VOICED, score_of, scored
from worker.split.segments.segment import Prosody
from worker.split.speech import KEPT, SplitSpeech

DURATIONS = np.array([8, 4, 6, 2, 5, 3, 9])
PHONEMES = len(DURATIONS) - 2
PLAIN = Gain(None)


def prosody() -> Prosody:
    frames = 2 * int(DURATIONS.sum())
    random = np.random.default_rng(3)
    pitch = (180 + 40 * np.sin(np.arange(frames) / 9) + random.random(frames)).astype(np.float32)
    pitch[::7] = 3.0  # not voiced
    energy = (5 * random.standard_normal(frames)).astype(np.float32)
    phonemes = np.repeat(np.arange(len(DURATIONS), dtype=np.float32), DURATIONS)
    return Prosody(phonemes[None, None], pitch[None], energy[None], DURATIONS, np.zeros((1, 256)))


def edited(score: Score, place: int, **values: object) -> Score:
    changed = msgspec.structs.replace(score[place], **values)
    return (*score[:place], changed, *score[place + 1 :])


def frames_of(made: Prosody, place: int) -> slice:
    ends = 2 * np.cumsum(made.durations)
    return slice(int(ends[place]), int(ends[place + 1]))


def same(one: Prosody, other: Prosody) -> bool:
    arrays = ((one.text, other.text), (one.f0, other.f0), (one.energy, other.energy), (one.durations, other.durations))
    return all(np.array_equal(before, after) for before, after in arrays)


@pytest.mark.parametrize("score", [(), (PhonemeScore(),) * PHONEMES, score_of(prosody())])
def test_an_unedited_score_changes_no_bit(score: Score) -> None:
    made, gain = scored(prosody(), PLAIN, score)
    assert same(made, prosody()) and gain == PLAIN


def test_a_pitch_is_that_of_its_phoneme_alone() -> None:
    before = prosody()
    score = edited(score_of(before), 1, pitch=(1500, 0, 3000))
    after, _ = scored(before, PLAIN, score)
    inside = frames_of(before, 1)
    made = after.f0[0, inside]
    assert np.isclose(made[:2], 150, rtol=1e-3).all() and not made[4:8].any() and np.isclose(made[-1], 300, rtol=1e-3)
    away = np.ones(before.frames, bool)
    away[inside] = False
    assert np.array_equal(after.f0[0, away], before.f0[0, away])
    high, _ = scored(before, PLAIN, edited(score_of(before), 1, pitch=(9000,)))
    assert 480 < high.f0[0, inside].max() <= HIGHEST_HERTZ + 1, "it bends below the limit of the voice"
    creak, _ = scored(before, PLAIN, edited(score_of(before), 1, pitch=(300,)))
    assert np.allclose(creak.f0[0, inside], 30, rtol=1e-3)


def test_an_energy_and_a_level_are_their_phonemes() -> None:
    before = prosody()
    after, gain = scored(before, PLAIN, edited(edited(score_of(before), 2, energy=(250, 9999)), 4, volume=6.0))
    made = after.energy[0, frames_of(before, 2)]
    assert made[0] == pytest.approx(2.5) and made[-1] == MOST_ENERGY
    assert np.array_equal(after.energy[0, : frames_of(before, 2).start], before.energy[0, : frames_of(before, 2).start])
    assert gain.factors is not None
    loud = frames_of(before, 4)
    assert np.allclose(gain.factors[loud.start + 2 : loud.stop - 2], 10 ** (6 / 20), rtol=1e-3)
    assert np.allclose(gain.factors[: loud.start - 2], 1)
    both = Gain(np.full(before.frames + 1, 0.5, np.float32))
    _, quieter = scored(before, both, edited(score_of(before), 4, volume=6.0))
    assert np.allclose(quieter.factors, 0.5 * gain.factors)


def test_a_duration_takes_all_along_that_is_the_phonemes() -> None:
    before = prosody()
    ramp = Gain(np.linspace(0, 1, before.frames + 1).astype(np.float32))
    after, gain = scored(before, ramp, edited(edited(score_of(before), 1, units=12), 3, units=0))
    assert after.durations.tolist() == [8, 4, 12, 2, 1, 3, 9], "a phoneme that sounds keeps a unit"
    assert after.text.ravel().tolist() == np.repeat(np.arange(7.0), after.durations).tolist()
    assert after.frames == 2 * after.durations.sum() == after.f0.shape[-1] == after.energy.shape[-1]
    assert gain.factors is not None and len(gain.factors) == after.frames + 1
    kept = frames_of(after, 4)
    assert np.allclose(gain.factors[kept], ramp.factors[frames_of(before, 4)], atol=1e-6)
    longest, _ = scored(before, PLAIN, edited(score_of(before), 1, units=10_000))
    assert longest.durations[2] == MOST_UNITS


VALUES = st.none() | st.lists(st.integers(-30_000, 30_000), max_size=8).map(tuple)
PITCHES = st.none() | st.lists(st.just(0) | st.integers(200, 10_000), max_size=8).map(tuple)
PHONEME = st.builds(PhonemeScore, st.none() | st.integers(0, 90), PITCHES, VALUES, st.floats(-60, 12))


@given(st.lists(PHONEME, min_size=PHONEMES, max_size=PHONEMES).map(tuple))
def test_any_score_leaves_whole_and_finite_arrays_within_the_limits(score: Score) -> None:
    made, gain = scored(prosody(), PLAIN, score)
    units = made.durations.sum()
    assert made.text.shape[-1] == units and made.f0.shape == made.energy.shape == (1, 2 * units)
    assert np.isfinite(made.f0).all() and made.f0.max() <= HIGHEST_HERTZ + 1
    assert np.isfinite(made.energy).all() and made.energy.max() <= max(MOST_ENERGY, prosody().energy.max())
    assert made.energy.min() >= min(LEAST_ENERGY, prosody().energy.min())
    assert gain.factors is None or (len(gain.factors) == made.frames + 1 and np.isfinite(gain.factors).all())


@given(st.lists(PHONEME, max_size=6).map(tuple))
def test_a_score_comes_back_from_the_samples_as_which_it_travels(score: Score) -> None:
    assert unpack(pack(score)) == score
    for cut in range(len(pack(score)) - 1):
        with pytest.raises(ValueError, match="no score"):
            unpack(pack(score)[:cut])


def test_an_engine_gives_its_score_and_takes_it_back(tmp_path) -> None:
    engine = make_engine(tmp_path)
    spans = (InflectedSpan(2, 6, Inflection(pitch=3.0, volume=3.0, stretch=1.4)),)
    sound = joined(blocks_of(engine, inflected=spans))
    packed = joined(blocks_of(engine, score_only=True, inflected=spans))
    score = unpack(packed.tobytes())
    assert len(score) == len(SCRIPT)
    with patch.object(SplitSpeech, "_prosody_of", side_effect=AssertionError("the prosody is made again")):
        assert np.array_equal(joined(blocks_of(engine, inflected=spans, score=score)), sound)
    rest = joined(blocks_of(engine, score_only=True, inflected=spans, from_sample=10))
    assert np.array_equal(rest, packed[10:])
    assert blocks_of(engine, score_only=True, inflected=spans, from_sample=len(packed)) == []
    marks = [each[1] for each in blocks_of(engine, marks=True, inflected=spans)[0].marks]
    assert np.array_equal(np.diff(marks), [600 * each.units for each in score])
    for place in range(1, KEPT + 1):
        blocks_of(engine, SCRIPT[place:], score_only=True)
    with patch.object(SplitSpeech, "_prosody_of", side_effect=InterruptedError), pytest.raises(InterruptedError):
        blocks_of(engine, score=score)  # only the last ones are kept
    longer = edited(score, 4, units=score[4].units + 9)
    changed = joined(blocks_of(engine, inflected=spans, score=longer))
    assert len(changed) == len(sound) + 9 * 600
    assert score_of(replace(prosody(), f0=prosody().f0 * 0))[0].pitch == (0,) * 8, f"{VOICED} Hz is no voice"
