"""Books are made once, go on after any end, and their files agree with their text."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from books.book import SAMPLE_RATE, BlockKind, Book, BookWord, Chapter, TextBlock
from books.making.maker import BookMaker, Order, SpeechJournal
from books.making.outputs import output_of
from books.making.passages import LONGEST_SENTENCE, Passage, PassageRefused, PassageSpeech, Postponed, passages_of
from books.making.progress import BookProgress
from books.making.settings import BookCast, BookPauses, BookSettings
from books.writing.chapter_audio import decode_file
from tests.books.making.made_speaker import SAMPLES_PER_LETTER, MadeSpeaker, made_book, made_speech, order
from tests.open_files import path_of

ROOT = Path(__file__).parents[3]


def make(folder: Path, speaker: MadeSpeaker, book: Book, **more: object) -> None:
    asyncio.run(BookMaker(order(folder, book, **more), speaker).make())  # type: ignore[arg-type]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def test_a_book_is_its_passages_and_pauses_in_order(tmp_path: Path) -> None:
    speaker = MadeSpeaker()
    make(tmp_path, speaker, made_book())
    pcm = np.concatenate(list(decode_file(tmp_path / "book.flac")))
    pauses = BookPauses()
    silence = 3 * (pauses.heading + pauses.paragraph + pauses.scene_break + pauses.paragraph + pauses.chapter)
    letters = sum(len(passage.text) for passage in speaker.asked)
    assert len(pcm) == letters * SAMPLES_PER_LETTER + round(silence * SAMPLE_RATE)
    first = made_speech(speaker.asked[0]).pcm
    assert np.array_equal(pcm[: len(first)], first)
    assert not pcm[len(first) : len(first) + round(pauses.heading * SAMPLE_RATE)].any()
    assert all(len(passage.text) <= 350 for passage in speaker.asked)
    captions = (tmp_path / "book.002.srt").read_text()
    assert "Paragraph 2 of 0 begins." in captions


def test_a_book_is_divided_beside_the_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []

    def noted(*given: Any) -> list[Passage]:
        threads.append(threading.current_thread())
        return passages_of(*given)

    monkeypatch.setattr("books.making.maker.passages_of", noted)
    make(tmp_path, MadeSpeaker(), made_book())
    assert threads and threading.main_thread() not in threads


def test_a_second_run_asks_for_nothing(tmp_path: Path) -> None:
    make(tmp_path, MadeSpeaker(), made_book())
    before = files(tmp_path)
    again = MadeSpeaker()
    make(tmp_path, again, made_book())
    assert again.asked == [] and files(tmp_path) == before


def test_a_changed_paragraph_makes_only_itself_again(tmp_path: Path) -> None:
    book = made_book()
    make(tmp_path, MadeSpeaker(), book)
    second = book.chapters[1]
    changed = (*second.blocks[:1], TextBlock(BlockKind.PARAGRAPH, "Something else."), *second.blocks[2:])
    chapters = (book.chapters[0], Chapter(second.title, changed), book.chapters[2])
    again = MadeSpeaker()
    make(tmp_path, again, Book(book.title, chapters, book.author, book.language))
    assert [passage.text for passage in again.asked] == ["Something else."]


def test_another_voice_speed_or_model_is_another_book(tmp_path: Path) -> None:
    book = made_book(1, 1)
    make(tmp_path, MadeSpeaker(), book)
    for settings, identity in (
        (BookSettings(BookCast("am_adam")), "made/1"),
        (BookSettings(speed=1.2), "made/1"),
        (BookSettings(), "made/2"),
    ):
        again = MadeSpeaker(identity=identity)
        make(tmp_path, again, book, settings=settings)
        assert len(again.asked) == 3


def test_damaged_passages_are_made_again(tmp_path: Path) -> None:
    make(tmp_path, MadeSpeaker(), made_book())
    whole = files(tmp_path)
    passages = sorted((tmp_path / "kept" / "passages").rglob("*.spoken"))
    passages[0].write_bytes(passages[0].read_bytes()[:-40])
    passages[1].write_bytes(b"{}")
    for chapter in (tmp_path / "kept" / "chapters").iterdir():
        chapter.unlink()
    again = MadeSpeaker()
    make(tmp_path, again, made_book())
    assert len(again.asked) == 2 and files(tmp_path) == whole


def test_a_damaged_chapter_is_put_together_again(tmp_path: Path) -> None:
    make(tmp_path, MadeSpeaker(), made_book())
    whole = files(tmp_path)
    for text in (tmp_path / "kept" / "chapters").glob("*.json"):
        text.write_bytes(b"{")
    again = MadeSpeaker()
    make(tmp_path, again, made_book())
    assert again.asked == [] and files(tmp_path) == whole


def test_a_busy_server_is_asked_again(tmp_path: Path) -> None:
    told: list[BookProgress] = []
    refusals = iter([True, False, True])

    def busy(_: Passage) -> None:
        if next(refusals, False):
            raise Postponed("listeners come first", 0.0)

    maker = BookMaker(order(tmp_path, made_book(1, 1)), MadeSpeaker(before=busy), told.append)
    asyncio.run(maker.make())
    assert (tmp_path / "book.flac").exists()
    assert "listeners come first" in [progress.waiting for progress in told]
    assert told[-1].fraction == 1.0


def test_a_refused_passage_is_named_and_the_rest_is_kept(tmp_path: Path) -> None:
    def refuse(passage: Passage) -> None:
        if "Chapter 2" in passage.text:
            raise PassageRefused("This text can't be spoken.")

    with pytest.raises(PassageRefused, match=r"'Chapter 2': This text can't be spoken\. The text begins 'Chapter 2'"):
        make(tmp_path, MadeSpeaker(before=refuse), made_book())
    again = MadeSpeaker()
    make(tmp_path, again, made_book())
    assert not [passage for passage in again.asked if "Paragraph 1" in passage.text]


def test_outside_its_hours_nothing_is_made(tmp_path: Path) -> None:
    closed = iter([0.0, 0.0, 0.001])
    speaker = MadeSpeaker()
    told: list[BookProgress] = []
    maker = BookMaker(order(tmp_path, made_book(1, 1)), speaker, told.append, lambda: next(closed, 0.0))
    asyncio.run(maker.make())
    assert "these aren't the hours for books" in [progress.waiting for progress in told]


def test_a_full_disk_ends_the_run_and_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = 0

    def full(path: Path, data: bytes) -> int:
        nonlocal written
        written += 1
        if written > 2:
            raise OSError(28, "No space left on device", str(path))
        return original(path, data)

    original: Callable[[Path, bytes], int] = Path.write_bytes
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        make(tmp_path, MadeSpeaker(), made_book())
    monkeypatch.undo()
    assert list((tmp_path / "kept").rglob("*.part")) == []
    again = MadeSpeaker()
    make(tmp_path, again, made_book())
    assert (tmp_path / "book.flac").exists()


def test_voices_follow_the_speakers(tmp_path: Path) -> None:
    blocks = (
        TextBlock(BlockKind.PARAGRAPH, "“Who are you?” said Alice. “I hardly know,” he thought."),
        TextBlock(BlockKind.PARAGRAPH, "ALICE: I am Alice."),
    )
    cast = BookCast("narrator", "quote", {"Alice": "alice"})
    speaker = MadeSpeaker()
    book = Book("Made", (Chapter("One", blocks),), language="en")
    make(tmp_path, speaker, book, settings=BookSettings(cast))
    assert sorted((passage.voice, passage.text) for passage in speaker.asked) == [
        ("alice", "I am Alice."),
        ("alice", "“Who are you?”"),
        ("narrator", "he thought."),
        ("narrator", "said Alice."),
        ("quote", "“I hardly know,”"),
    ]


PROGRAM = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from books.making.maker import BookMaker
from tests.books.making.made_speaker import made_book, order
from tests.books.making.made_speaker import MadeSpeaker
def told(progress):
    print("passage", flush=True)
asyncio.run(BookMaker(order(Path(sys.argv[1]), made_book(), "book.m4b"), MadeSpeaker(), told).make())
"""


