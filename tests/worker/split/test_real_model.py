"""The published int8 file as it is: in windows, resumed to the sample, close to a whole run, begun without a click.

One engine in windows, one that runs segments whole, both with one thread: samples don't depend on threads.
"""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.measuring.mel_distance import log_mel_distance
from shm.audio import AUDIBLE
from worker.engine import Utterance
from worker.engines.kokoro import KokoroEngine
from worker.pcm import snr
from worker.providers.choice import window_frames
from worker.settings import WorkerSettings
from worker.split.segments.stage import LoadedStage
from worker.targets import Assignment, StageTarget
from worker.voices.kokoro_voices import EMBEDDED

pytestmark = pytest.mark.slow
"""`make test` hears the file whole, and miniature ones in windows."""

SENTENCE = "ðə fˈɛɹi lˈivz æt hˈæf pˈæst sˈɪks."
SHORTER = "ðə fˈɛɹi lˈivz æt sˈɪks."
SHORT = "hˌW ɑɹ jˈu?"
STOP = "stˈɑp."


@pytest.fixture(scope="module")
def windows(real_model: Path, real_stages: Path, folder) -> KokoroEngine:
    return KokoroEngine(real_model, EMBEDDED, WorkerSettings(cache_dir=real_stages, threads=1, vocoder="windowed"))


@pytest.fixture(scope="module")
def whole(real_model: Path, real_stages: Path, folder) -> KokoroEngine:
    return KokoroEngine(real_model, EMBEDDED, WorkerSettings(cache_dir=real_stages, threads=1, vocoder="whole"))


def said(engine, script=SENTENCE, voice=(("af_heart", 1.0),), speed=1.0, **more):
    blocks = list(engine.begin(Utterance(script, "en-us", voice, speed, **more)))
    return blocks, np.concatenate([block.samples for block in blocks])


@pytest.fixture(scope="module")
def spoken(windows):
    return said(windows, marks=True)


@pytest.fixture(scope="module")
def short(windows):
    return said(windows, SHORT)[1]


def test_it_speaks_in_windows_with_word_times(windows, spoken):
    """The file itself gives no durations; the split takes them from inside."""
    blocks, samples = spoken
    assert windows.info.first_block == 0.3 and windows.info.marks
    assert len(blocks[0].samples) == 7_200 and len(blocks) > 3
    marks = [mark for block in blocks for mark in block.marks]
    assert [place for place, _ in marks] == [*range(len(SENTENCE) + 1)]
    assert [sample for _, sample in marks] == sorted(sample for _, sample in marks)
    assert 24_000 < marks[-1][1] < len(samples) < 3 * 24_000


@pytest.mark.parametrize("sample", [7_201, 31_234])
def test_a_resumed_segment_has_the_same_samples(windows, spoken, sample):
    _, samples = spoken
    assert np.array_equal(said(windows, from_sample=sample)[1], samples[sample:])


def test_seeds_change_nothing_in_an_export_without_random_nodes(windows, short):
    assert np.array_equal(said(windows, SHORT, seed=99)[1], short)


@pytest.mark.parametrize(
    "voice",
    [(("af_heart", 1.0),), (("am_michael", 0.6), ("bf_emma", 0.4))],
    ids=("a voice", "a blend"),
)
def test_windows_sound_like_the_whole(windows, whole, voice):
    """Level within 1 dB and log-mel distance within 2.5 dB; never clipped."""
    made, expected = (said(engine, SHORTER, voice)[1] for engine in (windows, whole))
    assert len(made) == len(expected)
    levels = [10 * np.log10((samples.astype(float) ** 2).mean()) for samples in (made, expected)]
    assert abs(levels[0] - levels[1]) < 1
    assert log_mel_distance(expected, made) < 2.5
    assert np.abs(made.astype(int)).max() < 32_767


@pytest.mark.parametrize(("script", "speed"), [(STOP, 1.0), (SHORT, 1.0), (SHORT, 1.2)])
def test_a_short_text_without_most_of_its_silence_sounds_like_the_whole(windows, whole, script, speed):
    """Level within 0.2 dB and log-mel distance within 2 dB; only zeros stand for silence."""
    blocks, made = said(windows, script, speed=speed)
    expected = said(whole, script, speed=speed)[1]
    assert len(blocks) == 1 and len(made) == len(expected)
    levels = [10 * np.log10((samples.astype(float) ** 2).mean()) for samples in (made, expected)]
    assert abs(levels[0] - levels[1]) < 0.2
    heard = int(np.flatnonzero(made)[-1]) + 1
    assert heard < len(made) - 1_200, "the rest isn't made"
    assert np.abs(expected[heard:].astype(int)).max() < AUDIBLE
    assert log_mel_distance(expected[:heard], made[:heard]) < 2
    assert 20 * np.log10(np.abs(made.astype(int)).max() / 32_768) > -20, "and can be heard"


def test_a_short_text_takes_less_of_the_generator(windows, monkeypatch):
    """80 frames of 122 run, because most of the silence at both ends counts without being made."""
    ran = []
    plain = LoadedStage.run
    monkeypatch.setattr(
        LoadedStage,
        "run",
        lambda stage, arrays, *more: ran.append((stage._cut.name, arrays[0].shape[-1])) or plain(stage, arrays, *more),
    )
    said(windows, SHORT)
    units, frames = (dict(ran)[f"{stage}.onnx"] for stage in ("decoder", "generator-weighted"))
    assert 2 * units > 1.5 * frames > 0


@pytest.mark.parametrize("sample", [1, 12_345])
def test_a_resumed_short_text_has_the_same_samples(windows, short, sample):
    assert np.array_equal(said(windows, SHORT, from_sample=sample)[1], short[sample:])


@pytest.mark.parametrize(("script", "speed"), [(STOP, 0.5), (STOP, 1.0), (STOP, 0.25), (SENTENCE, 0.5)])
def test_no_beginning_is_clipped(windows, script, speed):
    """The first 5 ms are the silence before the sound, however slow: a start inside a sound is heard as a click."""
    blocks = windows.begin(Utterance(script, "en-us", (("af_heart", 1.0),), speed))
    beginning = next(blocks).samples[:120]
    blocks.close()
    assert np.abs(beginning.astype(int)).max() < 64


def test_half_precision_is_the_same_speech(real_model, real_stages):
    """The windows that CoreML is given, run by the CPU, against the same windows in float32: a sentence 45 dB from it,
    where the int8 file is 20 dB from the same floats."""
    window = window_frames(WorkerSettings())
    settings = WorkerSettings(cache_dir=real_stages, threads=1)
    placed = [Assignment(generator=StageTarget(window=window, half=half)) for half in (False, True)]
    spoken = [said(KokoroEngine(real_model, EMBEDDED, settings, assigned=each))[1] for each in placed]
    assert snr(*spoken) > 40
    assert log_mel_distance(*spoken) < 0.2
