"""A benchmark's report: tables, targets met or missed, raw figures; as JSON and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from benchmarks.measuring.plots import Plot, draw

_STYLE = (
    "<style>body{font:16px sans-serif;margin:2em}td,th{padding:.2em .8em;text-align:left}img{max-width:48%}</style>"
)

Cell = str | float | int | None
"""A cell's value; None: it was not measured, and the report says so."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under names."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def as_markdown(self) -> str:
        lines = [f"**{self.title}**", "", _line(self.columns), "|" + "---|" * len(self.columns)]
        return "\n".join([*lines, *(_line([shown(cell) for cell in row]) for row in self.rows)])


@dataclass(frozen=True, slots=True)
class Verdict:
    """One target, and what was measured of it."""

    target: str
    found: str
    met: bool
    certain: bool = True
    """False if the runs are too few, or too scattered, to tell on which side of the limit the figure lies."""

    @property
    def shown(self) -> str:
        """The verdict in a word or two."""
        if not self.certain:
            return "can't be told"
        return "met" if self.met else "MISSED"


@dataclass(frozen=True, slots=True)
class Report:
    """One benchmark's results."""

    name: str
    engine: str
    """Engine, model and provider that spoke."""
    tables: Sequence[Table]
    verdicts: Sequence[Verdict]
    notes: Sequence[str] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)
    plots: Sequence[Plot] = ()
    in_short: str = ""
    """The figures that people ask for, in a sentence."""

    @property
    def met(self) -> bool:
        """True if no target was missed for certain."""
        return all(verdict.met or not verdict.certain for verdict in self.verdicts)

    def as_markdown(self) -> str:
        parts = [f"## {self.name}", *filter(None, [self.in_short]), f"Spoken by {self.engine}."]
        parts += [*(table.as_markdown() for table in self.tables)]
        if self.verdicts:
            rows = [(v.target, v.found, v.shown) for v in self.verdicts]
            parts.append(Table("Targets", ("target", "measured", ""), rows).as_markdown())
        return "\n\n".join([*parts, *self.notes])


def shown(cell: Cell) -> str:
    """Three significant digits of a measured figure."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
    return str(cell)


def write(reports: Sequence[Report], machine: Mapping[str, str], command: str, quick: bool, out: Path) -> list[Path]:
    """`bench.json`, `bench.md`, `bench.html` and, with matplotlib, a picture of each plot, into the folder; their
    paths."""
    out.mkdir(parents=True, exist_ok=True)
    data = {
        "command": command,
        "quick": quick,
        "machine": dict(machine),
        "reports": [asdict(report) for report in reports],
    }
    as_json, as_markdown = out / "bench.json", out / "bench.md"
    as_json.write_text(json.dumps(data, indent=1) + "\n")
    about = [f"# `{command}`", "; ".join(f"{name}: {value}" for name, value in machine.items())]
    if quick:
        about.append("A quick run: it shows that everything works; its figures are worth nothing.")
    as_markdown.write_text("\n\n".join([*about, *(report.as_markdown() for report in reports)]) + "\n")
    pictures = draw([plot for report in reports for plot in report.plots], out)
    as_page = out / "bench.html"
    shown_pictures = "".join(f"\n\n![{picture.stem}]({picture.name})" for picture in pictures)
    body = MarkdownIt().enable("table").render(as_markdown.read_text() + shown_pictures)
    as_page.write_text(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(command)}</title>{_STYLE}{body}"
    )
    return [as_json, as_markdown, as_page, *pictures]


def read(file: Path) -> dict[str, Any]:
    """The report that `write` wrote, decoded from JSON.

    Raises:
        ValueError: it is something else.
    """
    data = json.loads(file.read_text())
    if not isinstance(data, dict) or not {"command", "machine", "reports", "quick"} <= data.keys():
        raise ValueError(f"{file} isn't a report of `kokoro-live bench`")
    return data


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
