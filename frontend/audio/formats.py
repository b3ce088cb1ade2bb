"""The audio formats, one row each: the names that requests give them, their files, rates and encoders."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from frontend.contract.errors import ApiError
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE

MIN_SAMPLE_RATE = 8_000
MAX_SAMPLE_RATE = 48_000
MIN_BIT_RATE = 8_000


@dataclass(frozen=True, slots=True)
class Codec:
    """FFmpeg's codec, container and options for a format."""

    container: str
    """FFmpeg's name of the muxer."""
    encoder: str
    sample_format: str
    """FFmpeg's name of what the encoder takes: s16, s16p or fltp."""
    bit_rate: int | None = None
    """Bits per second; None where the codec is lossless."""
    bit_rate_above_24k: int | None = None
    """Bit rate above 24 kHz, where the sound has twice the band."""
    options: Mapping[str, str] = field(default_factory=dict)
    container_options: Mapping[str, str] = field(default_factory=dict)
    numbered: bool = False
    """Its container has a number of its own in each of its pages, so that files can be chained."""
    packets_held: int = 0
    """Packets that the muxer keeps until the next one comes."""
    frame: int = 0
    """Samples of a frame up to 24 kHz, if an encoder that begins at any frame soon makes the same ones (`SETTLED`)."""
    lead: int = 0
    """Frames that a codec context hears before its first one, if a stream goes through one after another: the frames of
    an encoder that began elsewhere are never the same."""


@dataclass(frozen=True, slots=True, eq=False)
class AudioFormat:
    """One format. All that offers, names, checks or makes formats reads these rows."""

    name: str
    """Its value in `response_format`, and the extension of its files."""
    content_type: str
    codec: Codec | None = None
    """FFmpeg's recipe."""
    samples: Literal["int16", "int16be", "float32", "wav", "wav32"] = "int16"
    """The form of its samples where it needs no codec."""
    rates: tuple[int, ...] = ()
    """The sample rates that the codec has; empty: any."""
    usual_rate: int = SAMPLE_RATE
    most_bit_rate: int = 320_000
    sample_bytes: int = SAMPLE_BYTES
    """Bytes of a sample where no bit rate is given; of a lossless codec the most."""
    title: str = ""
    """A name for people; empty: the name in capitals."""
    other_names: tuple[str, ...] = ()
    """Names that other services' clients give it."""
    other_extensions: tuple[str, ...] = ()
    other_types: tuple[str, ...] = ()
    """Other content types by which `Accept` headers name it, in lower case."""
    needs_length: bool = False
    """Its header names its length, so that many programs can read it only once that is known."""
    telephony: bool = False
    """Bare samples that only telephony's and signal processing's clients ask for: neither OpenAI's API nor files have
    the format, and its content type names the rate."""

    def __str__(self) -> str:
        return self.name


SETTLED = 5
"""Seconds after which an encoder with `Codec.frame` makes the frames that one does which has heard all. LAME took 1.2 s
at most in 132 tries of speech and imitations of it."""

