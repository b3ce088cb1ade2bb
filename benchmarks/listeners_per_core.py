"""Listeners that a core carries without a gap, and the cores that 20, 200 and 2,000 of them need.

    python -m benchmarks.listeners_per_core --model M --voices V [--runs N]

Listeners arrive as Poisson's, play at speech's pace, and each has a text of half a minute. The figure is the largest
number of them that all heard every sample without a gap, in each of N runs (3); the search begins at the number that
the server's speed allows, and goes up or down by one. A server is planned for `TARGET` of the figure. On two cores the
command takes about ten minutes. Exits with 1 if not even one listener was served without a gap.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring.machine import described
from benchmarks.measuring.options import Options
from benchmarks.measuring.report import Table
from benchmarks.measuring.subjects import Subject, kokoro_live
from benchmarks.streams import CHARACTERS, OF_SPEED, QUICK_CHARACTERS, Level, aggregate_speed, arrivals, crowd, level
from worker.machine import cores
from worker.settings import WorkerSettings

TARGET = 0.7
"""Share of the measured number at which another server is added (`deploy/kubernetes/scaling-hpa.yaml`)."""

CROWDS = (20, 200, 2000)
SHARES = (1.0, 1 / 3)
"""Shares of the connected listeners who hear speech at the same time: all, and a third (an assumption)."""

MOST = 64
"""Largest number of listeners that is tried."""

VOICE = "af_heart"


def carried(all_hear: Callable[[int], bool], first: int) -> int:
    """The largest number of listeners that is served, found from `first` on, up or down by one; 0 if not even one is.

    Args:
        all_hear: whether so many listeners all heard everything without a gap.
    """
    count = max(first, 1)
    if all_hear(count):
        while count < MOST and all_hear(count + 1):
            count += 1
        return count
    while count > 1:
        count -= 1
        if all_hear(count):
            return count
    return 0


def needs(per_core: float) -> Table:
    """Cores for each crowd, at each share."""
    rows = [[count, *(math.ceil(count * share / (per_core * TARGET)) for share in SHARES)] for count in CROWDS]
    return Table("Cores", ("connected listeners", "all listening at once", "a third at once"), rows)


def heard_by(server: Subject, count: int, characters: int, options: Options) -> bool:
    """True if so many listeners all heard everything without a gap, and none was rejected, in each run."""
    rng = random.Random(f"{options.seed} {count}")
    for run in range(options.count(3, quick=1)):
        found = level(count, crowd(server, VOICE, characters, arrivals(count, rng), paced=True))
        options.say(f"{count} listeners, run {run + 1}: {said(found)}")
        if found.clean < count:
            return False
    return True


def said(found: Level) -> str:
    return (
        f"{found.clean} without a gap, {found.underruns} gaps of {found.gap_seconds:.2f} s, "
        f"{found.rejected} rejected, {found.broken} broken"
    )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Listeners without a gap for each core, and what crowds need.")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=None, help="each number of listeners so many times; by default 3")
    parser.add_argument("--quick", action="store_true", help="short texts: shows that it works, no measurement")
    asked = parser.parse_args()
    settings = WorkerSettings(engine="kokoro", model=asked.model, voices=asked.voices)
    options = Options(settings, asked.runs, quick=asked.quick, say=lambda line: print(line, flush=True))
    characters = QUICK_CHARACTERS if asked.quick else CHARACTERS
    with kokoro_live(settings, "--cache-bytes", "0") as server:
        speed = aggregate_speed(server, VOICE, characters, 2 * cores())
        options.say(f"{speed:.2f} times real time")
        most = carried(lambda count: heard_by(server, count, characters, options), math.floor(OF_SPEED * speed))
    if not most:
        print("not even one listener was served without a gap")
        return 1
    print(f"{speed:.2f} times real time, {most} listeners without a gap, {cores()} cores")
    print(f"{most / cores():.2f} listeners for each core\n")
    print(needs(most / cores()).as_markdown())
    print(described())
    return 0


if __name__ == "__main__":
    sys.exit(main())
