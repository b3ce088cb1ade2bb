"""A server that is used and killed for a while: does it grow, does it leak, does it become slower?

    python -m benchmarks.soak --minutes 60 [--every 5] [--seed 1] [--json FILE]

Listeners speak without a pause; every so many seconds the worker, every third time the front, is killed. Reports the
slopes of memory and descriptors of the supervisor (the one process that lives as long as the server), and time to first
audio in the first and the last tenth. Exits 1 on a wrong or failed stream; in a run of ten minutes or more also if the
supervisor grows by more than 0.1 MB or a tenth of a descriptor per minute, or when the last tenth's median is more than
twice the first's.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from tests.chaos.evidence import Kill, keep, tally
from tests.chaos.listeners import Crowd, Heard
from tests.chaos.loops import kill, recovered
from tests.chaos.residue import comes_back_to, settled, warm_up
from tests.system.oracle import miniature_arguments
from tests.system.server import Server, server

MB_PER_MINUTE = 0.1
DESCRIPTORS_PER_MINUTE = 0.1
JUDGED_MINUTES = 10.0
"""Slopes and tenths of a shorter run are noise: it shows that every response is right and that nothing is left."""

SLOWER = 2.0
FRONT_EVERY = 3
REQUESTS = 10_000
"""Counts are also given per so many requests, so that runs of different lengths compare."""

Reading = tuple[float, float, int]
"""Monotonic seconds, resident MB, descriptors."""


def read(supervisor: psutil.Process) -> Reading:
    return time.monotonic(), supervisor.memory_info().rss / 1e6, supervisor.num_fds()


def slope(readings: list[Reading], column: int) -> float:
    """Growth per minute, by least squares. The first fifth is warming up."""
    kept = readings[len(readings) // 5 :]
    times = np.array([reading[0] for reading in kept]) / 60
    return float(np.polyfit(times - times[0], np.array([reading[column] for reading in kept]), 1)[0])


def first_audio(histories: list[Heard]) -> list[float]:
    """Seconds to the first byte of each stream that had one, in the order of asking."""
    return [heard.pieces[0][0] - heard.started for heard in histories if heard.pieces]


def per_requests(counts: dict[str, int], **others: float) -> dict[str, float]:
    """Each count, and each of `others`, per `REQUESTS` requests."""
    share = REQUESTS / max(counts["streams"], 1)
    rates = {name: count * share for name, count in counts.items() if name != "streams"}
    return {f"{name}_per_{REQUESTS}": value for name, value in rates.items()} | {
        f"{name}_per_{REQUESTS}": value * share for name, value in others.items()
    }


def soak(target: Server, minutes: float, every: float, rng: random.Random, crowd: Crowd) -> tuple[list[Reading], Any]:
    supervisor = psutil.Process(target.process.pid)
    end = time.monotonic() + minutes * 60
    readings, kills = [read(supervisor)], list[Kill]()
    while time.monotonic() < end:
        time.sleep(rng.uniform(0, 2 * every))
        kills.append(kill(target, "worker" if (len(kills) + 1) % FRONT_EVERY else "front"))
        if not recovered(crowd, kills[-1]):
            break
        readings.append(read(supervisor))
    return readings, kills


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=2.0, help="60: the long form")
    parser.add_argument("--every", type=float, default=5.0, help="mean seconds between kills")
    parser.add_argument("--listeners", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="also write the figures there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server(*miniature_arguments(Path(folder), 1)) as target:
        warm_up(target)
        before = settled(target)
        crowd = Crowd(target, arguments.listeners, arguments.seed)
        try:
            readings, kills = soak(target, arguments.minutes, arguments.every, random.Random(arguments.seed), crowd)
        finally:
            histories = crowd.leave()
        unchanged = comes_back_to(before, target) == before
    waits = first_audio(histories)
    tenth = max(len(waits) // 10, 1)
    figures = {
        "seed": arguments.seed,
        "minutes": arguments.minutes,
        "kills": len(kills),
        **tally(histories),
        **per_requests(tally(histories), growth_mb=readings[-1][1] - readings[0][1], kills=len(kills)),
        "rss_mb_per_minute": slope(readings, 1),
        "descriptors_per_minute": slope(readings, 2),
        "first_audio_first_tenth_ms": statistics.median(waits[:tenth]) * 1e3,
        "first_audio_last_tenth_ms": statistics.median(waits[-tenth:]) * 1e3,
        "residue": "none" if unchanged else "CHANGED",
    }
    for name, value in figures.items():
        print(f"  {name:28}{value:>12.3f}" if isinstance(value, float) else f"  {name:28}{value:>12}")
    broken = [name for name in ("wrong", "silently_short", "failed") if figures[name]]
    if arguments.minutes >= JUDGED_MINUTES:
        broken += ["memory"] * (figures["rss_mb_per_minute"] > MB_PER_MINUTE)
        broken += ["descriptors"] * (figures["descriptors_per_minute"] > DESCRIPTORS_PER_MINUTE)
        broken += ["latency"] * (figures["first_audio_last_tenth_ms"] > SLOWER * figures["first_audio_first_tenth_ms"])
    broken += ["residue"] * (not unchanged)
    if broken:
        print(f"histories: {keep(histories, kills, Path(tempfile.mkdtemp(prefix='soak-')), arguments.seed)}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2))
    for promise in broken:
        print(f"BROKEN: {promise}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
