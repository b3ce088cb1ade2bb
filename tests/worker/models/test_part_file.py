"""The owner of a part file, and its content."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from worker.models.assembly import PartFile


def test_one_owner_at_a_time(tmp_path: Path) -> None:
    first = PartFile.lock(tmp_path / "part")
    assert first is not None
    with first:
        assert PartFile.lock(tmp_path / "part") is None
        first.write(b"some")
    second = PartFile.lock(tmp_path / "part")
    assert second is not None
    with second:
        assert second.size == 4


def test_a_file_that_was_finished_while_it_was_being_locked_is_not_owned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, final = tmp_path / "part", tmp_path / "final"
    part.write_bytes(b"whole")
    flock = fcntl.flock

    def finish_first(descriptor: int, operation: int) -> None:
        part.rename(final)
        flock(descriptor, operation)

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", finish_first)
        assert PartFile.lock(part) is None
    again = PartFile.lock(part)
    assert again is not None
    with again:
        again.write(b"other")
    assert final.read_bytes() == b"whole"


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = PartFile.lock(tmp_path / "part")
    assert part is not None
    data = bytes(range(256)) * 20
    write = os.write
    with part, monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, view: write(descriptor, view[:1000]))
        part.write(data)
    assert (tmp_path / "part").read_bytes() == data
    assert part.size == len(data)


def test_a_failure_with_nothing_brought_leaves_nothing(tmp_path: Path) -> None:
    part = PartFile.lock(tmp_path / "part")
    assert part is not None
    with pytest.raises(ZeroDivisionError), part:
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_what_is_committed_has_its_name_alone(tmp_path: Path) -> None:
    part = PartFile.lock(tmp_path / "part")
    assert part is not None
    with part:
        part.write(b"old")
        part.empty()
        part.write(b"new")
        part.commit(tmp_path / "final")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("final", b"new")]
