"""Ways to speak a text: which model, vocoded how, with whose statistics, cut by which plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, get_args, get_type_hints

from worker.settings import WorkerSettings

Plan = Literal["one segment", "windowed engine's plan", "whole engine's plan"]

WHOLE: Plan = "one segment"


@dataclass(frozen=True, slots=True)
class Way:
    """One of them. Its name is also its folder's."""

    name: str
    model: Path
    vocoder: Literal["windowed", "whole"] = "whole"
    statistics: str = ""
    """As the setting has it; empty: its default."""
    plan: Plan = WHOLE

    @property
    def slug(self) -> str:
        return re.sub(r"\W+", "-", self.name).strip("-").lower()

    def settings(self, threads: int, cache: Path | None) -> WorkerSettings:
        """Of an engine that speaks so."""
        more: dict[str, object] = {"cache_dir": cache} if cache else {}
        if self.statistics:
            more["statistics"] = self.statistics
        return WorkerSettings(threads=threads, vocoder=self.vocoder, **more)  # type: ignore[arg-type]


def statistics() -> tuple[str, ...]:
    """What the setting of that name may be, its default first; only the empty one where there is no such setting."""
    if "statistics" not in {field.name for field in fields(WorkerSettings)}:
        return ("",)
    return tuple(sorted(get_args(get_type_hints(WorkerSettings)["statistics"]), key=_is_other))


def _is_other(value: str) -> bool:
    return value != WorkerSettings().statistics


def of_texts(models: Sequence[tuple[str, Path]], quick: bool = False) -> list[Way]:
    """Each model whole and in windows, the latter with each kind of statistics. The first model is the reference.

    Args:
        models: names and files.
        quick: the first model whole, and in windows as it is served.
    """
    whole = [Way(f"{name}, whole", file) for name, file in models]
    windows = [
        Way(f"{name}, windows, {kind}" if kind else f"{name}, windows", file, "windowed", kind)
        for name, file in models
        for kind in statistics()
    ]
    return [whole[0], windows[0]] if quick else whole + windows


def of_passages(name: str, model: Path) -> list[Way]:
    """One model's plans, the text in one segment first."""
    return [
        Way(f"{name}, one segment", model, "windowed"),
        Way(f"{name}, planned for windows", model, "windowed", plan="windowed engine's plan"),
        Way(f"{name}, planned for whole runs", model, "whole", plan="whole engine's plan"),
    ]
