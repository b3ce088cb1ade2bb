"""Runs benchmarks one after another and writes what they found."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.measuring.machine import machine
from benchmarks.measuring.options import Options
from benchmarks.measuring.report import Report, write

NAMES = ("ttfa", "streams", "short-behind-long", "parallel", "overhead", "g2p")


def run(names: Sequence[str], options: Options, command: str, out: Path) -> list[Report]:
    """Run those of `NAMES`, print each one's tables, write all of them into the folder."""
    described = machine()
    reports = []
    for name in names:
        benchmark: Callable[[Options], Report] = importlib.import_module(f"benchmarks.{name.replace('-', '_')}").run
        reports.append(benchmark(options))
        options.say(reports[-1].as_markdown() + "\n")
    for short in filter(None, (report.in_short for report in reports)):
        options.say(short)
    for path in write(reports, described, command, options.quick, out):
        options.say(str(path))
    return reports
