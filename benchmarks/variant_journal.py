"""What `benchmarks.variants` has measured so far, in a file, so that an interruption loses one round and no more.

A round is a turn of each variant in one way. It counts as a whole or not at all, because its ratios are worth something
only while all variants had the machine in the same state.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Turn = dict[str, float]
"""One variant's figures of one round."""


class Journal:
    """Rounds by run and way. It is another measurement's if anything that `key` names is different."""

    def __init__(self, file: Path, key: Mapping[str, Any]) -> None:
        self._file = file
        self._key = json.loads(json.dumps(key))
        self._rounds: dict[str, dict[str, Turn | str]] = {}
        self.begun = time.strftime("%Y-%m-%d %H:%M")
        try:
            said = json.loads(file.read_text())
            if said["key"] == self._key:
                self._rounds, self.begun = said["rounds"], said["begun"]
        except (FileNotFoundError, KeyError, TypeError, ValueError):
            pass

    @property
    def rounds(self) -> int:
        """How many there are."""
        return len(self._rounds)

    def get(self, run: int, way: Sequence[Any]) -> dict[str, Turn | str] | None:
        """Each variant's turn, or why it had none; None if that round wasn't made."""
        return self._rounds.get(_name(run, way))

    def add(self, run: int, way: Sequence[Any], turns: dict[str, Turn | str]) -> None:
        """
        Raises:
            OSError: it can't be written.
        """
        self._rounds[_name(run, way)] = turns
        unfinished = self._file.with_suffix(".part")
        unfinished.write_text(json.dumps({"key": self._key, "begun": self.begun, "rounds": self._rounds}))
        unfinished.replace(self._file)

    def forget(self) -> None:
        """All was measured: the next measurement is a new one."""
        self._file.unlink(missing_ok=True)


def _name(run: int, way: Sequence[Any]) -> str:
    return " ".join(map(str, (run, *way)))
