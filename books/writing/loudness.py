"""Loudness of speech by EBU R 128: measured by FFmpeg's filter, and the gain that brings it to a target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import av
import numpy as np

from books.book import SAMPLE_RATE
from books.writing.chapter_audio import Pcm, frame_of

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
