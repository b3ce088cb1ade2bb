"""A process's output, which a thread of the test reads as it comes."""

import itertools
import re
import threading
from collections.abc import Iterable

END = "(end)"
"""Line after the last one, once all processes that write to the pipe have ended."""


class FollowedOutput:
    def __init__(self, pipe: Iterable[str]) -> None:
        self.lines: list[str] = []
        """The lines so far, without their line ends; at last `END`."""
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._read, args=(pipe,), daemon=True)
        self._thread.start()

    def find(self, pattern: str, patience: float, start: int = 0) -> re.Match[str] | None:
        """Wait until a line from number `start` on matches; None if none does by `END` or in `patience` seconds."""

        def found() -> re.Match[str] | None:
            return next(filter(None, (re.search(pattern, line) for line in self.lines[start:])), None)

        with self._news:
            self._news.wait_for(lambda: found() or END in self.lines, patience)
            return found()

    def join(self, patience: float) -> None:
        """Wait for the end of the output, after which its pipe can be closed."""
        self._thread.join(patience)

    def _read(self, pipe: Iterable[str]) -> None:
        for line in itertools.chain(pipe, (END,)):
            with self._news:
                self.lines.append(line.rstrip())
                self._news.notify_all()
