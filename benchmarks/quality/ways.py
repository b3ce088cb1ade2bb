"""Ways to speak a text: which model, vocoded how, cut by which plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from worker.settings import WorkerSettings

Plan = Literal["one segment", "windowed engine's plan", "whole engine's plan"]

WHOLE: Plan = "one segment"
FOR_WINDOWS: Plan = "windowed engine's plan"


@dataclass(frozen=True, slots=True)
class Way:
    """One way to speak. Its name is also its folder's."""

    name: str
    model: Path
    vocoder: Literal["windowed", "whole"] = "whole"
    plan: Plan = WHOLE

    @property
    def slug(self) -> str:
        return re.sub(r"\W+", "-", self.name).strip("-").lower()

    def settings(self, threads: int, cache: Path | None) -> WorkerSettings:
        """Settings of an engine that speaks in this way."""
        more: dict[str, object] = {"cache_dir": cache} if cache else {}
        return WorkerSettings(threads=threads, vocoder=self.vocoder, **more)  # type: ignore[arg-type]


def of_texts(models: Sequence[tuple[str, Path]], quick: bool = False) -> list[Way]:
    """Each model whole and in windows. The first model is the reference.

    Args:
        models: names and files.
        quick: the first model whole, and in windows as it is served.
    """
    whole = [Way(f"{name}, whole", file) for name, file in models]
    windows = [Way(f"{name}, windows", file, "windowed") for name, file in models]
    return [whole[0], windows[0]] if quick else whole + windows


def of_passages(name: str, model: Path) -> list[Way]:
    """One model's plans, the text in one segment first."""
    return [
        Way(f"{name}, one segment", model, "windowed"),
        Way(f"{name}, planned for windows", model, "windowed", plan=FOR_WINDOWS),
        Way(f"{name}, planned for whole runs", model, "whole", plan="whole engine's plan"),
    ]
