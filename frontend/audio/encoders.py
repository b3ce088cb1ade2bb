"""The encoders of all formats: bare samples and WAV here, codecs by FFmpeg, and another sample rate in front of any."""

from __future__ import annotations

import io
import math
import struct
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from frontend.audio.formats import Codec, OutputFormat
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE, Pcm

if TYPE_CHECKING:
    import av


LEADS = 100
"""Leads (`Codec.lead`) from one seam to the next, and so the share of a stream that is encoded twice, in percent."""

Seam = tuple[int, int]
"""A place at which an encoder of a stream can begin: its samples and bytes before that. 0 and 0: the beginning."""


@dataclass(slots=True)
class _Part:
    """The packets that one codec context gives to the stream."""

    context: av.AudioCodecContext
    number: int
    """Number of its next packet in the stream."""
    first: int = 0
    """The first packet that isn't left out."""
    end: float = math.inf
    """The next context's `first`."""


class AvEncoder:
    """One stream through one muxer, and through one codec context after another where `Codec.lead` says so.

    Args:
        number: of the stream, in a container that has one (`Codec.numbered`).
        whole: `finish` gives all of it, and what a container says of lengths is exact (FLAC's sample count and MD5,
            MP3's gapless tag); otherwise each packet is given out as soon as the codec has made it.
        seam: another encoder's, which this one continues; it is given the samples that follow.
    """

    def __init__(self, codec: Codec, sample_rate: int, *, whole: bool, number: int = 0, seam: Seam = (0, 0)) -> None:
        # Memory that a server of WAV and PCM never needs (`python -m benchmarks.late_loading`).
        import av

        self.seam = seam
        self._codec = codec
        self._sample_rate = sample_rate
        self._time_base = Fraction(1, sample_rate)
        self._samples = self._began = seam[0]
        self._whole = io.BytesIO() if whole else None
        self._ready = _Ready(seam[1])
        numbering = {"serial_offset": str(number)} if codec.numbered else {}
        self._container = av.open(
            self._whole or self._ready,
            "w",
            format=codec.container,
            container_options={**codec.container_options, **numbering, "flush_packets": "1"},
        )
        stream = self._container.add_stream(
            codec.encoder, rate=sample_rate, options=dict(codec.options), layout="mono", format=codec.sample_format
        )
        self._stream = cast("av.AudioStream", stream)
        if codec.bit_rate is not None:
            above = sample_rate > 24_000 and codec.bit_rate_above_24k
            self._stream.bit_rate = above or codec.bit_rate
        self._ends: deque[float] = deque(
            [self._began / sample_rate] * (codec.packets_held + 1), maxlen=codec.packets_held + 1
        )
        """End times of the latest packets, in seconds; the muxer has given out the first of them."""
        self._container.start_encoding()
        if self._began:
            self._ready.begin(seam[1])
        self._frame_size = self._stream.codec_context.frame_size or 1
        self._lead = codec.lead * self._frame_size
        self._parts = [self._part(self._stream.codec_context)]
        self._first = self._given = self._parts[0].first
        """The first packet that is given out, and the number of the next one."""

    @property
    def given_out(self) -> float:
        return 0.0 if self._whole else self._ends[0] - self._began / self._sample_rate

    def encode(self, pcm: Pcm) -> bytes:
        while len(pcm):
            fits = len(pcm)
            if self._lead:
                since = (self._samples + self._lead) % (LEADS * self._lead)
                if not since and self._samples > self._began:
                    self._begin()
                fits = LEADS * self._lead - since
            self._mux(self._frame(pcm[:fits]))
            pcm = pcm[fits:]
        return self._ready.take()

    def finish(self) -> bytes:
        self._mux(None)
        self._container.close()  # writes the trailer
        if self._whole is not None:
            return self._whole.getvalue()
        self._ends.append(self._samples / self._sample_rate)
        return self._ready.take()

    def close(self) -> None:
        self._container.close()

    def _frame(self, pcm: Pcm) -> av.AudioFrame:
        import av

        samples = np.ascontiguousarray(pcm)[np.newaxis]
        if self._codec.sample_format == "fltp":
            frame = av.AudioFrame.from_ndarray(samples.astype(np.float32) / 32_768, format="fltp", layout="mono")
        else:
            frame = av.AudioFrame.from_ndarray(samples, format=self._codec.sample_format, layout="mono")
        frame.sample_rate = self._sample_rate
        frame.time_base = self._time_base
        frame.pts = self._samples
        self._samples += len(pcm)
        return frame

    def _part(self, context: av.AudioCodecContext) -> _Part:
        """Part of a context that is given the samples from here on."""
        number = self._samples // self._frame_size
        return _Part(context, number, number + self._codec.lead if number else 0)

    def _begin(self) -> None:
        """Begin the part from the next seam on; the one before ends there."""
        import av

        context = cast("av.AudioCodecContext", av.CodecContext.create(self._codec.encoder, "w"))
        for name in ("sample_rate", "layout", "format", "time_base", "options", "bit_rate"):
            setattr(context, name, getattr(self._stream.codec_context, name))
        part = self._part(context)
        self._parts[-1].end = part.first
        self._parts.append(part)

    def _mux(self, frame: av.AudioFrame | None) -> None:
        for part in tuple(self._parts):
            for packet in part.context.encode(frame):
                if part.first <= part.number < part.end:
                    self._give(packet)
                part.number += 1
            if part.number >= part.end:
                self._parts.remove(part)

    def _give(self, packet: av.Packet[av.AudioStream]) -> None:
        first, held, lead = self._first, self._codec.packets_held, self._codec.lead
        if self._codec.numbered and self._given == first:
            self._count_pages(packet)
        if packet.pts is not None and packet.duration:
            self._ends.append(float((packet.pts + packet.duration) * self._time_base))
        packet.stream = self._stream
        self._container.mux(packet)
        self._given += 1
        number = self._given - held
        """Number of the first packet that the muxer still has, and whose bytes come next."""
        if lead and not self._whole and number > 0 and not number % (LEADS * lead):
            if number == first:
                self._ready.begin(self.seam[1])
            self.seam = ((number - lead) * self._frame_size, self._ready.written)

    def _count_pages(self, packet: av.Packet[av.AudioStream]) -> None:
        """Have the muxer number the pages as if it had been given a packet for each one before this one's."""
        import av

        assert packet.pts is not None
        for before in range(self._first, 0, -1):
            page = av.Packet(b"\0")
            page.pts = page.dts = packet.pts - before * self._frame_size
            page.duration, page.time_base, page.stream = self._frame_size, self._time_base, self._stream
            self._container.mux(page)