def test_kills_at_any_moment_lose_nothing_and_change_no_byte(tmp_path: Path) -> None:
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    undisturbed.mkdir()
    killed.mkdir()
    make(undisturbed, MadeSpeaker(), made_book(), name="book.m4b")
    chance = random.Random(1)
    for _ in range(3):
        program = [sys.executable, "-c", PROGRAM, str(killed), str(ROOT)]
        with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            for _ in range(chance.randint(1, 9)):
                process.stdout.readline()
            os.kill(process.pid, signal.SIGKILL)
    again = MadeSpeaker()
    make(killed, again, made_book(), name="book.m4b")
    assert files(killed) == files(undisturbed)


def test_a_new_word_in_the_lexicon_makes_only_its_passages_again(tmp_path: Path) -> None:
    book = made_book()
    make(tmp_path, MadeSpeaker(), book)
    again = MadeSpeaker(lexicon={"2": "due"})
    make(tmp_path, again, book)
    assert again.asked and all(" 2 " in f" {passage.text} " for passage in again.asked)
    assert len(again.asked) < len(MadeSpeaker().asked) + sum(len(chapter.blocks) for chapter in book.chapters)


def test_another_engine_in_the_middle_is_noticed_at_the_next_chapter(tmp_path: Path) -> None:
    speaker = MadeSpeaker()

    def changes(passage: Passage) -> None:
        speaker.identity = "made/2" if passage.text.startswith("Chapter 1") else speaker.identity

    speaker.before = changes
    with pytest.raises(PassageRefused, match="made/2 speaks now") as refused:
        make(tmp_path, speaker, made_book())
    assert refused.value.code == "engine_changed"
    assert not [passage for passage in speaker.asked if "Chapter 2" in passage.text]


