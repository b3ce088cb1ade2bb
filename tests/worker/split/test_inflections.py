"""Inflections and scores between prosody and decoder: what is unchanged stays to the bit, the rest is as written."""

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
from worker.split.gain import CEILING, Gain
from worker.split.inflections import UNITS_PER_SEMITONE, VOICED, inflected, score_of, scored
from worker.split.segments.segment import Prosody
from worker.split.segments.windows import FRAME_SAMPLES
from worker.split.speech import KEPT, SplitSpeech

DURATIONS = np.array([8, 4, 6, 2, 5, 3, 9])
PHONEMES = len(DURATIONS) - 2


def prosody(f0: float = 200.0) -> Prosody:
    units = int(DURATIONS.sum())
    phonemes = np.repeat(np.arange(len(DURATIONS), dtype=np.float32), DURATIONS)
    pitch = np.full((1, 2 * units), f0, np.float32)
    pitch[0, ::7] = 3.0  # not voiced
    return Prosody(phonemes[None, None], pitch, np.ones((1, 2 * units), np.float32), DURATIONS, np.zeros((1, 256)))


def span(start: int, end: int, seconds: float = 0.0, **inflection) -> InflectedSpan:
    return InflectedSpan(start, end, Inflection(**inflection), seconds)


def frames_of(made: Prosody, start: int, end: int) -> slice:
    ends = 2 * np.cumsum(made.durations)
    return slice(int(ends[start]), int(ends[end]))


def test_a_shift_is_that_of_its_phonemes_alone_and_leaves_what_has_no_voice() -> None:
    before = prosody()
    after, gain = inflected(before, [span(1, 3, pitch=4)])
    assert gain == Gain(None)
    inside = frames_of(before, 1, 3)
    ratios = (after.f0 / before.f0).ravel()
    voiced = before.f0.ravel() > VOICED
    middle = np.zeros_like(voiced)
    middle[inside.start + 2 : inside.stop - 2] = True
    assert np.allclose(ratios[middle & voiced], 2 ** (4 / 12), rtol=1e-3)
    assert np.array_equal(after.f0.ravel()[~voiced], before.f0.ravel()[~voiced])
    away = np.ones_like(voiced)
    away[inside.start - 2 : inside.stop + 2] = False
    assert np.allclose(ratios[away], 1, rtol=1e-5)
    assert np.array_equal(after.durations, before.durations)


def test_a_mean_in_hertz_a_monotone_and_a_contour() -> None:
    whole = (0, PHONEMES)
    made, _ = inflected(prosody(), [span(*whole, hertz=120.0)])
    assert np.allclose(made.f0[made.f0 > VOICED], 120, rtol=1e-3)
    sung = prosody()
    sung.f0[0, 20:40] = 300.0
    flat, _ = inflected(sung, [span(*whole, range=0.0)])
    assert np.ptp(np.log2(flat.f0[flat.f0 > VOICED])) < 1e-3
    rising, _ = inflected(prosody(), [span(*whole, contour=((0.0, 0.0), (1.0, 12.0)))])
    voiced = rising.f0[rising.f0 > VOICED]
    assert np.all(np.diff(voiced) >= 0) and voiced[-1] / voiced[0] > 1.7
    words = frames_of(rising, 0, PHONEMES)
    assert np.isclose(rising.f0[0, words.stop - 2], 400, rtol=0.03), "the last word ends at the contour's end"
    assert np.isclose(rising.f0[0, 2], 200, rtol=1e-3), "the silence before the first word isn't of the contour's time"
    silent = prosody()
    silent.energy[0, 50:] = -9.0
    rising, _ = inflected(silent, [span(*whole, contour=((0.0, 0.0), (1.0, 12.0)))])
    assert np.isclose(rising.f0[0, 48], 400, rtol=0.03), "nor is that of a stop after the last one"


def test_what_dies_away_below_all_voices_is_not_of_the_mean() -> None:
    dying = prosody(180.0)
    dying.f0[0, 40:] = 30.0
    dying.energy[0] = 8.0
    dying.energy[0, 40:] = -6.0
    made, _ = inflected(dying, [span(0, PHONEMES, hertz=90.0)])
    assert np.allclose(made.f0[0, 4:38][dying.f0[0, 4:38] > VOICED], 90, rtol=1e-3)


def test_a_pitch_stays_within_a_voice_but_the_models_own_is_never_bent() -> None:
    high, _ = inflected(prosody(500.0), [span(0, PHONEMES, pitch=12)])
    assert high.f0.max() <= HIGHEST_HERTZ + 1
    own, _ = inflected(prosody(700.0), [span(0, PHONEMES, volume=1)])
    assert np.allclose(own.f0[own.f0 > VOICED], 700, rtol=1e-3)


