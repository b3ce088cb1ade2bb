"""The programs that have called of late: which address, by which name, and when."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

_MOST = 256
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Call:
    """The latest call of one address by one program."""

    path: str
    program: str
    """The name by which it gives itself out (its User-Agent); empty if it gives none."""
    at: float
    """Monotonic seconds."""


class Callers:
    """The latest calls since this front began; of very many addresses and programs, the latest ones."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.now = clock
        self._calls: dict[tuple[str, str], Call] = {}

    def note(self, path: str, program: str) -> None:
        """A program has called that address, and was answered."""
        program = "".join(filter(str.isprintable, program[:_LONGEST]))
        self._calls.pop((path, program), None)
        self._calls[path, program] = Call(path, program, self.now())
        if len(self._calls) > _MOST:
            del self._calls[next(iter(self._calls))]

    def latest(self, path: re.Pattern[str], program: re.Pattern[str]) -> Call | None:
        """The latest call whose address and program match these expressions."""
        found = (each for each in reversed(self._calls.values()) if path.search(each.path))
        return next((each for each in found if program.search(each.program)), None)
