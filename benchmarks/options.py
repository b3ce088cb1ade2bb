"""What a benchmark is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.texts import ARTICLE_CHARACTERS
from worker.settings import WorkerSettings


@dataclass(frozen=True, slots=True)
class Options:
    """Alike for all benchmarks."""

    settings: WorkerSettings
    """Of the engine that is measured."""
    runs: int | None = None
    """Of each measurement; None: what the benchmark takes to be enough."""
    quick: bool = False
    """Short texts and few runs: it shows that everything works, and measures nothing worth quoting."""
    article: int = ARTICLE_CHARACTERS
    """Characters of the long text, where it isn't `quick`."""
    seed: int = 1
    """Of every order and arrival that is drawn."""
    say: Callable[[str], None] = field(default=print)
    """Told how far it is."""

    @property
    def competes(self) -> bool:
        """kokoro-onnx can run what is measured: a model and its voices were named."""
        settings = self.settings
        return settings.engine != "espeak" and settings.model is not None and _is_archive(settings.voices)

    def count(self, usual: int, quick: int = 2) -> int:
        """How often something is measured."""
        return self.runs or (quick if self.quick else usual)


def _is_archive(voices: Path | None) -> bool:
    return voices is not None and voices.is_file()