@pytest.mark.parametrize("suffix", ["m4b", "mp3", "opus", "flac"])
def test_a_chapters_damaged_audio_is_put_together_again(tmp_path: Path, suffix: str) -> None:
    make(tmp_path, MadeSpeaker(), made_book(), name=f"book.{suffix}")
    whole = files(tmp_path)
    one, two, _ = sorted((tmp_path / "kept" / "chapters").glob("*[!n]"))
    one.write_bytes(one.read_bytes()[:-5000])
    two.write_bytes(b"")
    again = MadeSpeaker()
    make(tmp_path, again, made_book(), name=f"book.{suffix}")
    assert again.asked == [] and files(tmp_path) == whole


def test_a_paragraph_that_became_a_quotation_is_one_in_the_book(tmp_path: Path) -> None:
    book = made_book(1, 1)
    make(tmp_path, MadeSpeaker(), book, name="book.epub")
    (chapter,) = book.chapters
    quoted = tuple(
        TextBlock(BlockKind.QUOTATION, b.text) if b.kind is BlockKind.PARAGRAPH else b for b in chapter.blocks
    )
    again = MadeSpeaker()
    make(tmp_path, again, Book(book.title, (Chapter(chapter.title, quoted),), "Ada", "en"), name="book.epub")
    with zipfile.ZipFile(tmp_path / "book.epub") as archive:
        assert "<blockquote>" in archive.read("EPUB/c1.xhtml").decode()
    assert again.asked == []


def test_a_text_without_full_stops_is_no_single_passage() -> None:
    texts = ("and then he went on, and " * 200, "とても長い文で" * 300, "x" * 2000, "word " * 500)
    blocks = tuple(TextBlock(BlockKind.PARAGRAPH, text) for text in texts)
    passages = passages_of(Chapter("One", blocks), BookSettings(), "en")
    assert max(len(passage.text) for passage in passages) <= LONGEST_SENTENCE
    said = "".join(passage.text for passage in passages)
    assert said.replace(" ", "") == "".join(texts).replace(" ", ""), "nothing is lost"
    words = {word for passage in passages if not passage.block for word in passage.text.split()}
    assert words == {"and", "then", "he", "went", "on,"}, "words are whole"


