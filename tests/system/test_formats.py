"""Each format from the whole server: what a player plays is what the engine made."""

from __future__ import annotations

import io
import wave

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.frontend.audio.hearing import FRAME, PADDING, hear, loudness, signal_to_noise
from tests.system.oracle import sentences
from tests.system.server import Server
from tests.system.shared import SharedServer

TEXTS = ["Yes.", sentences(2), sentences(6)]
WORST_SIGNAL_TO_NOISE = 9.0
"""The least signal-to-noise ratio in dB: at 48 to 64 kbit/s espeak-ng's buzz, which is mostly noise above 4 kHz,
decodes so well."""


@pytest.fixture(scope="module", params=TEXTS, ids=["a word", "two sentences", "six sentences"])
def spoken(request: pytest.FixtureRequest, plain: SharedServer) -> tuple[str, NDArray[np.int16]]:
    """A text and its samples."""
    return request.param, np.frombuffer(plain.calm().hear(input=request.param, response_format="pcm"), "<i2")


@pytest.mark.parametrize("name", ["flac", "wav"])
def test_lossless_streams_are_the_engines_samples(
    espeak: Server, spoken: tuple[str, NDArray[np.int16]], name: str
) -> None:
    text, samples = spoken
    for streamed in (True, False):
        got = hear(espeak.hear(input=text, response_format=name, stream=streamed))
        assert got.sample_rate == 24_000
        assert np.array_equal(got.samples, samples)


@pytest.mark.parametrize("name", ["mp3", "opus", "aac"])
def test_lossy_streams_sound_like_the_engines_samples(
    espeak: Server, spoken: tuple[str, NDArray[np.int16]], name: str
) -> None:
    """Opus is asked to be compared at its own 48 kHz, which every decoder gives."""
    text, samples = spoken
    if name == "opus":
        at_48_kilohertz = espeak.hear(input=text, response_format="pcm", sample_rate=48_000)
        samples = np.frombuffer(at_48_kilohertz, "<i2")
    got = hear(espeak.hear(input=text, response_format=name))
    before = PADDING.get(name, 0)
    assert 0 <= len(got.samples) - before - len(samples) <= FRAME.get(name, 0)
    sound = got.samples[before : before + len(samples)]
    assert signal_to_noise(samples, sound) > WORST_SIGNAL_TO_NOISE
    last = np.flatnonzero(np.abs(samples.astype(int)) > 1000)[-1]
    end = slice(last - got.sample_rate // 10, last)
    assert 0.85 < loudness(sound[end]) / loudness(samples[end]) < 1.15


def test_a_finished_wav_is_read_by_pythons_wave_module(espeak: Server, spoken: tuple[str, NDArray[np.int16]]) -> None:
    text, samples = spoken
    with wave.open(io.BytesIO(espeak.hear(input=text, response_format="wav", stream=False))) as reader:
        assert reader.getnframes() == len(samples)
        assert reader.readframes(len(samples)) == samples.tobytes()
