"""The journal of spoken passages: damage is noticed, and nothing that it has told is lost by a power cut."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from books.book import BookWord
from books.making.maker import SpeechJournal
from books.making.passages import PassageSpeech
from tests.open_files import path_of

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