class _Ready:
    """The file that the muxer writes into. It has no `seek`, so the muxer knows that written bytes can't be changed."""

    def __init__(self, written: int = 0) -> None:
        self.begin(written)

    def begin(self, written: int) -> None:
        """Forget what was written; what is written from now on follows so many bytes."""
        self._bytes = bytearray()
        self.written = written

    def write(self, data: bytes) -> int:
        self._bytes += data
        self.written += len(data)
        return len(data)

    def take(self) -> bytes:
        taken = bytes(self._bytes)
        self._bytes.clear()
        return taken


class Encoder(Protocol):
    """One stream's encoder, used by one thread at a time: `encode` any number of times, `finish` once, `close`."""

    @property
    def seam(self) -> Seam:
        """The last place, in what was returned, from which another encoder makes the same bytes as this one."""
        ...

    @property
    def given_out(self) -> float:
        """Seconds of audio whose bytes were returned so far; a codec looks ahead, so it lags what was encoded."""
        ...

    def encode(self, pcm: Pcm) -> bytes:
        """The bytes that are ready once these samples have come; may be empty. `pcm` isn't kept."""
        ...

    def finish(self) -> bytes:
        """The rest, now that no sample follows."""
        ...

    def close(self) -> None:
        """Give back what the encoder holds; nothing more comes of it. Idempotent."""
        ...


def chunks(piece: Pcm, chunk_ms: int, sample_rate: int) -> Iterator[Pcm]:
    """Views of at most `chunk_ms` milliseconds, in order."""
    length = sample_rate * chunk_ms // 1000
    return (piece[start : start + length] for start in range(0, len(piece), length))


_BYTES: dict[str, Callable[[Pcm], bytes]] = {
    "int16": lambda pcm: pcm.astype("<i2", copy=False).tobytes(),
    "int16be": lambda pcm: pcm.astype(">i2").tobytes(),
    "float32": lambda pcm: (pcm * np.float32(1 / 32_768)).astype("<f4").tobytes(),  # from -1 to 1
}


class PcmEncoder:
    """Bare samples, mono."""

    seam: Seam = (0, 0)

    def __init__(self, sample_rate: int, samples: str) -> None:
        self._sample_rate = sample_rate
        self._encode = _BYTES[samples]
        self._samples = 0

    @property
    def given_out(self) -> float:
        return self._samples / self._sample_rate

    def encode(self, pcm: Pcm) -> bytes:
        self._samples += len(pcm)
        return self._encode(pcm)

    def finish(self) -> bytes:
        return b""

    def close(self) -> None:
        pass


UNKNOWN_SIZE = 0xFFFFFFFF
"""The value of both size fields in OpenAI's streamed WAV; players read it as "until the stream ends"."""

HEADER_BYTES = 44

