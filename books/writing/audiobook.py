"""One file of audio with chapter marks, put together from the chapters' files without encoding them again."""

from __future__ import annotations

import io
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av

from books.book import Book, Picture
from books.writing.chapter_audio import (
    AAC,
    FLAC,
    MP3,
    BookAudioFormat,
    ChapterEncoding,
    Packets,
    decode_file,
    open_container,
)
from shm.atomic import replacing

log = logging.getLogger(__name__)

_WITH_COVER = (AAC, MP3, FLAC)
"""Containers in which FFmpeg attaches a picture."""
_DEMUXERS = {"image/jpeg": "jpeg_pipe", "image/png": "png_pipe"}


@dataclass(frozen=True, slots=True)
class ChapterFile:
    title: str
    audio: Path


def write_audiobook(path: Path, book: Book, chapters: Sequence[ChapterFile], form: BookAudioFormat) -> list[float]:
    """Write the book, whole or not at all; each chapter's start in seconds.

    The packets of the chapters follow each other as they are; FLAC's are numbered within a file, so FLAC is encoded
    again, which loses nothing. Title, author, language and cover go into the file.
    """
    packets = [Packets.of(chapter.audio) for chapter in chapters]
    lengths = [each.seconds for each in packets]
    starts = [sum(lengths[:number], Fraction(0)) for number in range(len(chapters))]
    with replacing(path) as draft, open_container(draft, form) as container:
        container.metadata.update(facts_of(book, len(chapters)))
        container.set_chapters(
            [
                {
                    "id": number,
                    "start": round(start * form.sample_rate),
                    "end": round((start + length) * form.sample_rate),
                    "time_base": Fraction(1, form.sample_rate),
                    "metadata": {"title": chapter.title},
                }
                for number, (chapter, start, length) in enumerate(zip(chapters, starts, lengths, strict=True))
            ]
        )
        if form is FLAC:
            _encode_again(container, chapters, book.cover)
        else:
            _copy(container, chapters, packets, book.cover if form in _WITH_COVER else None)
    return [float(start) for start in starts]


def facts_of(book: Book, chapters: int) -> dict[str, str]:
    facts = {
        "title": book.title,
        "album": book.title,
        "artist": book.author,
        "album_artist": book.author,
        "language": book.language,
        "genre": "Audiobook",
        "media_type": "2",  # "audiobook" in MPEG-4's `stik`
        "comment": f"{chapters} chapters, spoken by Kokoro",
    }
    return {name: value for name, value in facts.items() if value}


def _copy(container: Any, chapters: Sequence[ChapterFile], packets: Sequence[Packets], cover: Picture | None) -> None:
    """Copy the chapters' packets one by one: a book without chapters is one of ten hours."""
    with av.open(str(chapters[0].audio)) as first:
        stream = container.add_stream_from_template(first.streams.audio[0])
    _attach(container, cover)
    position = 0
    for chapter, each in zip(chapters, packets, strict=True):
        with av.open(str(chapter.audio)) as source:
            for packet in source.demux(audio=0):
                if packet.size:
                    # A file's last packet is shorter than its frame, all of which players sound: without its whole
                    # length each chapter's mark would come up to a frame earlier against the sound than the one before.
                    packet.pts = packet.dts = position
                    packet.duration = each.duration
                    packet.stream = stream
                    container.mux(packet)
                    position += each.duration


def _encode_again(container: Any, chapters: Sequence[ChapterFile], cover: Picture | None) -> None:
    encoding = ChapterEncoding(container, FLAC)
    _attach(container, cover)
    for chapter in chapters:
        for pcm in decode_file(chapter.audio):
            encoding.add(pcm)
    encoding.finish()


def _attach(container: Any, cover: Picture | None) -> None:
    """Attach the cover. A picture that can't be read is left out: the book is no worse to hear."""
    if cover is None:
        return
    try:
        with av.open(io.BytesIO(cover.data), "r", format=_DEMUXERS[cover.media_type]) as picture:
            next(picture.decode(video=0))
            stream = container.add_stream_from_template(picture.streams.video[0])
    except (av.FFmpegError, IndexError, StopIteration) as error:
        log.warning("the cover can't be read and is left out: %s", error)
        return
    stream.disposition = av.stream.Disposition.attached_pic
    packet = av.Packet(cover.data)
    packet.stream, packet.pts, packet.dts = stream, 0, 0
    container.mux(packet)
