"""Helpers that the tests of downloads share: a file, its table, and the state of the directory."""

import hashlib
import random
import threading
from pathlib import Path

from tests.file_server import FileServer
from worker.models.download import FetchProgress, fetch
from worker.models.sources import KnownFile

MODEL = random.Random(1).randbytes(1_000_000)
OTHER = random.Random(2).randbytes(1_000_000)
NAME = "kokoro-v1.0.onnx"
AT_ONCE = (0.0, 0.0, 0.0)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def table(data: bytes = MODEL, name: str = NAME, url: str = "http://127.0.0.1:9/none") -> dict[str, KnownFile]:
    return {name: KnownFile(name=name, size=len(data), sha256=sha256(data), precision="fp32", what="a model", url=url)}


class Watcher:
    """A progress callback that says when so much has come. Nothing incomplete may have the final name meanwhile."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.seen: list[FetchProgress] = []
        self.waiting: list[tuple[int, threading.Event]] = []

    def when(self, received: int) -> threading.Event:
        """An event that is set as soon as so many bytes are in the part file."""
        event = threading.Event()
        self.waiting.append((received, event))
        return event

    def __call__(self, progress: FetchProgress) -> None:
        self.seen.append(progress)
        final = self.directory / progress.name
        assert not final.exists() or final.stat().st_size == progress.total
        if self.waiting and progress.received >= self.waiting[0][0]:
            self.waiting.pop(0)[1].set()

    @property
    def notes(self) -> list[str]:
        return [progress.note for progress in self.seen if progress.note]


def get(server: FileServer, watch: Watcher) -> list[Path]:
    return fetch([NAME], watch.directory, mirror=server.url, progress=watch, known=table(), delays=AT_ONCE)


def contents(directory: Path) -> dict[str, bytes]:
    """Files by name, but for the records of their origins."""
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.suffix != ".origin"}
