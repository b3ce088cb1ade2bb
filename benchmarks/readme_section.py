"""Puts a headline of measured times into README.md, and all figures into docs/performance.md, between markers.

python -m benchmarks.readme_section [bench-results/bench.json ...] [--readme README.md] [--figures docs/performance.md]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measuring.figures import median
from benchmarks.measuring.report import Cell, Table, read

MARKER = "<!-- performance -->"

_MACHINE = ("processor", "cores", "memory", "system", "python", "onnxruntime")

_COLUMNS = ("target", "measured", "")

_THEIRS = "kokoro-onnx create_stream"


class NoMarkers(ValueError):
    """The file has no place for the section."""


def section(runs: Sequence[Mapping[str, Any]]) -> str:
    """Markdown with every table and target of reports that `benchmarks.measuring.report.read` gave.

    Raises:
        ValueError: a report is of a quick run, whose figures are worth nothing.
    """
    parts = []
    for data in _measured(runs):
        parts.append(_origin(data))
        for report in data["reports"]:
            parts.append(f"## {report['name']}\n\nEngine: {report['engine']}.")
            parts += [Table(**table).as_markdown() for table in report["tables"]]
            rows = [(v["target"], v["found"], _word(v)) for v in report["verdicts"]]
            parts += [Table("Targets", _COLUMNS, rows).as_markdown()] if rows else []
            parts += report["notes"]
    return "\n\n".join(parts)


def _word(verdict: Mapping[str, Any]) -> str:
    if not verdict.get("certain", True):
        return "can't be told"
    return "met" if verdict["met"] else "missed"


def headline(runs: Sequence[Mapping[str, Any]]) -> str:
    """Markdown with one small table: median times to the first audible sample, alongside kokoro-onnx where it ran.

    Raises:
        ValueError: a report is of a quick run, or none has such times.
    """
    for data in _measured(runs):
        for report in data["reports"]:
            times = report["raw"] if report["name"] == "ttfa" else {}
            rows = [_ours_and_theirs(text, by_subject) for text, by_subject in times.items()]
            if rows:
                columns = ("text", "kokoro-live, ms", f"{_THEIRS}, ms", "times sooner")
                table = Table("Median time to the first audible sample", columns, rows)
                return f"{table.as_markdown()}\n\n{_origin(data)}"
    raise ValueError("no report has times to the first audible sample: run `kokoro-live bench ttfa`")


def _ours_and_theirs(text: str, by_subject: Mapping[str, Mapping[str, list[float]]]) -> list[Cell]:
    ours = median(by_subject["kokoro-live"]["first"])
    theirs = by_subject.get(_THEIRS, {}).get("first")
    if not theirs:
        return [text, ours * 1e3, None, None]
    return [text, ours * 1e3, median(theirs) * 1e3, f"{median(theirs) / ours:.1f}"]


def _origin(data: Mapping[str, Any]) -> str:
    machine = ", ".join(f"{name} {data['machine'][name]}" for name in _MACHINE if name in data["machine"])
    return f"`{data['command']}` on {machine}."


def _measured(runs: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    if any(data["quick"] for data in runs):
        raise ValueError("a quick run measures nothing that belongs into a document: run it without --quick")
    return runs


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
        made = [(arguments.readme, headline(runs))]
        if arguments.figures:
            made.append((arguments.figures, section(runs)))
        written = [(file, inserted(file.read_text(), text)) for file, text in made]
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    for file, text in written:
        file.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