_MPEG_RATES = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
_ROWS = (
    # Without the bit reservoir a frame leaves 24 ms earlier, and no frame needs one before it.
    AudioFormat(
        "mp3",
        "audio/mpeg",
        Codec(
            "mp3",
            "libmp3lame",
            "s16p",
            bit_rate=64_000,
            bit_rate_above_24k=96_000,
            options={"reservoir": "0"},
            container_options={"id3v2_version": "0"},
            frame=576,
        ),
        rates=_MPEG_RATES,
        other_types=("audio/mp3", "audio/x-mp3", "audio/mpeg3", "audio/x-mpeg"),
    ),
    # `audio/ogg` is what RFC 7845 (section 9) registers for Opus in Ogg, and what browsers and mimetypes know the file
    # by; `audio/opus` is the RTP payload of RFC 7587. A page per packet: FFmpeg's default gathers a second of audio.
    AudioFormat(
        "opus",
        "audio/ogg",
        Codec(
            "ogg",
            "libopus",
            "s16",
            bit_rate=64_000,
            # Without `bitexact` the muxer draws the stream's number itself.
            container_options={"page_duration": "20000", "fflags": "+bitexact"},
            numbered=True,
            packets_held=1,
            lead=10,
        ),
        rates=(8_000, 12_000, 16_000, 24_000, 48_000),
        most_bit_rate=256_000,  # libopus' own limit for one channel
        other_extensions=("ogg",),
        other_types=("application/ogg", "audio/opus", "audio/x-opus+ogg"),
    ),
    AudioFormat(
        "aac",
        "audio/aac",
        Codec("adts", "aac", "fltp", bit_rate=64_000, bit_rate_above_24k=96_000, lead=40),
        rates=_MPEG_RATES,
        other_types=("audio/aacp", "audio/x-aac"),
    ),
    # 48 ms a frame at 24 kHz; FFmpeg's default is 96. Its muxer would leave 8 KiB of room for tags.
    AudioFormat(
        "flac",
        "audio/flac",
        Codec(
            "flac",
            "flac",
            "s16",
            options={"frame_size": "1152"},
            container_options={"metadata_header_padding": "0"},
        ),
        other_types=("audio/x-flac",),
    ),
    # Other services' WAVs: Cartesia's of floats, Azure's and Google's for telephones; before the one that has the type.
    *(
        AudioFormat(
            f"wav_{law}",
            "audio/wav",
            Codec("wav", f"pcm_{law}", "s16", container_options={"fflags": "+bitexact"}),
            usual_rate=8_000,
            sample_bytes=1,
            needs_length=True,
            telephony=True,
        )
        for law in ("mulaw", "alaw")
    ),
    AudioFormat("wav_f32le", "audio/wav", samples="wav32", sample_bytes=4, needs_length=True, telephony=True),
    AudioFormat(
        "wav",
        "audio/wav",
        samples="wav",
        other_types=("audio/x-wav", "audio/wave", "audio/vnd.wave", "audio/x-pn-wav"),
        needs_length=True,
    ),
    # Of what the container holds only bare samples can be streamed: other codecs need a table of packets before them.
    AudioFormat("caf", "audio/x-caf", Codec("caf", "pcm_s16le", "s16"), title="CAF (Apple)"),
    AudioFormat(
        "pcm",
        "audio/pcm",
        title="PCM, 24 kHz mono s16le",
        other_names=("pcm_s16le", "linear16"),
        other_extensions=("raw",),
    ),
    # ITU-T G.711, 8 bits a sample.
    AudioFormat(
        "mulaw",
        "audio/basic",
        Codec("mulaw", "pcm_mulaw", "s16"),
        usual_rate=8_000,
        sample_bytes=1,
        other_names=("pcm_mulaw", "ulaw"),
        telephony=True,
    ),
    AudioFormat(
        "alaw",
        "audio/x-alaw-basic",
        Codec("alaw", "pcm_alaw", "s16"),
        usual_rate=8_000,
        sample_bytes=1,
        other_names=("pcm_alaw",),
        telephony=True,
    ),
    AudioFormat(
        "pcm_f32le",
        "audio/x-f32",
        samples="float32",
        sample_bytes=4,
        telephony=True,
    ),
    # RFC 2586: 16 bits in network byte order, which is the other one than that of `audio/pcm`.
    AudioFormat("l16", "audio/L16", samples="int16be", other_names=("pcm_s16be",), telephony=True),
)
FORMATS = {row.name: row for row in _ROWS if not row.telephony}
"""The formats of OpenAI's API and of files, by name."""

ALL_NAMES = {name: row for row in _ROWS for name in (row.name, *row.other_names)}
"""All formats, by all names that any service's clients give them."""

BY_TYPE = {name: row for row in _ROWS for name in (row.content_type.lower(), *row.other_types)}
"""All formats, by all content types that `Accept` headers give them."""