@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_a_rise_ends_above_the_mean_and_leaves_what_is_before_it(factor: float) -> None:
    before = prosody()
    before.f0[0, 40:] = 4.0  # the voice creaks out
    before.energy[0, 60:] = 0.0
    after, _ = inflected(before, [span(2, PHONEMES, rise=9.0, range=factor)])
    start = int(2 * np.cumsum(after.durations)[2])
    assert before.durations[3:5].sum() < int(9 * UNITS_PER_SEMITONE) <= after.durations[3:5].sum()
    assert after.durations[[0, 1, 2, 5, 6]].tolist() == before.durations[[0, 1, 2, 5, 6]].tolist()
    assert np.array_equal(after.f0[0, : start - 2], before.f0[0, : start - 2])
    risen = after.f0[0, start:]
    sounding = risen > VOICED
    assert np.isclose(risen[sounding][-1], 200 * 2 ** (9 * factor / 12), rtol=0.02)
    assert np.all(np.diff(risen[sounding]) >= -0.1)
    assert sounding[20], "it is voiced where the model's voice has creaked out and sounds still"
    assert not sounding[-4:].any(), "silence has no voice"
    slight, _ = inflected(before, [span(2, PHONEMES, rise=2.0)])
    assert slight.durations.tolist() == before.durations.tolist(), "a slight rise has time enough"


def test_durations_are_stretched_with_all_that_belongs_to_them() -> None:
    before = prosody()
    after, _ = inflected(before, [span(1, 3, stretch=2.0)])
    assert after.durations.tolist() == [8, 4, 12, 4, 5, 3, 9]
    assert after.text.ravel().tolist() == np.repeat(np.arange(7.0), after.durations).tolist()
    assert after.frames == 2 * after.durations.sum() == after.energy.shape[-1]
    timed, _ = inflected(before, [span(0, PHONEMES, seconds=1.0)])
    assert timed.durations[1:-1].sum() == pytest.approx(40, abs=1)
    halved, _ = inflected(before, [span(0, 1, stretch=1.125)])
    assert halved.durations.tolist() == [8, 5, *DURATIONS[2:]], "half a unit is no other phoneme's"


VALUES = st.tuples(st.floats(0.3, 3), st.floats(-12, 12), st.floats(-20, 12))


@given(st.lists(VALUES, min_size=PHONEMES, max_size=PHONEMES))
def test_any_inflections_leave_whole_and_finite_arrays(values: list[tuple[float, float, float]]) -> None:
    spans = [
        span(place, place + 1, stretch=stretch, pitch=pitch, volume=volume)
        for place, (stretch, pitch, volume) in enumerate(values)
    ]
    made, gain = inflected(prosody(), spans)
    units = made.durations.sum()
    assert made.text.shape[-1] == units and made.f0.shape == made.energy.shape == (1, 2 * units)
    assert np.isfinite(made.f0).all() and (made.durations >= 1).all()
    if gain.factors is not None:
        assert len(gain.factors) == made.frames + 1


def test_a_level_changes_by_its_decibels_without_a_jump_and_without_clipping() -> None:
    made, gain = inflected(prosody(), [span(1, 3, volume=-6.0)])
    assert gain is not None
    audio = np.full(made.frames * FRAME_SAMPLES, 0.1, np.float32)
    quieter = gain.applied(audio, 0)
    inside = frames_of(made, 1, 3)
    middle = quieter[(inside.start + 3) * FRAME_SAMPLES : (inside.stop - 3) * FRAME_SAMPLES]
    assert np.allclose(20 * np.log10(middle / 0.1), -6, atol=0.05)
    assert np.abs(np.diff(quieter)).max() < 1e-3
    assert np.allclose(gain.applied(audio[3000:], 10), quieter[3000:], atol=1e-6)  # in windows as in one
    loud = Gain(np.full(11, 4.0, np.float32)).applied(np.linspace(-0.9, 0.9, 10 * FRAME_SAMPLES), 0)
    assert np.abs(loud).max() <= 0.9 and np.all(np.diff(loud) >= -1e-9)
    assert np.array_equal(Gain(np.ones(11, np.float32)).applied(np.float32([1.0]), 0), np.float32([1.0]))
    assert CEILING < 1


@pytest.fixture(scope="module")
def engine(folder):
    return make_engine(folder)


@pytest.mark.parametrize("script", [SCRIPT, SCRIPT * 6], ids=["short", "long"])
def test_an_inflected_segment_is_the_same_from_any_sample_on(engine, script: str) -> None:
    spans = (span(0, 5, pitch=3, stretch=1.4), span(7, 12, volume=-9.0))
    plain, changed = joined(blocks_of(engine, script)), joined(blocks_of(engine, script, inflected=spans))
    assert engine.info.inflects
    assert len(changed) > len(plain)
    assert np.array_equal(plain, joined(blocks_of(engine, script, inflected=())))
    later = joined(blocks_of(engine, script, inflected=spans, from_sample=4000))
    assert np.array_equal(later, changed[4000:])


def test_a_level_holds_in_the_windows_of_its_words_alone(engine) -> None:
    script = SCRIPT * 6
    plain = joined(blocks_of(engine, script))
    quiet = joined(blocks_of(engine, script, inflected=(span(len(script) - 8, len(script), volume=-60.0),)))
    assert np.array_equal(plain[:6000], quiet[:6000])
    assert np.abs(plain[-3000:]).max() > 100 > 10 > np.abs(quiet[-3000:]).max()


