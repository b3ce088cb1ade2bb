"""Predicted statistics: close to a segment's own, the same everywhere, and only for the family they were made for."""

import io
import logging

import numpy as np
import pytest

from benchmarks.training.statistics_samples import Sample
from benchmarks.training.statistics_training import adjusted, fit
from worker.split.segments.statistics import Predictor, Statistics, describe, predictor_for

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
