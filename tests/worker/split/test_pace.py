"""Less work for the same sound: high speeds, and predicted statistics."""

import io
import logging
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.training.statistics_samples import Sample
from benchmarks.training.statistics_training import adjusted, fit
from shm.inflection import InflectedSpan, Inflection
from tests.worker.split.splitting import SCRIPT, blocks_of, joined, make_engine
from worker.split.pace import MADE, Shortening, hastened
from worker.split.segments.segment import Prosody
from worker.split.segments.statistics import Predictor, Statistics, describe, predictor_for
from worker.split.segments.windows import DURATION_SAMPLES, FRAME_SAMPLES

REACH = 480
"""Samples (20 ms): so far from its time a sound may lie, its passing into the next one included."""


@pytest.mark.parametrize("speed", [1.6, 2.0, 3.0, 4.0, 5.0])
def test_a_fast_segment_lasts_its_share_and_pauses_give_more_than_stops(speed: float) -> None:
    script = "tˈɑ,tɑ"
    long = Prosody(
        np.zeros((1, 1, 800), np.float32),
        np.full((1, 1600), 200.0, np.float32),
        np.ones((1, 1600), np.float32),
        np.full(8, 100),
        np.zeros((1, 256)),
    )
    made = hastened(long, script, speed)
    assert made.durations.sum() == round(800 / speed) == made.frames / 2
    assert made.durations[script.index("t") + 1] > made.durations[script.index("ɑ") + 1]
    assert made.durations[script.index("ɑ") + 1] > made.durations[script.index(",") + 1]
    assert hastened(made, script, 1000.0).durations.tolist() == [1] * 8, "what sounds keeps a unit"
    audible = replace(long, durations=np.array([100, 0, 100, 0, 100, 0, 100, 400]))
    assert hastened(audible, script, speed).durations[[1, 3, 5]].tolist() == [0] * 3


def shortened(sound, kept, cuts=(), begin: int = 0):
    """The sound of phonemes of 100 ms in less time, given in blocks that end at the cuts."""
    shortening = Shortening(np.full(len(kept), 4), np.array(kept), begin, len(kept) * 8)
    places = [0, *sorted(cuts), len(sound)]
    blocks = list(
        shortening.shortened((low, sound[low:high], high == len(sound)) for low, high in pairwise(places) if low < high)
    )
    ends = [offset + len(samples) for offset, samples, _ in blocks]
    assert [offset for offset, *_ in blocks] == [0, *ends[:-1]]
    assert [last for *_, last in blocks] == [False] * (len(blocks) - 1) + [True]
    return np.concatenate([samples for _, samples, _ in blocks]), shortening


def hum(hertz: float, phonemes: int = 20):
    return np.rint(8000 * np.sin(2 * np.pi * hertz / 24_000 * np.arange(4 * phonemes * DURATION_SAMPLES))).astype(
        np.int16
    )


@pytest.mark.parametrize("share", [0.75, 0.5, 0.25])
@pytest.mark.parametrize("hertz", [80.0, 133.0, 290.0])
def test_a_hum_is_shorter_at_its_own_pitch_and_never_clicks(share: float, hertz: float) -> None:
    sound = hum(hertz)
    made, _ = shortened(sound, [share] * 20)
    assert len(made) == share * len(sound)
    assert np.abs(np.diff(made.astype(int))).max() <= 1.02 * np.abs(np.diff(sound.astype(int))).max()
    rises = np.flatnonzero((made[:-1] < 0) & (made[1:] >= 0))
    assert np.diff(rises).mean() == pytest.approx(24_000 / hertz, rel=0.01)


