"""The encoder of formats that need a codec: FFmpeg's encoders and containers, through PyAV."""

from __future__ import annotations

import io
from collections import deque
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from frontend.audio.formats import Codec
from shm.audio import Pcm

if TYPE_CHECKING:
    import av


class AvEncoder:
    """One stream through one codec context, so that it has no seam.

    Args:
        number: of the stream, in a container that has one (`Codec.numbered`).
        whole: `finish` gives all of it, and what a container says of lengths is exact (FLAC's sample count and MD5,
            MP3's gapless tag); otherwise each packet is given out as soon as the codec has made it.
    """

    def __init__(self, codec: Codec, sample_rate: int, *, whole: bool, number: int = 0) -> None:
        # Memory that a server of WAV and PCM never needs (`python -m benchmarks.late_loading`).
        import av

        self._sample_format = codec.sample_format
        self._sample_rate = sample_rate
        self._time_base = Fraction(1, sample_rate)
        self._samples = 0
        self._whole = io.BytesIO() if whole else None
        self._ready = _Ready()
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
        self._ends: deque[float] = deque([0.0] * (codec.packets_held + 1), maxlen=codec.packets_held + 1)
        """End times of the latest packets, in seconds; the muxer has given out the first of them."""
        self._container.start_encoding()

    @property
    def given_out(self) -> float:
        return 0.0 if self._whole else self._ends[0]

    def encode(self, pcm: Pcm) -> bytes:
        if len(pcm):
            self._mux(self._frame(pcm))
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
        if self._sample_format == "fltp":
            frame = av.AudioFrame.from_ndarray(samples.astype(np.float32) / 32_768, format="fltp", layout="mono")
        else:
            frame = av.AudioFrame.from_ndarray(samples, format=self._sample_format, layout="mono")
        frame.sample_rate = self._sample_rate
        frame.time_base = self._time_base
        frame.pts = self._samples
        self._samples += len(pcm)
        return frame

    def _mux(self, frame: av.AudioFrame | None) -> None:
        for packet in self._stream.encode(frame):
            if packet.pts is not None and packet.duration:
                self._ends.append(float((packet.pts + packet.duration) * self._time_base))
            self._container.mux(packet)


class _Ready:
    """The file that the muxer writes into. It has no `seek`, so the muxer knows that written bytes can't be changed."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def write(self, data: bytes) -> int:
        self._bytes += data
        return len(data)

    def take(self) -> bytes:
        taken = bytes(self._bytes)
        self._bytes.clear()
        return taken
