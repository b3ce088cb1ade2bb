"""Pictures of plots, where matplotlib is installed (the extra `bench`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over one axis."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]]


def draw(plots: Sequence[Plot], out: Path) -> list[Path]:
    """Pictures, one SVG each; none without matplotlib."""
    if not plots:
        return []
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    return [_draw(Figure(figsize=(6.4, 4), layout="constrained"), plot, out) for plot in plots]


def _draw(figure: Any, plot: Plot, out: Path) -> Path:
    axes = figure.subplots()
    for label, points in plot.lines.items():
        axes.plot([x for x, _ in points], [y for _, y in points], marker="o", label=label)
    axes.set(title=plot.title, xlabel=plot.x, ylabel=plot.y)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    path = out / (re.sub(r"\W+", "-", plot.title.lower()).strip("-") + ".svg")
    figure.savefig(path)
    return path