@given(st.sets(st.integers(1, 4 * 10 * DURATION_SAMPLES - 1), max_size=8), st.integers(0, 9))
def test_the_cuts_of_blocks_change_no_sample(cuts: set[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    sound = random.integers(-9000, 9000, 4 * 10 * DURATION_SAMPLES).astype(np.int16)
    kept = random.uniform(0.2, 1.0, 10)
    assert np.array_equal(shortened(sound, kept, cuts)[0], shortened(sound, kept)[0])


@pytest.mark.parametrize("phoneme", [3, 8, 15])
def test_a_phoneme_sounds_when_its_times_say(phoneme: int) -> None:
    kept = [0.3, 0.7] * 10
    sound = np.zeros(4 * 20 * DURATION_SAMPLES, np.int16)
    sound[4 * phoneme * DURATION_SAMPLES : 4 * (phoneme + 1) * DURATION_SAMPLES] = hum(200.0, 1)
    made, shortening = shortened(sound, kept)
    durations, before = shortening.heard
    ends = (np.cumsum(durations) - before) * DURATION_SAMPLES
    loud = np.flatnonzero(np.abs(made) > 100)
    assert abs(loud[0] - ends[phoneme - 1]) <= REACH
    assert abs(loud[-1] - ends[phoneme]) <= REACH


def test_a_sound_that_begins_late_has_the_rest_of_the_times() -> None:
    sound, kept = hum(120.0), [0.5] * 20
    made, shortening = shortened(sound[10 * FRAME_SAMPLES :], kept, begin=10)
    assert len(made) == len(sound) / 2 - 5 * FRAME_SAMPLES
    assert shortening.heard[1] == 2.5


@pytest.fixture(scope="module")
def engine(folder):
    return make_engine(folder)


@pytest.fixture(scope="module")
def successor(engine, folder):
    """The engine of a worker that takes a dead one's place."""
    return make_engine(folder, threads=1)


SPEEDS = [MADE + 0.01, 4.0]


@pytest.mark.parametrize(("script", "speed"), [(SCRIPT, SPEEDS[0]), (SCRIPT * 6, SPEEDS[1])], ids=["short", "long"])
def test_a_successor_goes_on_with_a_fast_segment_at_any_sample(engine, successor, script: str, speed: float) -> None:
    blocks = blocks_of(engine, script, speed=speed)
    whole = joined(blocks)
    for sample in (1, len(blocks[0].samples) % len(whole), len(whole) // 2, len(whole) - 1):
        later = blocks_of(successor, script, speed=speed, from_sample=sample)
        assert later[0].offset == sample and later[-1].last
        assert np.array_equal(joined(later), whole[sample:])


def test_a_fast_segment_is_as_fast_as_asked_and_so_are_its_words(engine) -> None:
    """The model's own pace has units of 25 ms; what is left out is counted in samples."""
    script = SCRIPT * 6
    plain, fast, faster = (blocks_of(engine, script, speed=speed, marks=True) for speed in (1.0, 2.0, 4.0))
    assert len(joined(fast)) / len(joined(faster)) == pytest.approx(2, abs=0.05)
    for blocks in (plain, fast, faster):
        times = [time for _, time in blocks[0].marks]
        assert times == sorted(times) and times[-1] <= len(joined(blocks))
        assert [place for place, _ in blocks[0].marks] == list(range(len(script) + 1))


def test_words_whose_time_is_given_keep_it_at_any_speed(engine) -> None:
    script = SCRIPT * 6
    spans = (InflectedSpan(5, 12, Inflection(), 1.0),)
    for speed in (1.0, 3.0):
        times = dict(blocks_of(engine, script, speed=speed, marks=True, inflected=spans)[0].marks)
        assert times[12] - times[5] == pytest.approx(24_000, abs=DURATION_SAMPLES)


FAMILY = (1.0, -2.0, 3.0)
SIZES = (8, 14, 17, 4, 4, 256)


def sample(random):
    """A voice is a point of few dimensions, as published styles are, and the statistics follow from it."""
    voice = random.standard_normal(4)
    described = [random.standard_normal(size) for size in SIZES[:-1]]
    described.append(voice @ np.random.default_rng(0).standard_normal((4, SIZES[-1])))
    means = np.array([voice[0] + voice[1], voice[2] ** 2, 3 + voice[3]])
    return Sample(described, Statistics(means, np.exp(0.2 * voice[:3])))


@pytest.fixture(scope="module")
def predictor():
    random = np.random.default_rng(1)
    return fit([sample(random) for _ in range(300)], FAMILY)


def test_it_predicts_what_it_has_not_seen(predictor):
    random = np.random.default_rng(2)
    unseen = [sample(random) for _ in range(40)]
    errors = np.array([predictor.predict(each.described).means - each.statistics.means for each in unseen])
    spread = np.array([each.statistics.means for each in unseen]).std(axis=0)
    assert (errors.std(axis=0) < 0.5 * spread).all()
    assert all((predictor.predict(each.described).variances > 0).all() for each in unseen)


def test_constant_shifts_are_adjusted_without_another_fit(predictor):
    """Such as those of a rewritten graph, in means and in spread."""
    random = np.random.default_rng(5)

    def shifted(count):
        for _ in range(count):
            made = sample(random)
            means, variances = made.statistics
            yield Sample(made.described, Statistics(means + 2, variances * 4))

    better = adjusted(predictor, list(shifted(40)))
    for each in shifted(40):
        before, now = (which.predict(each.described) for which in (predictor, better))
        assert np.abs(now.means - each.statistics.means).mean() < np.abs(before.means - each.statistics.means).mean()
        assert np.allclose(now.variances, 4 * before.variances, rtol=0.2)


def test_a_file_says_the_same(predictor, tmp_path):
    saved = io.BytesIO()
    predictor.save(saved)
    (tmp_path / "any.statistics.npz").write_bytes(saved.getvalue())
    again = Predictor.load(tmp_path / "any.statistics.npz")
    described = sample(np.random.default_rng(3)).described
    for mine, its in zip(predictor.predict(described), again.predict(described), strict=True):
        assert mine.dtype == np.float32
        assert np.array_equal(mine, its)


def test_something_out_of_the_ordinary_stays_finite(predictor):
    described = [1e6 * group for group in sample(np.random.default_rng(4)).described]
    assert all(np.isfinite(vector).all() for vector in predictor.predict(described))


@pytest.mark.parametrize(
    ("family", "channels", "fits"),
    [
        (FAMILY, 3, True),
        ((1.001, -2.002, 3.003), 3, True),
        ((1.0, -2.0, 4.0), 3, False),
        (FAMILY, 4, False),
        ((), 3, False),
        ((1.0, -2.0), 3, False),
    ],
    ids=["same", "half precision", "other weights", "other norms", "quantised", "other shape"],
)
def test_it_serves_models_of_its_family(predictor, family, channels, fits):
    assert predictor.fits(family, channels) is fits


def test_a_file_beside_the_model_is_found(predictor, tmp_path):
    saved = io.BytesIO()
    predictor.save(saved)
    (tmp_path / "own.statistics.npz").write_bytes(saved.getvalue())
    assert predictor_for(tmp_path / "model.onnx", FAMILY, 3) is not None
    assert predictor_for(tmp_path / "model.onnx", (9.0, 9.0, 9.0), 3) is None


@pytest.mark.parametrize("damage", [lambda data: data[:-100], lambda data: b"nothing", lambda data: b""])
def test_a_damaged_file_is_said_and_passed_over(predictor, tmp_path, damage, caplog):
    saved = io.BytesIO()
    predictor.save(saved)
    file = tmp_path / "own.statistics.npz"
    file.write_bytes(damage(saved.getvalue()))
    with caplog.at_level(logging.WARNING):
        assert predictor_for(tmp_path / "model.onnx", FAMILY, 3) is None
    assert str(file) in caplog.text


def test_a_description_is_an_average_over_time():
    """Twice as long with the same in it: all but the length itself is the same."""
    random = np.random.default_rng(6)
    features, f0 = random.standard_normal((1, 12, 40)), 200 * random.random((1, 40))
    energy, style = 9 * random.random((1, 40)), random.standard_normal((1, 256))
    durations = np.array([2, 16, 2])
    once = describe(features, f0, energy, durations, style)
    doubled = (np.concatenate([each, each], axis=-1) for each in (features, f0, energy))
    twice = describe(*doubled, 2 * durations, style)
    assert [len(group) for group in once] == [8, 14, 17, 12, 12, 256]
    for one, two in zip(once[1:], twice[1:], strict=True):
        assert np.allclose(one, two, atol=0.2)
    assert np.allclose(once[3], twice[3]) and np.allclose(once[0][1:3], twice[0][1:3])
