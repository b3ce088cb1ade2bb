"""Finished books: one file with chapters, a read-along EPUB, or a folder of chapters; and their captions."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pysubs2

from books.book import SAMPLE_RATE, Book, BookWord, SpokenChapter, SpokenSentence
from books.writing.audiobook import ChapterFile, write_audiobook
from books.writing.chapter_audio import BookAudioFormat, audio_format
from books.writing.read_along import ReadAlongChapter, write_read_along
from shm import kept
from shm.atomic import replacing, write_whole

decode_chapter = kept.CHAPTER.decoder(SpokenChapter)
"""Decode the text in time of a finished chapter; raises `msgspec.DecodeError`."""


def encoded_chapter(spoken: SpokenChapter) -> bytes:
    """The inverse of `decode_chapter`."""
    return kept.CHAPTER.encode(asdict(spoken))


LONGEST_LINE = 42
"""Characters of a caption's line, as broadcasters keep it; a caption has two lines."""


def captions(chapter: SpokenChapter, suffix: str) -> str:
    """Captions of the chapter's sentences.

    A sentence that has more than two lines is divided between words, at the words' own times.

    Args:
        suffix: `srt` or `vtt`.
    """
    subtitles = pysubs2.SSAFile()
    for sentence in chapter.sentences:
        for text, start, end in _divided(sentence):
            subtitles.append(pysubs2.SSAEvent(start=_milliseconds(start), end=_milliseconds(end), text=text))
    return subtitles.to_string(suffix)


def _divided(sentence: SpokenSentence) -> Iterator[tuple[str, int, int]]:
    """Captions of one sentence: text with `\\N` between its lines, first and last sample."""
    if not sentence.words or len(sentence.text) <= 2 * LONGEST_LINE:
        yield _wrapped(sentence.text), sentence.start, sentence.end
        return
    group: list[BookWord] = []
    for word in sentence.words:
        if group and len(" ".join(each.text for each in [*group, word])) > 2 * LONGEST_LINE:
            yield _wrapped(" ".join(each.text for each in group)), group[0].start, word.start
            group = []
        group.append(word)
    yield _wrapped(" ".join(each.text for each in group)), group[0].start, sentence.end


def _wrapped(text: str) -> str:
    """Text in two lines of about the same length if one would be too long."""
    text = " ".join(text.split())
    if len(text) <= LONGEST_LINE:
        return text
    spaces = [index for index, letter in enumerate(text) if letter == " "]
    middle = min(spaces, key=lambda index: abs(index - len(text) / 2), default=None)
    return text if middle is None else f"{text[:middle]}\\N{text[middle + 1 :]}"


def _milliseconds(samples: int) -> int:
    return round(samples * 1000 / SAMPLE_RATE)


_MOST_NAME_BYTES = 200


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


def file_name(title: str) -> str:
    """A title as a file's name on any system: at most 80 characters, and so many bytes that a number, a suffix and the
    marks of an unfinished file fit into the 255 that file systems take."""
    plain = re.sub(r'[\x00-\x1f\x7f<>:"/\\|?*]+', " ", title).strip(" .")[:80]
    return plain.encode()[:_MOST_NAME_BYTES].decode(errors="ignore").strip(" .")


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
        return BookOutput(path, audio_format(form or "m4a"), True, captions, by_word)
    return BookOutput(path, audio_format(path.suffix), False, captions, by_word)
