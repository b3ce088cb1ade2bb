"""A server with a model's file, a folder that is watched while it is fetched, and a small disk."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.file_server import FileServer, file_server
from tests.worker.fetching import MODEL, NAME, Watcher


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.upper(), raising=False)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server() as server:
        server.files[f"/{NAME}"] = MODEL
        yield server


@pytest.fixture
def watch(tmp_path: Path) -> Watcher:
    return Watcher(tmp_path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for 2 MiB."""
    directory = tmp_path / "small"
    directory.mkdir()
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", "size=2m", "tmpfs", directory]).returncode:
        pytest.skip("only root may mount a small file system")
    yield directory
    subprocess.run(["umount", directory], check=True)
