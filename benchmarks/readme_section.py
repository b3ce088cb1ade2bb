"""Puts reports' targets into README.md, between two `<!-- performance -->` markers; all figures into another file.

python -m benchmarks.readme_section [bench-results/bench.json ...] [--readme README.md] [--figures docs/performance.md]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import Table, read

MARKER = "<!-- performance -->"

_TOLD = ("processor", "cores", "memory", "system", "python", "onnxruntime")
"""Of the machine."""

_COLUMNS = ("target", "measured", "")

_HEAD = """\
# Performance

What `kokoro-live bench` measured. *Its engine alone* is the worker's engine in the benchmark's own process, given the
server's first segment; *bare session*, ONNX Runtime with the whole model, given the segments of the server's plan one
after another; *first come, first served*, kokoro-onnx behind aiohttp, as its own example suggests.
"""


class NoMarkers(ValueError):
    """The file has no place for the section."""


def section(runs: Sequence[Mapping[str, Any]], *, whole: bool = False) -> str:
    """Markdown of reports that `benchmarks.report.read` gave: their targets, or with `whole` all their figures.

    Without `whole`, a target that several texts have (`phrase: ...`, `article: ...`) is one row.

    Raises:
        ValueError: one is of a quick run, whose figures are worth nothing.
    """
    if any(data["quick"] for data in runs):
        raise ValueError("a quick run measures nothing that belongs into a README: run it without --quick")
    parts = []
    for data in runs:
        machine = ", ".join(f"{name} {data['machine'][name]}" for name in _TOLD if name in data["machine"])
        parts.append(f"`{data['command']}` on {machine}.")
        for report in data["reports"]:
            if whole:
                parts.append(f"### {report['name']}\n\nSpoken by {report['engine']}.")
                parts += [Table(**table).as_markdown() for table in report["tables"]]
                rows = [(v["target"], v["found"], "met" if v["met"] else "missed") for v in report["verdicts"]]
                parts.append(Table("Targets", _COLUMNS, rows).as_markdown())
                parts += report["notes"]
            else:
                parts.append(Table(report["name"], _COLUMNS, _by_target(report["verdicts"])).as_markdown())
    return "\n\n".join(parts)


def _by_target(verdicts: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """One row for each target, with what was found for each text, and which of them missed it."""
    targets: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for verdict in verdicts:
        text, of_text, target = verdict["target"].partition(": ")
        targets.setdefault(target if of_text else text, []).append((text if of_text else "", verdict))
    rows = []
    for target, found in targets.items():
        missed = [text for text, verdict in found if not verdict["met"]]
        said = "met" if not missed else "missed" if len(missed) == len(found) else f"missed: {', '.join(missed)}"
        rows.append((target, "; ".join(f"{text} {verdict['found']}".strip() for text, verdict in found), said))
    return rows


def inserted(readme: str, text: str) -> str:
    """The file's text with the section in place of what was between the markers.

    Raises:
        NoMarkers: there aren't two of them.
    """
    parts = readme.split(MARKER)
    if len(parts) != 3:
        raise NoMarkers(f"the file needs two lines {MARKER}, one before and one after the section's place")
    return f"{parts[0]}{MARKER}\n\n{text}\n\n{MARKER}{parts[2]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("reports", type=Path, nargs="*", default=[Path("bench-results/bench.json")])
    parser.add_argument("--readme", type=Path, default=Path("README.md"))
    parser.add_argument("--figures", type=Path, help="A file for all the figures.")
    arguments = parser.parse_args()
    try:
        runs = [read(report) for report in arguments.reports]
        text = inserted(arguments.readme.read_text(), section(runs))
        figures = f"{_HEAD}\n{section(runs, whole=True)}\n"
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    arguments.readme.write_text(text)
    if arguments.figures:
        arguments.figures.write_text(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
