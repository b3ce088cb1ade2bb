"""One chapter's audio as a file of its own: the unit from which books are put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from books.spoken import SAMPLE_RATE
from books.writing.formats import BookAudioFormat
from shm.atomic import replacing

Pcm = NDArray[np.int16]
"""Samples, shape [n], mono at `SAMPLE_RATE`."""


@dataclass(frozen=True, slots=True)
class Packets:
    """Encoded frames of a file, all of the same length for players: they sound a shorter last one whole."""

    count: int
    duration: int
    """Length of a frame, in units of `base`."""
    base: Fraction
    """Seconds of a unit."""

    @classmethod
    def of(cls, audio: Path) -> Packets:
        """
        Raises:
            av.FFmpegError: the file is damaged.
        """
        count = duration = 0
        with av.open(str(audio)) as container:
            if not container.streams.audio:
                raise av.InvalidDataError(0, "no audio", str(audio))
            stream = container.streams.audio[0]
            for packet in container.demux(stream):
                if packet.size:
                    count, duration = count + 1, max(duration, packet.duration or 0)
            return cls(count, duration, stream.time_base or Fraction(1, SAMPLE_RATE))

    @property
    def seconds(self) -> Fraction:
        """Seconds that the frames take in a joined file."""
        return self.count * self.duration * self.base


class ChapterEncoding:
    """Samples on their way through one encoder into a container."""

    def __init__(self, container: Any, form: BookAudioFormat) -> None:
        self._container = container
        self._stream = container.add_stream(form.encoder, rate=form.sample_rate, layout="mono")
        self._stream.format = form.sample_format
        if form.bit_rate:
            self._stream.bit_rate = form.bit_rate
        self._resampler = av.AudioResampler(form.sample_format, "mono", form.sample_rate)
        self.samples = 0
        """Samples taken, at `SAMPLE_RATE`."""

    def add(self, pcm: Pcm) -> None:
        """Encode samples."""
        if len(pcm):
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(pcm)[None, :], "s16", "mono")
            frame.sample_rate, frame.pts, frame.time_base = SAMPLE_RATE, self.samples, Fraction(1, SAMPLE_RATE)
            self.samples += len(pcm)
            self._encode(frame)

    def finish(self) -> None:
        """Encode what the encoder still holds."""
        self._encode(None)
        self._container.mux(self._stream.encode(None))

    def _encode(self, frame: av.AudioFrame | None) -> None:
        for resampled in self._resampler.resample(frame):
            self._container.mux(self._stream.encode(resampled))


def open_container(path: Path, form: BookAudioFormat) -> Any:
    """An empty file of that format. The same audio gives the same bytes: nothing in it is chosen by chance."""
    return av.open(str(path), "w", format=form.container, container_options={"fflags": "+bitexact"})


def encode_chapter(path: Path, audio: Iterable[Pcm], form: BookAudioFormat) -> int:
    """Write one chapter's file, whole or not at all; the number of samples at `SAMPLE_RATE`.

    The audio goes through as it comes, so a chapter of any length takes the same memory.
    """
    with replacing(path) as draft, open_container(draft, form) as container:
        encoding = ChapterEncoding(container, form)
        for pcm in audio:
            encoding.add(pcm)
        encoding.finish()
    return encoding.samples


def decode_file(path: Path) -> Iterator[Pcm]:
    """Samples of an audio file, at `SAMPLE_RATE`, as they are decoded."""
    resampler = av.AudioResampler("s16", "mono", SAMPLE_RATE)
    with av.open(str(path)) as container:
        for frame in container.decode(audio=0):
            for resampled in resampler.resample(frame):
                yield resampled.to_ndarray()[0]
    for resampled in resampler.resample(None):
        yield resampled.to_ndarray()[0]