def test_titles_in_any_script_are_names_of_files(tmp_path: Path) -> None:
    titles = ("😀" * 90, "章" * 90, "CON: a/b\\c?", "...", "क" * 90)
    chapters = tuple(Chapter(title, (TextBlock(BlockKind.PARAGRAPH, f"Text {n}."),)) for n, title in enumerate(titles))
    output = output_of(tmp_path / "folder", form="opus", captions=("srt",))
    book = Book("Made", chapters)
    asyncio.run(BookMaker(Order(book, chapters, BookSettings(), output, tmp_path / "kept"), MadeSpeaker()).make())
    assert len(list(output.path.glob("*.opus"))) == len(list(output.path.glob("*.srt"))) == len(titles)


def test_a_word_too_short_for_a_loudness_keeps_its_own(tmp_path: Path) -> None:
    pauses = BookPauses(paragraph=0.0, chapter=0.0)
    book = Book("Made", (Chapter("One", (TextBlock(BlockKind.PARAGRAPH, "No."),)),))
    plain, levelled = tmp_path / "plain", tmp_path / "levelled"
    for folder, loudness in ((plain, None), (levelled, -10.0)):
        folder.mkdir()
        make(folder, MadeSpeaker(), book, settings=BookSettings(pauses=pauses, loudness=loudness))
    one, other = (np.concatenate(list(decode_file(folder / "book.flac"))) for folder in (plain, levelled))
    assert np.max(np.abs(one.astype(int) - other)) <= 2


SPEECH = PassageSpeech(np.arange(-2000, 2000, dtype=np.int16), (BookWord("word", 0, 3000),))
KEY = "ab" * 20


@pytest.mark.parametrize("samples", [0, 1, 3999, 4001, 10**9])
def test_audio_of_another_length_than_its_line_says_is_damage(tmp_path: Path, samples: int) -> None:
    journal = SpeechJournal(tmp_path)
    journal.add(KEY, SPEECH)
    assert (found := journal.read(KEY)) is not None and np.array_equal(found.pcm, SPEECH.pcm)
    (file,) = tmp_path.rglob("*.spoken")
    line, _, audio = file.read_bytes().partition(b"\n")
    file.write_bytes(json.dumps(json.loads(line) | {"samples": samples}).encode() + b"\n" + audio)
    told = journal.read(KEY)
    assert told is None if samples else told is None or not len(told.pcm)
    assert bool(samples) != (KEY in journal), "what is damaged is deleted, so that it is made again"


@pytest.mark.parametrize("line", [b"", b"[" * 100_000,
                                  b'{"samples": 1e400, "words": []}', b'{"samples": -1, "words": []}',
                                  b'{"samples": 4000, "words": [["\xff", 0, 1]]}'])  # fmt: skip
def test_a_line_that_no_journal_writes_is_damage(tmp_path: Path, line: bytes) -> None:
    journal = SpeechJournal(tmp_path)
    journal.add(KEY, SPEECH)
    (file,) = tmp_path.rglob("*.spoken")
    file.write_bytes(line + b"\n" + file.read_bytes().partition(b"\n")[2])
    assert journal.timing(KEY) is None and KEY not in journal


def test_the_folder_of_a_new_passage_is_synced_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Syncing a file covers its bytes and the folder of it its name; a new folder's own name lies in its parent."""
    synced = []
    sync = os.fsync

    def noted(number: int) -> None:
        synced.append(path_of(number, tmp_path))
        sync(number)

    monkeypatch.setattr(os, "fsync", noted)
    SpeechJournal(tmp_path).add(KEY, SPEECH)
    assert synced[0] == tmp_path
    assert synced[-1] == tmp_path / KEY[:2]
