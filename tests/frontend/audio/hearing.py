"""Something to encode, and ears: files decoded by PyAV, which is FFmpeg, and compared with what went in."""

import functools
import io
from dataclasses import dataclass

import av
import numpy as np
from numpy.typing import NDArray

from shm.audio import SAMPLE_RATE, Pcm

PADDING = {"mp3": 1105, "aac": 1024}
"""Samples before the first that a decoder gives: what a stream of these formats can't tell it to leave out.

LAME: 576 of the encoder and 529 of any decoder. AAC: one frame. Opus in Ogg tells it (pre-skip, RFC 7845).
"""

FRAME = {"mp3": 1152, "aac": 1024}
"""The most samples in a frame: the end is padded to whole frames, and to one more that the codec looks ahead to."""


@functools.lru_cache(maxsize=32)
def vowels(seconds: float) -> Pcm:
    """A gliding voice of many harmonics, in syllables, at full loudness to its last sample; not to be written to."""
    t = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    pitch = 2 * np.pi * (140 * t + 4 * np.sin(2 * np.pi * 1.3 * t))
    voice = sum(np.sin(n * pitch + n) / n**1.1 for n in range(1, 22))
    syllables = 0.65 + 0.35 * np.cos(2 * np.pi * 4 * (t - t[-1]))
    samples = np.rint(7000 * voice * syllables).clip(-32_768, 32_767).astype(np.int16)
    samples.setflags(write=False)
    return samples


@dataclass(frozen=True)
class Heard:
    samples: NDArray[np.int16]
    sample_rate: int


def hear(data: bytes, container: str | None = None) -> Heard:
    """The samples that a player plays."""
    with av.open(io.BytesIO(data), format=container) as file:
        frames = [frame.to_ndarray() for frame in file.decode(audio=0)]
        rate = file.streams.audio[0].rate
    samples = np.concatenate(frames, axis=1)[0]
    if samples.dtype != np.int16:
        samples = np.rint(samples * 32_768).clip(-32_768, 32_767).astype(np.int16)
    return Heard(samples, rate)


def signal_to_noise(original: NDArray[np.int16], copy: NDArray[np.int16]) -> float:
    """The signal-to-noise ratio in dB."""
    wanted = original.astype(float)
    return float(10 * np.log10(np.mean(wanted**2) / max(np.mean((wanted - copy) ** 2), 1e-9)))


def loudness(samples: NDArray[np.int16]) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(samples.astype(float) ** 2)))
