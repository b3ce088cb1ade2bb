"""Options of a benchmark, as its command line gives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measuring.texts import ARTICLE_CHARACTERS
from worker.settings import WorkerSettings


@dataclass(frozen=True, slots=True)
class Options:
    """Alike for all benchmarks."""

    settings: WorkerSettings
    """Settings of the measured engine."""
    runs: int | None = None
    """Repetitions of each measurement; None: the benchmark's own number."""
    quick: bool = False
    """Short texts and few runs: it shows that everything works, and measures nothing worth quoting."""
    article: int = ARTICLE_CHARACTERS
    """Characters of the long text, where it isn't `quick`."""
    seed: int = 1
    """Seed of all drawn orders and arrivals."""
    say: Callable[[str], None] = field(default=print)
    """Called with each step's progress."""

    @property
    def competes(self) -> bool:
        """True if kokoro-onnx can run the same files: a model and its voices were named."""
        settings = self.settings
        return settings.engine != "espeak" and settings.model is not None and _is_archive(settings.voices)

    def count(self, usual: int, quick: int = 2) -> int:
        """Number of repetitions: `runs` if given, else `quick` or `usual`."""
        return self.runs or (quick if self.quick else usual)


def _is_archive(voices: Path | None) -> bool:
    return voices is not None and voices.is_file()