def test_words_times_follow_the_stretched_durations(engine) -> None:
    spans = (span(0, 5, stretch=2.0),)
    [plain, *_] = blocks_of(engine, SCRIPT * 6, marks=True)
    [changed, *_] = blocks_of(engine, SCRIPT * 6, marks=True, inflected=spans)
    assert changed.marks[-1][1] - plain.marks[-1][1] == changed.marks[5][1] - plain.marks[5][1] > 0


PLAIN = Gain(None)


def random_prosody() -> Prosody:
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


def frames_at(made: Prosody, place: int) -> slice:
    ends = 2 * np.cumsum(made.durations)
    return slice(int(ends[place]), int(ends[place + 1]))


def same(one: Prosody, other: Prosody) -> bool:
    arrays = ((one.text, other.text), (one.f0, other.f0), (one.energy, other.energy), (one.durations, other.durations))
    return all(np.array_equal(before, after) for before, after in arrays)


@pytest.mark.parametrize("score", [(), (PhonemeScore(),) * PHONEMES, score_of(random_prosody())])
def test_an_unedited_score_changes_no_bit(score: Score) -> None:
    made, gain = scored(random_prosody(), PLAIN, score)
    assert same(made, random_prosody()) and gain == PLAIN


def test_a_pitch_is_that_of_its_phoneme_alone() -> None:
    before = random_prosody()
    score = edited(score_of(before), 1, pitch=(1500, 0, 3000))
    after, _ = scored(before, PLAIN, score)
    inside = frames_at(before, 1)
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
    before = random_prosody()
    after, gain = scored(before, PLAIN, edited(edited(score_of(before), 2, energy=(250, 9999)), 4, volume=6.0))
    made = after.energy[0, frames_at(before, 2)]
    assert made[0] == pytest.approx(2.5) and made[-1] == MOST_ENERGY
    assert np.array_equal(after.energy[0, : frames_at(before, 2).start], before.energy[0, : frames_at(before, 2).start])
    assert gain.factors is not None
    loud = frames_at(before, 4)
    assert np.allclose(gain.factors[loud.start + 2 : loud.stop - 2], 10 ** (6 / 20), rtol=1e-3)
    assert np.allclose(gain.factors[: loud.start - 2], 1)
    both = Gain(np.full(before.frames + 1, 0.5, np.float32))
    _, quieter = scored(before, both, edited(score_of(before), 4, volume=6.0))
    assert np.allclose(quieter.factors, 0.5 * gain.factors)


def test_a_duration_takes_all_along_that_is_the_phonemes() -> None:
    before = random_prosody()
    ramp = Gain(np.linspace(0, 1, before.frames + 1).astype(np.float32))
    after, gain = scored(before, ramp, edited(edited(score_of(before), 1, units=12), 3, units=0))
    assert after.durations.tolist() == [8, 4, 12, 2, 1, 3, 9], "a phoneme that sounds keeps a unit"
    assert after.text.ravel().tolist() == np.repeat(np.arange(7.0), after.durations).tolist()
    assert after.frames == 2 * after.durations.sum() == after.f0.shape[-1] == after.energy.shape[-1]
    assert gain.factors is not None and len(gain.factors) == after.frames + 1
    kept = frames_at(after, 4)
    assert np.allclose(gain.factors[kept], ramp.factors[frames_at(before, 4)], atol=1e-6)
    longest, _ = scored(before, PLAIN, edited(score_of(before), 1, units=10_000))
    assert longest.durations[2] == MOST_UNITS


ENERGIES = st.none() | st.lists(st.integers(-30_000, 30_000), max_size=8).map(tuple)
PITCHES = st.none() | st.lists(st.just(0) | st.integers(200, 10_000), max_size=8).map(tuple)
PHONEME = st.builds(PhonemeScore, st.none() | st.integers(0, 90), PITCHES, ENERGIES, st.floats(-60, 12))


@given(st.lists(PHONEME, min_size=PHONEMES, max_size=PHONEMES).map(tuple))
def test_any_score_leaves_whole_and_finite_arrays_within_the_limits(score: Score) -> None:
    made, gain = scored(random_prosody(), PLAIN, score)
    units = made.durations.sum()
    assert made.text.shape[-1] == units and made.f0.shape == made.energy.shape == (1, 2 * units)
    assert np.isfinite(made.f0).all() and made.f0.max() <= HIGHEST_HERTZ + 1
    assert np.isfinite(made.energy).all() and made.energy.max() <= max(MOST_ENERGY, random_prosody().energy.max())
    assert made.energy.min() >= min(LEAST_ENERGY, random_prosody().energy.min())
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
    assert score_of(replace(random_prosody(), f0=random_prosody().f0 * 0))[0].pitch == (0,) * 8, (
        f"{VOICED} Hz is no voice"
    )