BY_EXTENSION = {f".{extension}": row for row in FORMATS.values() for extension in (row.name, *row.other_extensions)}
"""The formats of files, by their names' suffixes."""


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """The form in which a speech leaves: an audio format, at a rate that it has."""

    format: AudioFormat = FORMATS["pcm"]
    sample_rate: int = SAMPLE_RATE
    bit_rate: int | None = None
    """Bits per second of a lossy format; None: the format's own."""

    @property
    def content_type(self) -> str:
        """The format's MIME type; telephony's name their rate."""
        return self.format.content_type + (f";rate={self.sample_rate}" if self.format.telephony else "")

    @property
    def has_bit_rate(self) -> bool:
        """True if a bit rate changes the audio: the codec is lossy."""
        return self.format.codec is not None and self.format.codec.bit_rate is not None

    @property
    def bytes_per_second(self) -> float:
        """Bytes that a second of audio takes; for FLAC the most, those of its samples."""
        codec = self.format.codec
        if codec is None or not codec.bit_rate:
            return float(self.format.sample_bytes * self.sample_rate)
        above = codec.bit_rate_above_24k if self.sample_rate > SAMPLE_RATE else 0
        return (self.bit_rate or above or codec.bit_rate) / 8

    def settled(self, audio: int, engine_rate: int) -> tuple[int, int]:
        """The part of a stream's first so many bytes that needn't be encoded again for those that follow.

        Returns:
            Its samples and bytes; 0 and 0 where the encoder must begin at the beginning.
        """
        codec, rate = self.format.codec, self.sample_rate
        # The codec may have another bit rate instead of one that was asked for, and so other frames.
        if codec is None or not codec.frame or self.bit_rate or not rate == engine_rate <= SAMPLE_RATE:
            return 0, 0
        size, odd = divmod(codec.frame * self.bytes_per_second, rate)
        frames = 0 if odd else max(int(audio // size) - SETTLED * rate // codec.frame, 0)
        return frames * codec.frame, frames * int(size)

    def needs_thread(self, engine_rate: int) -> bool:
        """True where encoding an engine's samples takes long enough to be kept off the event loop."""
        return self.format.codec is not None or self.sample_rate != engine_rate


def format_named(name: str, param: str) -> AudioFormat:
    """The format of OpenAI's API that a request's field names.

    Raises:
        ApiError: 400, there is none.
    """
    if name not in FORMATS:
        message = f"`{param}`: no audio format is called {name[:32]!r}; ask for {listed(FORMATS)}."
        raise ApiError(400, message, param=param, code="invalid_value")
    return FORMATS[name]


def output_of(
    audio_format: AudioFormat, rate: float | None = None, bit_rate: float | None = None, param: str = "sample_rate"
) -> OutputFormat:
    """The format at a rate that it has.

    Args:
        rate: in Hz; None: the format's usual one.
        bit_rate: bits per second; None: the format's own.
        param: the request's field that names the rate.

    Raises:
        ApiError: 400, the format doesn't have the rate or the bit rate.
    """
    whole = audio_format.usual_rate if rate is None else round(rate)
    rates = audio_format.rates
    if whole not in rates if rates else not MIN_SAMPLE_RATE <= whole <= MAX_SAMPLE_RATE:
        known = listed(map(str, rates)) if rates else f"{MIN_SAMPLE_RATE} to {MAX_SAMPLE_RATE}"
        message = f"`{param}`: {audio_format} has no {whole} Hz; ask for {known}."
        raise ApiError(400, message, param=param, code="unsupported_sample_rate")
    if bit_rate is not None and not MIN_BIT_RATE <= round(bit_rate) <= audio_format.most_bit_rate:
        message = f"`bit_rate`: {round(bit_rate)} is not between {MIN_BIT_RATE} and {audio_format.most_bit_rate}."
        raise ApiError(400, message, param="bit_rate", code="invalid_value")
    return OutputFormat(audio_format, whole, None if bit_rate is None else round(bit_rate))


def encoding_named(
    encoding: str, rate: float | None = None, bit_rate: float | None = None, *, known: Collection[str] = ALL_NAMES
) -> OutputFormat:
    """An encoding by any name that a service's clients give it, such as `pcm_s16le` or `linear16`.

    Args:
        rate: those of `output_of`, as `bit_rate`.
        known: the names that these clients may give.

    Raises:
        ApiError: 400, there is no such format here.
    """
    if encoding not in known:
        message = f"`encoding`: {encoding[:32]!r} is none of {', '.join(known)}."
        raise ApiError(400, message, param="encoding", code="invalid_encoding")
    return output_of(ALL_NAMES[encoding], rate, bit_rate)


def listed(names: Iterable[str]) -> str:
    """`mp3, opus or wav`."""
    *others, last = names
    return f"{', '.join(others)} or {last}"
