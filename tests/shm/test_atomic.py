"""Files that are whole or absent, and whose names survive a power cut."""

import errno
import os
import stat
from pathlib import Path

import pytest

from shm.atomic import replacing, write_shared, write_whole


def test_the_file_and_then_its_name_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    synced = []
    sync = os.fsync

    def noted(file: int) -> None:
        synced.append(("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file", path.exists()))
        sync(file)

    monkeypatch.setattr(os, "fsync", noted)
    write_whole(path, b"x")
    assert synced == [("file", False), ("folder", True)] and path.read_bytes() == b"x"


def test_an_error_leaves_the_former_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"former")
    with pytest.raises(ValueError, match="no"), replacing(path) as draft:
        draft.write_bytes(b"half")
        raise ValueError("no")
    assert [each.name for each in tmp_path.iterdir()] == ["file"] and path.read_bytes() == b"former"


def test_of_two_errors_the_first_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(ValueError, match="no"), replacing(tmp_path / "file"):
        raise ValueError("no")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    for write in (write_whole, write_shared):
        with pytest.raises(OSError, match="full"):
            write(tmp_path / "file", b"x")


def test_a_file_that_has_its_name_needs_nothing_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: pytest.fail("a call that may fail after all is done"))
    write_whole(tmp_path / "file", b"x")
