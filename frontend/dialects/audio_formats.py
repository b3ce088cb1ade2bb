"""The other services' names of audio formats."""

from __future__ import annotations

import re
from collections.abc import Mapping

from frontend.audio.formats import FORMATS, MAX_SAMPLE_RATE, MIN_SAMPLE_RATE, AudioFormat, OutputFormat
from frontend.audio.raw import RawFormat
from frontend.contract.errors import ApiError

MIN_BIT_RATE, MAX_BIT_RATE = 8_000, 320_000
MAX_OPUS_BIT_RATE = 256_000
"""libopus' own limit for one channel."""

_ELEVENLABS = re.compile(r"(?P<codec>[a-z]+3?)_(?P<rate>\d{4,5})(?:_(?P<kilobits>\d{2,3}))?")
_CODECS: Mapping[str, AudioFormat | RawFormat] = {
    "mp3": AudioFormat.MP3,
    "opus": AudioFormat.OPUS,
    "pcm": AudioFormat.PCM,
    "wav": AudioFormat.WAV,
    "ulaw": RawFormat.MULAW,
    "alaw": RawFormat.ALAW,
}
_ENCODINGS: Mapping[str, AudioFormat | RawFormat] = {
    "pcm_s16le": AudioFormat.PCM,
    "linear16": AudioFormat.PCM,
    "pcm_f32le": RawFormat.FLOAT32,
    "pcm_mulaw": RawFormat.MULAW,
    "pcm_alaw": RawFormat.ALAW,
    "mulaw": RawFormat.MULAW,
    "alaw": RawFormat.ALAW,
    "mp3": AudioFormat.MP3,
    "opus": AudioFormat.OPUS,
    "flac": AudioFormat.FLAC,
    "aac": AudioFormat.AAC,
    "wav": AudioFormat.WAV,
}


def elevenlabs_output(name: str) -> OutputFormat:
    """ElevenLabs' `output_format`, such as `mp3_44100_128`, `pcm_24000` or `ulaw_8000`.

    Raises:
        ApiError: 400, there is no such format here.
    """
    match = _ELEVENLABS.fullmatch(name)
    if match is None or match["codec"] not in _CODECS:
        known = "mp3_RATE_KBITS, opus_48000_KBITS, pcm_RATE, ulaw_8000, alaw_8000"
        message = f"`output_format`: {name[:32]!r} is none of {known}."
        raise ApiError(400, message, param="output_format", code="invalid_output_format")
    kilobits = match["kilobits"]
    output = OutputFormat(_CODECS[match["codec"]], int(match["rate"]), int(kilobits) * 1000 if kilobits else None)
    return _checked(output, "output_format")


def named_output(encoding: str, sample_rate: float | None, bit_rate: float | None = None) -> OutputFormat:
    """An encoding as Cartesia and Deepgram name it, such as `pcm_s16le` or `linear16`.

    Args:
        sample_rate: in Hz; None: 24,000, or 8,000 for telephony's encodings.

    Raises:
        ApiError: 400, there is no such format here.
    """
    found = _ENCODINGS.get(encoding)
    if found is None:
        message = f"`encoding`: {encoding[:32]!r} is none of {', '.join(_ENCODINGS)}."
        raise ApiError(400, message, param="encoding", code="invalid_encoding")
    usual = 8_000 if found in (RawFormat.MULAW, RawFormat.ALAW) else 24_000
    rate = usual if sample_rate is None else round(sample_rate)
    return _checked(OutputFormat(found, rate, None if bit_rate is None else round(bit_rate)), "sample_rate")


def _checked(output: OutputFormat, param: str) -> OutputFormat:
    rates = () if isinstance(output.format, RawFormat) else FORMATS[output.format].rates
    if output.sample_rate not in rates if rates else not MIN_SAMPLE_RATE <= output.sample_rate <= MAX_SAMPLE_RATE:
        known = ", ".join(map(str, rates)) if rates else f"{MIN_SAMPLE_RATE} to {MAX_SAMPLE_RATE}"
        message = f"`{param}`: {output.format} has no {output.sample_rate} Hz; it has {known}."
        raise ApiError(400, message, param=param, code="unsupported_sample_rate")
    most = MAX_OPUS_BIT_RATE if output.format is AudioFormat.OPUS else MAX_BIT_RATE
    if output.bit_rate is not None and not MIN_BIT_RATE <= output.bit_rate <= most:
        message = f"`bit_rate`: {output.bit_rate} is not between {MIN_BIT_RATE} and {most}."
        raise ApiError(400, message, param="bit_rate", code="invalid_value")
    return output
