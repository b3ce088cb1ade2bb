"""The formats of books, one row each: what the command, jobs, the page and the writers of books read."""

from __future__ import annotations

from dataclasses import dataclass


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
    takes_cover: bool = True
    """True if FFmpeg attaches a picture in its container."""

    @property
    def bytes_per_second(self) -> float:
        """Size of a second, about; 16-bit speech takes about half of its size in FLAC."""
        return self.bit_rate / 8 if self.bit_rate else self.sample_rate


AAC = BookAudioFormat("m4a", "mp4", "aac", "fltp", 24_000, 64_000)
MP3 = BookAudioFormat("mp3", "mp3", "libmp3lame", "s16p", 24_000, 64_000)
OPUS = BookAudioFormat("opus", "ogg", "libopus", "s16", 48_000, 32_000, takes_cover=False)
FLAC = BookAudioFormat("flac", "flac", "flac", "s16", 24_000, None)


@dataclass(frozen=True, slots=True)
class BookFormat:
    name: str
    """Its name in requests, and the suffix of its file."""
    content_type: str
    audio: BookAudioFormat | None
    """The audio in its file; None: a folder of chapters, whose format is chosen apart."""
    title: str = ""
    """A name for people; empty: another name of the format before it."""


BOOK_FORMATS = {
    row.name: row
    for row in (
        BookFormat("m4b", "audio/mp4", AAC, "M4B, one file with chapters"),
        BookFormat("m4a", "audio/mp4", AAC),
        BookFormat("mp3", "audio/mpeg", MP3, "MP3, one file with chapters"),
        BookFormat("opus", "audio/ogg", OPUS, "Opus, one file with chapters"),
        BookFormat("flac", "audio/flac", FLAC, "FLAC, one file"),
        BookFormat("epub", "application/epub+zip", AAC, "EPUB to read along"),
        BookFormat("zip", "application/zip", None, "ZIP, a file for each chapter"),
    )
}
"""The formats by name, the usual one first. An EPUB contains one file of AAC for each chapter."""

BOOK_FORMAT = next(iter(BOOK_FORMATS))

CHAPTER_FORMATS = {row.name: row.audio for row in BOOK_FORMATS.values() if row.audio and row.audio.suffix == row.name}
"""The formats of single chapters, the usual one first."""

CHAPTER_FORMAT = next(iter(CHAPTER_FORMATS))
