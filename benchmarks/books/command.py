"""`kokoro-live book` as it is measured: a child process, and what it keeps on disk."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from books.book import SpokenChapter
from kokoro_live import own_command

_ROOT = Path(__file__).parents[2]
_LOOK = 0.02
"""Seconds between two looks at the folder of passages."""


class Ended(Exception):
    """The command ended where it should have gone on, or with an error."""


@dataclass
class BookCommand:
    """One book that is being made in `folder`, and as often again as `start` is called."""

    folder: Path
    source: Path
    output: str
    url: str
    options: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> BookCommand:
        """Start the command; what an earlier one made is kept."""
        self.folder.mkdir(parents=True, exist_ok=True)
        command = own_command("book", str(self.source), "-o", str(self.path), "--url", self.url)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *self.options],
                cwd=_ROOT,
                env=os.environ | {"XDG_CACHE_HOME": str(self.folder / "cache")},
                stderr=log,
                stdout=log,
            )
        return self

    @property
    def path(self) -> Path:
        """The finished book."""
        return self.folder / self.output

    def has(self, passages: int) -> bool:
        """True if so many passages are kept."""
        return self.passages >= passages

    @property
    def passages(self) -> int:
        """Passages that are kept."""
        return sum(1 for _ in self.folder.rglob("*.spoken"))

    def chapters(self) -> Iterator[tuple[SpokenChapter, Path]]:
        """Finished chapters with their audio, in no order."""
        for text in self.folder.glob("cache/kokoro-live/books/*/chapters/*.json"):
            yield msgspec.json.decode(text.read_bytes(), type=SpokenChapter), text.with_suffix(".m4a")

    def until(self, reached: Callable[[], bool]) -> bool:
        """Wait until that is so, or the command has ended; true if it goes on."""
        while not reached():
            if self.process.poll() is not None:
                return False
            time.sleep(_LOOK)
        return True

    def finish(self) -> None:
        """
        Raises:
            Ended: the command failed; the message has its log.
        """
        if self.process.wait():
            raise Ended(f"`kokoro-live book` ended with {self.process.returncode}:\n{self.log()}")

    def kill(self) -> None:
        """End it as a power cut does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def log(self) -> str:
        """The end of what it said."""
        return (self.folder / "log").read_text(errors="replace")[-4000:]
