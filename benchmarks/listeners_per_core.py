"""How many listeners a core carries without a gap, and what 20, 200 and 2,000 of them need.

    python -m benchmarks.listeners_per_core --model M --voices V [--runs N]

Listeners arrive as Poisson's, play at speech's pace, and each has a text of half a minute. The figure is the largest
number of them that all heard every sample without a gap; a server is planned for `TARGET` of that.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.streams import Level, measure
from benchmarks.subjects import kokoro_live
from worker.machine.machine import cores
from worker.settings import WorkerSettings

TARGET = 0.7
"""Share of the measured number at which another server is added (`deploy/kubernetes/scaling-hpa.yaml`)."""

CROWDS = (20, 200, 2000)
SHARES = (1.0, 1 / 3)
"""Shares of the connected listeners who hear speech at the same time: all, and a third (an assumption)."""

VOICE = "af_heart"


def carried(levels: Sequence[Level]) -> int:
    """The most listeners of one level that all heard everything without a gap, none of them rejected; at least 1."""
    return max((level.listeners for level in levels if level.clean == level.listeners), default=1)


def needs(per_core: float) -> Table:
    """Cores for each crowd, at each share."""
    rows = [[count, *(math.ceil(count * share / (per_core * TARGET)) for share in SHARES)] for count in CROWDS]
    return Table("Cores", ("connected listeners", "all listening at once", "a third at once"), rows)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Listeners without a gap for each core, and what crowds need.")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="short texts: shows that it works, no measurement")
    asked = parser.parse_args()
    settings = WorkerSettings(engine="kokoro", model=asked.model, voices=asked.voices)
    options = Options(settings, asked.runs, quick=asked.quick, say=lambda line: print(line, flush=True))
    with kokoro_live(settings, "--cache-bytes", "0") as server:
        speed, levels = measure(server, VOICE, options)
    most = carried(levels)
    print(f"{speed:.2f} times real time, {most} listeners without a gap, {cores()} cores")
    print(f"{most / cores():.2f} listeners for each core\n")
    print(needs(most / cores()).as_markdown())
    print("; ".join(f"{name} {value}" for name, value in machine().items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
