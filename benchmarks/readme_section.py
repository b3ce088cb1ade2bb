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


class NoMarkers(ValueError):
    """The file has no place for the section."""


def section(runs: Sequence[Mapping[str, Any]], *, whole: bool = False) -> str:
    """Markdown of reports that `benchmarks.report.read` gave: their targets, or with `whole` all their figures.

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
            parts.append(f"### {report['name']}\n\nSpoken by {report['engine']}.")
            if whole:
                parts += [Table(**table).as_markdown() for table in report["tables"]]
            rows = [(v["target"], v["found"], "met" if v["met"] else "missed") for v in report["verdicts"]]
            parts.append(Table("Targets", ("target", "measured", ""), rows).as_markdown())
            parts += report["notes"] if whole else ()
    return "\n\n".join(parts)


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
        figures = f"# Performance\n\nWhat `kokoro-live bench` measured.\n\n{section(runs, whole=True)}\n"
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    arguments.readme.write_text(text)
    if arguments.figures:
        arguments.figures.write_text(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
