"""Chapters as audio files: formats, encoding, loudness, and the packets of what was encoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from books.book import SAMPLE_RATE, BookError
from shm.atomic import replacing
from shm.book_formats import BOOK_FORMATS, BookAudioFormat

BY_SUFFIX = {name: row.audio for name, row in BOOK_FORMATS.items() if row.audio}
"""Audio in an output file of that suffix."""


def audio_format(suffix: str) -> BookAudioFormat:
    """Audio format of an output with that suffix, with or without its dot.

    Raises:
        BookError: there is none.
    """
    try:
        return BY_SUFFIX[suffix.lower().removeprefix(".")]
    except KeyError:
        known = ", ".join(BY_SUFFIX)
        raise BookError(f"No book is written as {suffix!r}: choose one of {known}, or a folder.") from None


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


def frame_of(pcm: Pcm, position: int) -> av.AudioFrame:
    """FFmpeg's frame of samples, of which the first has that number in its stream."""
    frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(pcm)[None, :], "s16", "mono")
    frame.sample_rate, frame.pts, frame.time_base = SAMPLE_RATE, position, Fraction(1, SAMPLE_RATE)
    return frame


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
        if len(pcm):
            frame = frame_of(pcm, self.samples)
            self.samples += len(pcm)
            self._encode(frame)

    def finish(self) -> None:
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


CEILING_DB = -1.0
"""Highest true peak after a gain, in dBFS, as EBU R 128 asks."""
QUIETEST = -70.0
"""LUFS below which FFmpeg reports nothing: silence."""


@dataclass(frozen=True, slots=True)
class Loudness:
    integrated: float
    """Integrated loudness in LUFS."""
    true_peak: float
    """The loudest peak between samples, in dBFS."""


def measure(audio: Iterable[Pcm]) -> Loudness:
    """Integrated loudness and true peak. Audio without sound has `QUIETEST` and a peak of -inf.

    Mono counts as one channel, as in ffmpeg and in libebur128.
    """
    integrated, peak = QUIETEST, 0.0
    for frame in _filtered(audio, [("ebur128", "metadata=1:peak=true")]):
        integrated = float(frame.metadata.get("lavfi.r128.I", integrated))
        peak = max(peak, float(frame.metadata.get("lavfi.r128.true_peaks_ch0", 0.0)))
    return Loudness(integrated, 20 * float(np.log10(peak)) if peak else float("-inf"))


def levelled(audio: Iterable[Pcm], decibels: float) -> Iterator[Pcm]:
    """Audio with that gain, as many samples as before. A limiter holds what would rise above `CEILING_DB`."""
    limit = 10 ** (CEILING_DB / 20)
    filters = [
        ("volume", f"{decibels}dB:precision=double"),
        ("alimiter", f"limit={limit:.6f}:level=disabled:latency=1:attack=5:release=50"),
        ("aformat", "sample_fmts=s16"),
    ]
    for frame in _filtered(audio, filters):
        yield frame.to_ndarray()[0]


def _filtered(audio: Iterable[Pcm], filters: Sequence[tuple[str, str]]) -> Iterator[av.AudioFrame]:
    graph = av.filter.Graph()
    source = last = graph.add_abuffer(
        sample_rate=SAMPLE_RATE, format="s16", layout="mono", time_base=Fraction(1, SAMPLE_RATE)
    )
    for name, arguments in [*filters, ("abuffersink", "")]:
        following = graph.add(name, arguments)
        last.link_to(following)
        last = following
    graph.configure()
    position = 0
    for pcm in audio:
        if len(pcm):
            source.push(frame_of(pcm, position))
            position += len(pcm)
            yield from _ready(last)
    source.push(None)
    yield from _ready(last)


def _ready(sink: av.filter.FilterContext) -> Iterator[av.AudioFrame]:
    while True:
        try:
            frame = sink.pull()
        except (av.BlockingIOError, av.EOFError):
            return
        assert isinstance(frame, av.AudioFrame)
        yield frame
