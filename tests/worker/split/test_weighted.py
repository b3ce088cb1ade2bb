"""The generator whose frames have weights: without most of a segment's silence it sounds like the whole segment."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.small_kokoro import CHANNELS
from tests.worker.split.splitting import NOBODY, Parts, decibels
from worker.split import silence
from worker.split.segments.segment import Prosody, in_one_run
from worker.split.silence import Shortened, in_weighted_run

WHOLE, WEIGHTED = "generator-whole.onnx", "generator-weighted.onnx"

FORMS = {"plain": {}, "merged": {"norms": "merged"}, "unfolded": {"folded": False}}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_equal_weights_are_the_whole_run(tmp_path, form):
    parts = Parts(tmp_path, **form)
    prosody = parts.prosody()
    features, harmonics = parts.features(prosody), parts.source(prosody).harmonics(0, prosody.frames, 1)
    weights = [np.full(count, 1 / count) for count in (10 * prosody.frames, harmonics.shape[-1])]
    [whole] = parts.run(WHOLE, features, harmonics, prosody.style)
    [made] = parts.run(WEIGHTED, features, harmonics, prosody.style, *weights)
    assert decibels(whole, made) > 80


@pytest.fixture(scope="module")
def speech(parts):
    """Speech of 30 frames between silence of 40 and 50 frames in which nothing changes: prosody, features, source."""
    random = np.random.default_rng(8)
    frames, speaks = 120, slice(40, 70)
    features = np.repeat(random.standard_normal((1, CHANNELS[0], 1)), frames, axis=2).astype(np.float32)
    features[..., speaks] += 2 * random.standard_normal((1, CHANNELS[0], 30)).astype(np.float32)
    harmonics = np.tile(random.standard_normal((1, 22, 60)), frames)
    harmonics[..., 60 * speaks.start : 60 * speaks.stop] = random.standard_normal((1, 22, 60 * 30))
    harmonics = np.concatenate([harmonics, harmonics[..., :1]], axis=-1).astype(np.float32)
    energy = np.full((1, frames), -9.0)
    energy[:, speaks] = 5.0
    prosody = Prosody(np.zeros(0), np.zeros((1, frames)), energy, np.array([20, 15, 25]), parts.style)
    return prosody, features, SimpleNamespace(harmonics=lambda begin, end, threads: harmonics)


def test_without_most_of_its_silence_it_sounds_the_same(parts, speech):
    whole = in_one_run(*speech, parts.stage(WHOLE), 1, NOBODY)
    made = in_weighted_run(*speech, parts.stage(WEIGHTED), 1, NOBODY)
    [prosody, *_] = speech
    assert len(made) == len(whole) == (prosody.frames - prosody.lead) * 300
    heard = (70 + 8 - prosody.lead) * 300
    assert decibels(whole[: heard - 240], made[: heard - 240]) > 65
    assert not made[heard:].any() and np.abs(made[heard - 20 : heard]).max() < 0.1 * np.abs(whole[heard - 20 :]).max()


def test_weights_matter(parts, speech, monkeypatch):
    """The same frames, each counted once, are another sound."""
    whole = in_one_run(*speech, parts.stage(WHOLE), 1, NOBODY)
    plain = silence.shortened

    def unweighted(prosody):
        part = plain(prosody)
        return Shortened(part.frames, np.ones_like(part.weights), part.begin, part.heard)

    monkeypatch.setattr(silence, "shortened", unweighted)
    made = in_weighted_run(*speech, parts.stage(WEIGHTED), 1, NOBODY)
    heard = (70 + 8 - speech[0].lead) * 300 - 240
    assert decibels(whole[:heard], made[:heard]) < 50
