"""Finished books: one file with chapters, a read-along EPUB, or a folder of chapters; and their captions."""

from __future__ import annotations

import io
import json
import logging
import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import av

from books.book import SAMPLE_RATE, Book, BookWord, Picture, SpokenChapter, SpokenSentence
from books.writing.chapter_audio import ChapterEncoding, Packets, audio_format, decode_file, open_container
from books.writing.read_along import ReadAlongChapter, write_read_along
from books.writing.subtitles import LINE, cues, subtitles
from shm import kept
from shm.atomic import replacing, write_whole
from shm.book_formats import CHAPTER_FORMAT, FLAC, BookAudioFormat
from shm.book_jobs import file_name
from shm.timing import WordTiming

log = logging.getLogger(__name__)

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
            _copy(container, chapters, packets, book.cover if form.takes_cover else None)
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


decode_chapter = kept.CHAPTER.decoder(SpokenChapter)
"""Decode the text in time of a finished chapter; raises `msgspec.DecodeError`."""


def encoded_chapter(spoken: SpokenChapter) -> bytes:
    """The inverse of `decode_chapter`."""
    return kept.CHAPTER.encode(asdict(spoken))


def captions(chapter: SpokenChapter, suffix: str) -> str:
    """Captions of the chapter's sentences, in the format `srt` or `vtt`."""
    found = [cue for sentence in chapter.sentences for cue in cues(list(_timings(sentence)))]
    starts = [*(cue.start for cue in found[1:]), math.inf]
    return subtitles((replace(cue, end=min(cue.end, start)) for cue, start in zip(found, starts, strict=False)), suffix)


def _timings(sentence: SpokenSentence) -> Iterator[WordTiming]:
    """The sentence as it is written, as one; one of more than two lines by its words, between which it is divided."""
    whole = [BookWord(sentence.text, sentence.start, sentence.end)]
    for word in sentence.words if len(sentence.text) > 2 * LINE and sentence.words else whole:
        yield WordTiming(word.text, "", word.start / SAMPLE_RATE, word.end / SAMPLE_RATE)


@dataclass(frozen=True, slots=True)
class BookOutput:
    path: Path
    form: BookAudioFormat
    folder: bool = False
    """Write a folder of chapters instead of one file."""
    captions: tuple[str, ...] = ()
    """Suffixes of captions to write for each chapter alongside the book: `srt`, `vtt`."""
    by_word: bool = False
    """Mark words, not sentences, in an EPUB."""


@dataclass(frozen=True, slots=True)
class FinishedChapter:
    """One chapter's files. A book of ten hours has 90,000 words with their times, so they aren't held in memory."""

    title: str
    seconds: float
    audio: Path
    text: Path
    """The text in time, in JSON."""

    def spoken(self) -> SpokenChapter:
        return decode_chapter(self.text.read_bytes())


def write_output(output: BookOutput, book: Book, chapters: Sequence[FinishedChapter], facts: dict[str, object]) -> None:
    """Write the book from its chapters' files. Each file is there whole or not at all.

    Args:
        facts: what `metadata.json` says besides: voice, speed and the like.
    """
    output.path.parent.mkdir(parents=True, exist_ok=True)
    if output.folder:
        _write_folder(output, book, chapters, facts)
        return
    if output.path.suffix.lower() == ".epub":
        parts = [ReadAlongChapter(chapter.spoken(), chapter.audio) for chapter in chapters]
        spoken = [part for part in parts if part.spoken.sentences]
        write_read_along(output.path, book, spoken, by_word=output.by_word)
    else:
        files = [ChapterFile(chapter.title, chapter.audio) for chapter in chapters]
        write_audiobook(output.path, book, files, output.form)
    for number, chapter in enumerate(chapters, 1):
        _write_captions(output, output.path.with_suffix(""), number, chapter)


def _write_folder(
    output: BookOutput, book: Book, chapters: Sequence[FinishedChapter], facts: dict[str, object]
) -> None:
    output.path.mkdir(exist_ok=True)
    listed: list[dict[str, object]] = []
    for number, chapter in enumerate(chapters, 1):
        name = f"{number:03d} {file_name(chapter.title)}".strip()
        path = output.path / f"{name}.{output.form.suffix}"
        with replacing(path) as draft:
            shutil.copyfile(chapter.audio, draft)
        _write_captions(output, output.path / name, None, chapter)
        seconds = round(chapter.seconds, 3)
        listed.append({"number": number, "title": chapter.title, "file": path.name, "seconds": seconds})
    if book.cover:
        write_whole(output.path / f"cover.{book.cover.media_type.partition('/')[2]}", book.cover.data)
    described = {"title": book.title, "author": book.author, "language": book.language, **facts, "chapters": listed}
    write_whole(output.path / "metadata.json", json.dumps(described, ensure_ascii=False, indent=2).encode() + b"\n")


def _write_captions(output: BookOutput, base: Path, number: int | None, chapter: FinishedChapter) -> None:
    for suffix in output.captions:
        name = f"{base.name}.{number:03d}" if number is not None else base.name
        write_whole(base.with_name(f"{name}.{suffix}"), captions(chapter.spoken(), suffix).encode())


def output_of(
    path: Path, *, form: str | None = None, captions: tuple[str, ...] = (), by_word: bool = False
) -> BookOutput:
    """The output for a path: its suffix names the format; a path without one, or a folder, is a folder of chapters.

    Args:
        form: suffix of the chapters' files in a folder.

    Raises:
        BookError: the suffix is no format.
    """
    if path.is_dir() or not path.suffix:
        return BookOutput(path, audio_format(form or CHAPTER_FORMAT), True, captions, by_word)
    return BookOutput(path, audio_format(path.suffix), False, captions, by_word)
