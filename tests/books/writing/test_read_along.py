"""The EPUB with media overlays: valid for epubcheck, and its clips are the sentences."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from defusedxml.ElementTree import fromstring

from books.book import SAMPLE_RATE, BlockKind, BookWord, Picture, SpokenBlock, SpokenChapter, SpokenSentence, TextBlock
from books.making.outputs import LONGEST_LINE, _divided, captions
from books.reading.open import read_book
from books.writing.chapter_audio import AAC, encode_chapter
from books.writing.read_along import ReadAlongChapter, write_read_along
from tests.books.tones import book, spoken, tone
from tests.books.writing.test_audiobook import picture

TITLES = ("Één", "Two & three")


def written(folder: Path, *, by_word: bool = False, cover: Picture | None = None) -> Path:
    chapters = []
    for number, title in enumerate(TITLES):
        audio = folder / f"{number}.m4a"
        encode_chapter(audio, [tone(2.0)], AAC)
        chapters.append(ReadAlongChapter(spoken(title), audio))
    path = folder / "book.epub"
    write_read_along(path, book(cover, TITLES), chapters, by_word=by_word)
    return path


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("java"), reason="epubcheck needs Java")
@pytest.mark.parametrize("by_word", [False, True])
def test_epubcheck_finds_nothing(tmp_path: Path, by_word: bool) -> None:
    path = written(tmp_path, by_word=by_word, cover=picture())
    program = [sys.executable, "-m", "epubcheck", str(path)]
    quick = os.environ | {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}  # half the processor time
    done = subprocess.run(program, capture_output=True, text=True, timeout=110, env=quick)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("by_word", [False, True])
def test_the_clips_are_the_sentences_in_order_without_a_gap(tmp_path: Path, by_word: bool) -> None:
    with zipfile.ZipFile(written(tmp_path, by_word=by_word)) as archive:
        page, overlay = archive.read("EPUB/c2.xhtml").decode(), archive.read("EPUB/c2.smil").decode()
    identifiers = re.findall(r'<span id="(\w+)">(?!<span)', page)
    clips = re.findall(r'#(\w+)"/><audio src="c2.m4a" clipBegin="([\d.]+)s" clipEnd="([\d.]+)s"', overlay)
    assert [clip[0] for clip in clips] == identifiers and len(clips) == (9 if by_word else 3)
    assert [clip[2] for clip in clips[:-1]] == [clip[1] for clip in clips[1:]]
    assert float(clips[-1][2]) == pytest.approx(2.0, abs=1 / 100)


def test_what_was_written_can_be_read_as_a_book_again(tmp_path: Path) -> None:
    again = read_book(written(tmp_path, cover=picture()).read_bytes(), "book.epub")
    assert (again.title, again.author, again.language) == ("Made <book>", "Ada", "en")
    assert [chapter.title for chapter in again.body] == list(TITLES)
    assert [block.text for block in again.body[1].blocks] == ["Two & three", "", "It rains. It rains & pours."]
    assert again.cover == picture()


def test_the_same_book_gives_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert written(tmp_path / "a").read_bytes() == written(tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("suffix", "mark"), [("srt", "00:00:00,667 --> 00:00:01,333"), ("vtt", "00:00.667 --> 00:01.333")]
)
def test_captions_are_the_sentences(suffix: str, mark: str) -> None:
    text = captions(spoken("One"), suffix)
    assert mark in text.replace("00:00:00.", "00:00.").replace("00:00:01.", "00:01.")
    assert "It rains." in text and "&" in text


def test_a_long_sentence_is_divided_between_words() -> None:
    sentence = "It rains and " * 20 + "it pours."
    text = captions(spoken("One", 30.0, (sentence,)), "srt")
    lines = [line for line in text.splitlines() if line and "-->" not in line and not line.isdigit()]
    assert " ".join(lines) == f"One {sentence}"
    assert max(map(len, lines)) <= LONGEST_LINE + 8
    last = re.findall(r"--> 00:00:(\d+),(\d+)", text)[-1]
    assert float(".".join(last)) == pytest.approx(30 * SAMPLE_RATE // 2 * 2 / SAMPLE_RATE, abs=0.01)


@pytest.mark.parametrize("by_word", [False, True])
def test_the_page_has_the_text_as_it_is_written(tmp_path: Path, by_word: bool) -> None:
    verse, eastern, odd = "Roses are red,\nViolets — ah! — blue.", "今天下雨。", "A bell\x07 rang."
    timed = []
    for kind, text, words in (
        (BlockKind.VERSE, verse, ("Roses", "are", "red,", "Violets", "ah!", "blue.")),
        (BlockKind.PARAGRAPH, eastern, ("今天", "下雨。")),
        (BlockKind.PARAGRAPH, odd, ("A", "bell\x07", "rang.")),
    ):
        sentences = tuple(
            SpokenSentence(line, 0, 9, tuple(BookWord(word, 0, 9) for word in words if word in line))
            for line in text.split("\n")
        )
        timed.append(SpokenBlock(TextBlock(kind, text), sentences))
    audio = tmp_path / "a.m4a"
    encode_chapter(audio, [tone(0.1)], AAC)
    chapter = ReadAlongChapter(SpokenChapter("One", tuple(timed), 2400), audio)
    write_read_along(tmp_path / "a.epub", book(None, ("One",)), [chapter], by_word=by_word)
    with zipfile.ZipFile(tmp_path / "a.epub") as archive:
        page = fromstring(archive.read("EPUB/c1.xhtml"))
    assert ["".join(each.itertext()) for each in page.findall(".//{*}p")] == [verse, eastern, "A bell rang."]


def test_the_captions_of_a_divided_sentence_follow_its_words() -> None:
    """Each begins with its first word and ends where the next one begins; the last ends with the sentence."""
    texts = [f"word{number:03}" for number in range(60)]
    words = tuple(BookWord(text, 1000 * number, 1000 * number + 600) for number, text in enumerate(texts))
    sentence = SpokenSentence(" ".join(texts), 0, 61_000, words)
    divided = list(_divided(sentence))
    assert len(divided) > 3
    starts = {text: 1000 * number for number, text in enumerate(texts)}
    for (text, start, end), following in zip(divided, [*divided[1:], None], strict=True):
        assert start == starts[text.replace("\\N", " ").split()[0]]
        assert end == (following[1] if following else 61_000)
