"""Files that are whole or absent, and whose names survive a power cut."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from shm.atomic import replacing, write_whole


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
