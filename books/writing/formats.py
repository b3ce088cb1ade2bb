"""Formats of finished books."""

from __future__ import annotations

from dataclasses import dataclass

from books.errors import BookError


@dataclass(frozen=True, slots=True)
class BookAudioFormat:
    """FFmpeg's names and figures for one format of audio."""

    suffix: str
    container: str
    """Muxer of a chapter's file."""
    encoder: str
    sample_format: str
    sample_rate: int
    bit_rate: int | None
    """Bits per second of mono speech; None where the format is lossless."""
    media_type: str
    joined: bool
    """True if encoded chapters can follow each other in one file as they are."""

    @property
    def bytes_per_second(self) -> float:
        """Size of a second, about; 16-bit speech takes about half of its size in FLAC."""
        return self.bit_rate / 8 if self.bit_rate else self.sample_rate


AAC = BookAudioFormat("m4a", "mp4", "aac", "fltp", 24_000, 64_000, "audio/mp4", True)
MP3 = BookAudioFormat("mp3", "mp3", "libmp3lame", "s16p", 24_000, 64_000, "audio/mpeg", True)
OPUS = BookAudioFormat("opus", "ogg", "libopus", "s16", 48_000, 32_000, "audio/ogg", True)
FLAC = BookAudioFormat("flac", "flac", "flac", "s16", 24_000, None, "audio/flac", False)

BY_SUFFIX = {"m4b": AAC, "m4a": AAC, "mp3": MP3, "opus": OPUS, "flac": FLAC, "epub": AAC}
"""Audio in an output file of that suffix. An EPUB contains one file of AAC for each chapter."""


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
