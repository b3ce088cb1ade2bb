"""The frames of a short segment that run, and how many frames each of them counts for."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.small_kokoro import CHANNELS
from tests.worker.split.splitting import NOBODY, Parts, decibels
from worker.split import speech as split_speech
from worker.split.segments.segment import Prosody, in_one_run
from worker.split.speech import Shortened, in_weighted_run, shortened


def prosody(units, audible, first_pad=None):
    """A segment of so many units of 25 ms, with audible energy in a range of them."""
    energy = np.full((1, 2 * units), -9.0)
    energy[:, 2 * audible[0] : 2 * audible[1]] = 5.0
    pad = audible[0] if first_pad is None else first_pad
    durations = np.array([pad, units - pad - 1, 1])
    return Prosody(np.zeros(0), np.zeros((1, 2 * units)), energy, durations, np.zeros((1, 256)))


def test_silence_is_sampled_and_speech_is_complete():
    """61 units, of which 14 to 42 are audible: 12 are the lead, and four after the last audible one are heard."""
    part = shortened(prosody(61, (14, 42)))
    units, weights = part.frames[::2] // 2, part.weights[::2]
    assert dict(zip(units.tolist(), weights.tolist(), strict=True)) == (
        {0: 1, 6: 11} | dict.fromkeys(range(12, 46), 1) | {49: 7, 56: 7, 60: 1}
    )
    assert part.frames[part.begin] == 24 and part.heard == 2 * (46 - 12)


@pytest.mark.parametrize("units", [3, 20, 67])
@pytest.mark.parametrize("begin", [0, 2, 3, 4, 30])
@pytest.mark.parametrize("silent_end", [0, 2, 3, 4, 25])
def test_every_frame_counts_once(units, begin, silent_end):
    begin = min(begin, units - 1)
    given = prosody(units, (begin, max(begin + 1, units - silent_end)))
    part = shortened(given)
    assert part.weights.sum() == given.frames
    assert np.all(np.diff(part.frames) > 0) and {part.frames[0], part.frames[-1]} == {0, given.frames - 1}
    heard = part.frames[part.begin : part.begin + part.heard]
    assert np.array_equal(heard, np.arange(given.lead, given.lead + part.heard)), "without a gap"
    assert np.all(part.weights[part.begin : part.begin + part.heard] == 1)
    audible = np.flatnonzero(given.energy.ravel() > 0)
    assert set(audible) <= set(heard)


def test_a_segment_without_energy_is_heard_to_its_end():
    """Silence that the energy doesn't explain may be a whisper."""
    part = shortened(prosody(30, (0, 0), first_pad=9))
    assert part.frames[part.begin + part.heard - 1] == 59


# The generator whose frames have weights: without most of a segment's silence it sounds like the whole segment.

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
    plain = split_speech.shortened

    def unweighted(prosody):
        part = plain(prosody)
        return Shortened(part.frames, np.ones_like(part.weights), part.begin, part.heard)

    monkeypatch.setattr(split_speech, "shortened", unweighted)
    made = in_weighted_run(*speech, parts.stage(WEIGHTED), 1, NOBODY)
    heard = (70 + 8 - speech[0].lead) * 300 - 240
    assert decibels(whole[:heard], made[:heard]) < 50
