"""The formats of OpenAI's API: what each is called on the wire, at which rates it is made, and by what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from frontend.audio.av_encoder import AvEncoder, Codec
from frontend.audio.encoder import Encoder
from frontend.audio.pcm import PcmEncoder
from frontend.audio.raw import SAMPLE_SIZES, RawFormat, make_raw_encoder
from frontend.audio.resample import ResamplingEncoder
from frontend.audio.wav import WavEncoder, WholeWavEncoder
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE

MIN_SAMPLE_RATE = 8_000
MAX_SAMPLE_RATE = 48_000


class AudioFormat(StrEnum):
    """The values of `response_format`; `mp3` is OpenAI's default."""

    MP3 = "mp3"
    OPUS = "opus"
    AAC = "aac"
    FLAC = "flac"
    WAV = "wav"
    PCM = "pcm"


@dataclass(frozen=True, slots=True)
class FormatInfo:
    """One format."""

    content_type: str
    rates: tuple[int, ...] = ()
    """The sample rates that the codec has; empty: any."""
    codec: Codec | None = None
    """FFmpeg's recipe; None for a format that needs no codec."""


FORMATS = {
    # Without the bit reservoir a frame leaves 24 ms earlier, and no frame needs one before it.
    AudioFormat.MP3: FormatInfo(
        "audio/mpeg",
        (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000),
        Codec(
            "mp3",
            "libmp3lame",
            "s16p",
            bit_rate=64_000,
            bit_rate_above_24k=96_000,
            options={"reservoir": "0"},
            container_options={"id3v2_version": "0"},
        ),
    ),
    # `audio/ogg` is what RFC 7845 (section 9) registers for Opus in Ogg, and what browsers and mimetypes know the file
    # by; `audio/opus` is the RTP payload of RFC 7587. A page per packet: FFmpeg's default gathers a second of audio.
    AudioFormat.OPUS: FormatInfo(
        "audio/ogg",
        (8_000, 12_000, 16_000, 24_000, 48_000),
        Codec(
            "ogg",
            "libopus",
            "s16",
            bit_rate=64_000,
            container_options={"page_duration": "20000"},
            packets_held=1,
        ),
    ),
    AudioFormat.AAC: FormatInfo(
        "audio/aac",
        (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000),
        Codec("adts", "aac", "fltp", bit_rate=64_000, bit_rate_above_24k=96_000),
    ),
    # 48 ms a frame at 24 kHz; FFmpeg's default is 96. Its muxer would leave 8 KiB of room for tags.
    AudioFormat.FLAC: FormatInfo(
        "audio/flac",
        (),
        Codec(
            "flac",
            "flac",
            "s16",
            options={"frame_size": "1152"},
            container_options={"metadata_header_padding": "0"},
        ),
    ),
    AudioFormat.WAV: FormatInfo("audio/wav"),
    AudioFormat.PCM: FormatInfo("audio/pcm"),
}


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """The form in which a speech leaves: an audio format, at a rate that it has."""

    format: AudioFormat | RawFormat = AudioFormat.PCM
    sample_rate: int = SAMPLE_RATE
    bit_rate: int | None = None
    """Bits per second of a lossy format; None: the format's own."""

    @property
    def content_type(self) -> str:
        """The format's MIME type; bare samples name their rate."""
        if isinstance(self.format, RawFormat):
            kind = {RawFormat.MULAW: "basic", RawFormat.ALAW: "x-alaw-basic"}.get(self.format, "x-f32")
            return f"audio/{kind};rate={self.sample_rate}"
        return FORMATS[self.format].content_type

    @property
    def has_bit_rate(self) -> bool:
        """True if a bit rate changes the audio: the codec is lossy."""
        codec = None if isinstance(self.format, RawFormat) else FORMATS[self.format].codec
        return codec is not None and codec.bit_rate is not None

    @property
    def bytes_per_second(self) -> float:
        """Bytes that a second of audio takes; for FLAC the most, those of its samples."""
        if isinstance(self.format, RawFormat):
            return float(SAMPLE_SIZES[self.format] * self.sample_rate)
        codec = FORMATS[self.format].codec
        if codec is None or not codec.bit_rate:
            return float(SAMPLE_BYTES * self.sample_rate)
        above = codec.bit_rate_above_24k if self.sample_rate > SAMPLE_RATE else 0
        return (self.bit_rate or above or codec.bit_rate) / 8

    def needs_thread(self, engine_rate: int) -> bool:
        """True where encoding an engine's samples takes long enough to be kept off the event loop."""
        if isinstance(self.format, RawFormat):
            return self.format is not RawFormat.FLOAT32 or self.sample_rate != engine_rate
        return FORMATS[self.format].codec is not None or self.sample_rate != engine_rate


def make_encoder(output: OutputFormat, engine_rate: int = SAMPLE_RATE, *, whole: bool) -> Encoder:
    """An encoder of an engine's samples.

    Args:
        engine_rate: samples per second of the engine.
        whole: made to be sent at once, with exact lengths, instead of while it grows.
    """
    encoder: Encoder
    if isinstance(output.format, RawFormat):
        encoder = make_raw_encoder(output.format, output.sample_rate)
    elif codec := FORMATS[output.format].codec:
        if output.bit_rate is not None and codec.bit_rate is not None:
            codec = replace(codec, bit_rate=output.bit_rate, bit_rate_above_24k=None)
        encoder = AvEncoder(codec, output.sample_rate, whole=whole)
    elif output.format is AudioFormat.PCM:
        encoder = PcmEncoder(output.sample_rate)
    else:
        encoder = WholeWavEncoder(output.sample_rate) if whole else WavEncoder(output.sample_rate)
    if output.sample_rate == engine_rate:
        return encoder
    return ResamplingEncoder(encoder, engine_rate, output.sample_rate)
