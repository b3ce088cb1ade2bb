"""A server with a model's file, and a folder that is watched while it is fetched."""

from __future__ import annotations

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
