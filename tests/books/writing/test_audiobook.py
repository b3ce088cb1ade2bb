"""Finished audio files and read-along EPUBs, read back by programs that had no part in writing them."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import av
import mutagen
import numpy as np
import pytest
from defusedxml.ElementTree import fromstring
from numpy.typing import NDArray
from pysubs2 import SSAFile

from books.book import (
    SAMPLE_RATE,
    BlockKind,
    Book,
    BookError,
    BookWord,
    Chapter,
    Picture,
    SpokenBlock,
    SpokenChapter,
    SpokenSentence,
    TextBlock,
)
from books.making.outputs import ChapterFile, captions, write_audiobook
from books.reading.open import read_book
from books.writing.chapter_audio import audio_format, decode_file, encode_chapter, levelled, measure
from books.writing.read_along import ReadAlongChapter, write_read_along
from books.writing.subtitles import LINE
from shm.book_formats import AAC, FLAC, MP3, OPUS, BookAudioFormat


def tone(seconds: float, hertz: float = 440.0, level: float = 0.25) -> NDArray[np.int16]:
    times = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return (np.sin(2 * np.pi * hertz * times) * level * 32767).astype(np.int16)


def spoken(
    title: str, seconds: float = 2.0, sentences: tuple[str, ...] = ("It rains.", "It rains & pours.")
) -> SpokenChapter:
    """A chapter of a heading and one paragraph, its sentences of equal length."""
    length = round(seconds * SAMPLE_RATE)
    texts = (title, *sentences)
    each = length // len(texts)
    timed = []
    for number, text in enumerate(texts):
        start, words = number * each, text.split()
        of_word = each // len(words)
        times = [(start + of_word * place, start + of_word * (place + 1)) for place in range(len(words))]
        inner = tuple(BookWord(word, *time) for word, time in zip(words, times, strict=True))
        timed.append(SpokenSentence(text, start, start + each, inner))
    blocks = (
        SpokenBlock(TextBlock(BlockKind.HEADING, title, 1), (timed[0],)),
        SpokenBlock(TextBlock(BlockKind.SCENE_BREAK)),
        SpokenBlock(TextBlock(BlockKind.PARAGRAPH, " ".join(sentences)), tuple(timed[1:])),
    )
    return SpokenChapter(title, blocks, length)


def book(cover: Picture | None = None, titles: tuple[str, ...] = ("Één", "Two & three")) -> Book:
    return Book("Made <book>", tuple(Chapter(title, ()) for title in titles), "Ada", "en", cover)


LENGTHS = (2.0, 3.1, 0.7)
TITLES = ("Één", "Two & three", "四")
FRAME = {"m4b": 1024 / 24_000, "mp3": 576 / 24_000, "opus": 0.02, "flac": 4096 / 24_000}
"""Seconds of one frame of the codec."""


def picture(encoder: str = "mjpeg") -> Picture:
    made = io.BytesIO()
    with av.open(made, "w", format="image2pipe") as container:
        stream = container.add_stream(encoder, rate=1, width=16, height=16)
        stream.pix_fmt = "yuvj420p" if encoder == "mjpeg" else "rgb24"
        pixels = av.VideoFrame.from_ndarray(np.zeros((16, 16, 3), np.uint8), "rgb24")
        container.mux(stream.encode(pixels.reformat(format=stream.pix_fmt)))
        container.mux(stream.encode(None))
    return Picture(made.getvalue(), "image/jpeg" if encoder == "mjpeg" else "image/png")


def chapter_files(folder: Path, form: BookAudioFormat) -> list[ChapterFile]:
    made = []
    for number, (title, seconds) in enumerate(zip(TITLES, LENGTHS, strict=True)):
        path = folder / f"{number}.{form.suffix}"
        assert encode_chapter(path, [tone(seconds, 300.0 * (number + 1))], form) == round(seconds * SAMPLE_RATE)
        made.append(ChapterFile(title, path))
    return made


def pitch(pcm: np.ndarray) -> float:
    spectrum = np.abs(np.fft.rfft(pcm.astype(np.float64) * np.hanning(len(pcm))))
    return float(np.argmax(spectrum) * SAMPLE_RATE / len(pcm))


@pytest.mark.parametrize("suffix", ["m4b", "mp3", "opus", "flac"])
def test_chapters_follow_each_other_and_begin_at_their_marks(tmp_path: Path, suffix: str) -> None:
    form = audio_format(suffix)
    path = tmp_path / f"book.{suffix}"
    starts = write_audiobook(path, book(picture()), chapter_files(tmp_path, form), form)
    pcm = np.concatenate(list(decode_file(path)))
    for number, seconds in enumerate(LENGTHS):
        middle = round((starts[number] + seconds / 2) * SAMPLE_RATE)
        assert abs(pitch(pcm[middle - 4800 : middle + 4800]) - 300 * (number + 1)) < 10
        seam = round(starts[number] * SAMPLE_RATE)
        frame = round(FRAME[suffix] * SAMPLE_RATE)
        if number:
            assert abs(pitch(pcm[seam - 2 * frame - 2400 : seam - frame]) - 300 * number) < 20
    # Each chapter's last frame is filled up, and the codec's own delay comes before its first.
    assert sum(LENGTHS) <= len(pcm) / SAMPLE_RATE + 0.03 <= sum(LENGTHS) + 3 * 3 * FRAME[suffix] + 0.03
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize("suffix", ["m4b", "mp3"])
def test_players_find_chapters_cover_and_facts(tmp_path: Path, suffix: str) -> None:
    form = audio_format(suffix)
    path = tmp_path / f"book.{suffix}"
    cover = picture("png" if suffix == "mp3" else "mjpeg")
    starts = write_audiobook(path, book(cover), chapter_files(tmp_path, form), form)
    found = mutagen.File(path)
    if suffix == "m4b":
        assert [chapter.title for chapter in found.chapters] == list(TITLES)
        assert [chapter.start for chapter in found.chapters] == pytest.approx(starts, abs=0.001)
        assert bytes(found["covr"][0]) == cover.data and found["stik"] == [2]
        assert (found["\xa9nam"], found["\xa9ART"]) == (["Made <book>"], ["Ada"])
    else:
        chapters = sorted(found.tags.getall("CHAP"), key=lambda chapter: chapter.start_time)
        assert [str(chapter.sub_frames["TIT2"]) for chapter in chapters] == list(TITLES)
        assert [chapter.start_time / 1000 for chapter in chapters] == pytest.approx(starts, abs=0.002)
        assert found.tags.getall("APIC")[0].data == cover.data
        assert str(found.tags["TIT2"]) == "Made <book>"


@pytest.mark.skipif(not shutil.which("ffprobe"), reason="ffprobe isn't installed")
@pytest.mark.parametrize("suffix", ["m4b", "mp3", "opus"])
def test_ffprobe_reads_the_same_chapters(tmp_path: Path, suffix: str) -> None:
    form = audio_format(suffix)
    path = tmp_path / f"book.{suffix}"
    starts = write_audiobook(path, book(), chapter_files(tmp_path, form), form)
    command = ["ffprobe", "-v", "error", "-of", "json", "-show_chapters", str(path)]
    chapters = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["chapters"]
    assert [chapter["tags"]["title"] for chapter in chapters] == list(TITLES)
    assert [float(chapter["start_time"]) for chapter in chapters] == pytest.approx(starts, abs=0.002)


def test_a_cover_that_is_no_picture_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "book.m4b"
    write_audiobook(path, book(Picture(b"no picture", "image/jpeg")), chapter_files(tmp_path, AAC), AAC)
    assert "covr" not in mutagen.File(path)


@pytest.mark.parametrize("form", [AAC, MP3, OPUS, FLAC], ids=lambda form: form.suffix)
def test_the_same_samples_give_the_same_bytes(tmp_path: Path, form: BookAudioFormat) -> None:
    one, two = tmp_path / f"1.{form.suffix}", tmp_path / f"2.{form.suffix}"
    encode_chapter(one, [tone(1.0)], form)
    encode_chapter(two, np.array_split(tone(1.0), 7), form)
    assert one.read_bytes() == two.read_bytes()


def test_flac_keeps_each_sample(tmp_path: Path) -> None:
    pcm = tone(1.3)
    encode_chapter(tmp_path / "a.flac", [pcm], FLAC)
    write_audiobook(tmp_path / "b.flac", book(), [ChapterFile("a", tmp_path / "a.flac")] * 2, FLAC)
    assert np.array_equal(np.concatenate(list(decode_file(tmp_path / "b.flac"))), np.concatenate([pcm, pcm]))


def test_a_suffix_without_a_format_is_named() -> None:
    with pytest.raises(BookError, match="wma"):
        audio_format("wma")


def test_loudness_reaches_its_target_and_no_sample_is_lost() -> None:
    pcm = np.concatenate([tone(1.0, level=0.02), tone(3.0, level=0.2), np.zeros(SAMPLE_RATE, np.int16)])
    before = measure([pcm])
    assert before.integrated == pytest.approx(-18, abs=0.3)
    parts = list(levelled(np.array_split(pcm, 11), -20 - before.integrated))
    assert sum(map(len, parts)) == len(pcm)
    assert measure(parts).integrated == pytest.approx(-20, abs=0.1)
    loud = list(levelled([pcm], 20.0))
    assert measure(loud).true_peak <= -0.9 and sum(map(len, loud)) == len(pcm)


def test_silence_has_no_loudness() -> None:
    assert measure([np.zeros(SAMPLE_RATE, np.int16)]).integrated <= -70


@pytest.mark.parametrize("suffix", ["m4b", "mp3"])
def test_marks_do_not_drift_from_the_sound(tmp_path: Path, suffix: str) -> None:
    """Players sound every frame whole, so a chapter takes as long as its frames, and the last mark is as right as the
    first."""
    form = audio_format(suffix)
    part = tmp_path / f"part.{form.suffix}"
    encode_chapter(part, [tone(1.01, 300.0)], form)
    path = tmp_path / f"book.{suffix}"
    starts = write_audiobook(path, book(), [ChapterFile(str(number), part) for number in range(20)], form)
    samples = sum(len(pcm) for pcm in decode_file(path))
    assert abs(starts[1] * 20 - samples / SAMPLE_RATE) < 0.1  # once per file, decoders leave out an encoder's delay


def written(folder: Path, *, by_word: bool = False, cover: Picture | None = None) -> Path:
    chapters = []
    for number, title in enumerate(TITLES[:2]):
        audio = folder / f"{number}.m4a"
        encode_chapter(audio, [tone(2.0)], AAC)
        chapters.append(ReadAlongChapter(spoken(title), audio))
    path = folder / "book.epub"
    write_read_along(path, book(cover, TITLES[:2]), chapters, by_word=by_word)
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
    assert [chapter.title for chapter in again.body] == list(TITLES[:2])
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
    assert max(map(len, lines)) <= LINE
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
    """Each begins with its first word and ends with its last."""
    texts = [f"word{number:03}" for number in range(60)]
    words = tuple(BookWord(text, 6000 * number, 6000 * number + 3600) for number, text in enumerate(texts))
    sentence = SpokenSentence(" ".join(texts), 0, 363_600, words)
    block = SpokenBlock(TextBlock(BlockKind.PARAGRAPH, sentence.text), (sentence,))
    divided = list(SSAFile.from_string(captions(SpokenChapter("One", (block,), 363_600), "srt")))
    assert len(divided) > 3
    for cue in divided:
        first, *_, last = cue.plaintext.split()
        assert (cue.start, cue.end) == (250 * texts.index(first), 250 * texts.index(last) + 150)