_FORMAT_CHUNK_BYTES = 16
_PCM, _FLOAT = 1, 3
_MONO = 1


def header(sample_rate: int, data_bytes: int | None = None, *, floats: bool = False) -> bytes:
    """RIFF, fmt and data, `HEADER_BYTES` long; samples follow, as `floats` of 32 bits or as integers. Both sizes are
    unknown where `data_bytes` is None."""
    sample_bytes = 4 if floats else SAMPLE_BYTES
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        UNKNOWN_SIZE if data_bytes is None else HEADER_BYTES - 8 + data_bytes,
        b"WAVE",
        b"fmt ",
        _FORMAT_CHUNK_BYTES,
        _FLOAT if floats else _PCM,
        _MONO,
        sample_rate,
        sample_rate * sample_bytes,
        sample_bytes,
        sample_bytes * 8,
        b"data",
        UNKNOWN_SIZE if data_bytes is None else data_bytes,
    )


class WavEncoder(PcmEncoder):
    """A WAV: given out as it grows, without its length, or `whole` by `finish`, with its length."""

    def __init__(self, sample_rate: int, *, whole: bool, floats: bool = False) -> None:
        super().__init__(sample_rate, "float32" if floats else "int16")
        self._floats = floats
        self._clip = io.BytesIO() if whole else None
        self._header = b"" if whole else header(sample_rate, floats=floats)

    @property
    def given_out(self) -> float:
        return 0.0 if self._clip else super().given_out

    def encode(self, pcm: Pcm) -> bytes:
        before, self._header = self._header, b""
        encoded = before + super().encode(pcm)
        if self._clip is None:
            return encoded
        self._clip.write(encoded)
        return b""

    def finish(self) -> bytes:
        if self._clip is None:
            return self._header
        return header(self._sample_rate, self._clip.tell(), floats=self._floats) + self._clip.getvalue()


class Resampler:
    """Brings samples to another rate.

    It works in float32, where soxr's result doesn't depend on how the samples are cut into calls; in int16 it dithers,
    and does. soxr holds back up to 40 ms (80 ms for the lowest rates), which come with `rest`.
    """

    def __init__(self, from_rate: int, to_rate: int) -> None:
        import soxr  # not before somebody asks for another rate

        self._stream = soxr.ResampleStream(from_rate, to_rate, 1, dtype="float32", quality="HQ")

    def resampled(self, pcm: Pcm) -> Pcm:
        return self._given(pcm, last=False)

    def rest(self) -> Pcm:
        return self._given(np.zeros(0, np.int16), last=True)

    def _given(self, pcm: Pcm, *, last: bool) -> Pcm:
        samples: NDArray[np.float32] = self._stream.resample_chunk(pcm.astype(np.float32), last=last)
        return np.clip(np.rint(samples), -32_768, 32_767).astype(np.int16)


class ResamplingEncoder:
    """Brings an engine's samples to the rate that `inner` was made for."""

    seam: Seam = (0, 0)

    def __init__(self, inner: Encoder, engine_rate: int, sample_rate: int) -> None:
        self._inner = inner
        self._resampler = Resampler(engine_rate, sample_rate)

    @property
    def given_out(self) -> float:
        return self._inner.given_out

    def encode(self, pcm: Pcm) -> bytes:
        return self._inner.encode(self._resampler.resampled(pcm))

    def finish(self) -> bytes:
        return self._inner.encode(self._resampler.rest()) + self._inner.finish()

    def close(self) -> None:
        self._inner.close()


def make_encoder(
    output: OutputFormat, engine_rate: int = SAMPLE_RATE, *, whole: bool, number: int = 0, seam: Seam = (0, 0)
) -> Encoder:
    """An encoder of an engine's samples.

    Args:
        engine_rate: samples per second of the engine.
        whole: made to be sent at once, with exact lengths, instead of while it grows.
        number: of the stream, where its container has one: 0 to 2**31 - 1.
        seam: of the encoder that this one continues, if both are at the engine's rate.
    """
    codec, rate = output.format.codec, output.sample_rate
    made: Encoder
    if codec is not None:
        if output.bit_rate is not None and codec.bit_rate is not None:
            codec = replace(codec, bit_rate=output.bit_rate, bit_rate_above_24k=None)
        has_lengths = output.format.needs_length or not output.format.telephony
        made = AvEncoder(codec, rate, whole=whole and has_lengths, number=number, seam=seam)
    elif output.format.samples in ("wav", "wav32"):
        made = WavEncoder(rate, whole=whole, floats=output.format.samples == "wav32")
    else:
        made = PcmEncoder(rate, output.format.samples)
    return made if rate == engine_rate else ResamplingEncoder(made, engine_rate, rate)
