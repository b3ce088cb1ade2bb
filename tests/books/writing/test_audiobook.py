"""Finished audio files, read back by libraries that had no part in writing them."""

import io
import json
import shutil
import subprocess
from pathlib import Path

import av
import mutagen
import numpy as np
import pytest

from books.book import SAMPLE_RATE, BookError, Picture
from books.making.outputs import ChapterFile, write_audiobook
from books.writing.chapter_audio import (
    AAC,
    FLAC,
    MP3,
    OPUS,
    BookAudioFormat,
    audio_format,
    decode_file,
    encode_chapter,
    levelled,
    measure,
)
from tests.books.tones import book, tone

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
