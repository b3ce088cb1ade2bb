"""Memory that `--idle-unload` gives back, and the first-audio time of the request that ends the rest.

    python -m benchmarks.idle_unload --model M --voices V [--runs N]

In each run the server speaks, rests, and speaks again. Exits with 1 if a first audible sample came more than
`ALLOWED` seconds after the time that loading took.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from benchmarks.measuring.figures import median
from benchmarks.measuring.listening import FRESH, listen
from benchmarks.measuring.machine import described
from benchmarks.measuring.report import Cell, Report, Table, Verdict
from benchmarks.measuring.subjects import Subject, kokoro_live
from benchmarks.measuring.texts import SENTENCE
from worker.settings import WorkerSettings

VOICE = "af_heart"
IDLE = 1.0
"""Seconds of `--idle-unload`."""

ALLOWED = 0.5
MEGABYTE = 1e6
PATIENCE = 120.0
"""Seconds within which the engine must have been unloaded."""


Figures = tuple[float, float, float, float]
"""Megabytes of the workers while one speaks and while it rests; seconds of loading and to the first audible sample of
the request that woke it."""


def run(server: Subject) -> Figures:
    """One rest of the engine, between two sentences.

    Raises:
        ConnectionError: a request wasn't answered.
        TimeoutError: the engine wasn't unloaded.
    """
    listen(server.port, SENTENCE, VOICE, headers=FRESH).assert_complete()
    speaking = _megabytes(server)
    _rests(server)
    resting = _megabytes(server)
    heard = listen(server.port, SENTENCE, VOICE, headers=FRESH).assert_complete()
    (worker,) = [each for each in server.status()["processes"] if each["role"] == "worker" and "load_seconds" in each]
    return speaking, resting, worker["load_seconds"], heard.to_first_audible or 0.0


def _rests(server: Subject) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        workers = [each for each in server.status()["processes"] if each["role"] == "worker"]
        standby = [each for each in server.status()["processes"] if each["role"] == "standby"]
        if [each["state"] for each in workers] == ["resting"] and standby and standby[0]["state"] == "imported":
            return
        time.sleep(0.1)
    raise TimeoutError("the engine was not unloaded")


def _megabytes(server: Subject) -> float:
    """Memory of the workers and the standby that no other process shares."""
    pids = [
        each["pid"] for each in server.status()["processes"] if each["role"] in ("worker", "standby") and "pid" in each
    ]
    return float(sum(psutil.Process(pid).memory_full_info().uss for pid in pids)) / MEGABYTE


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description="Memory that --idle-unload gives back, and the next request's delay.")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    settings = WorkerSettings(engine="kokoro", model=asked.model, voices=asked.voices)
    with kokoro_live(settings, "--idle-unload", str(IDLE)) as server:
        runs = []
        for number in range(asked.runs):
            runs.append(run(server))
            print(f"idle-unload: {number + 1} of {asked.runs}", file=sys.stderr, flush=True)
    print(report(runs, asked.model.name).as_markdown())
    print(described())
    return int(max(first - load for _, _, load, first in runs) > ALLOWED)


def report(runs: Sequence[Figures], engine: str) -> Report:
    """Medians of `runs`, and the verdict on the longest wait beyond loading."""
    speaking, resting, load, first = (median(column) for column in zip(*runs, strict=True))
    worst = max(first - load for _, _, load, first in runs)
    rows: list[Sequence[Cell]] = [
        ("workers' own memory while speaking, MB", f"{speaking:.0f}"),
        ("the same while resting, MB", f"{resting:.0f}"),
        ("first audible sample of the request that wakes the engine, ms", f"{first * 1e3:.0f}"),
        ("of that, loading, ms", f"{load * 1e3:.0f}"),
    ]
    verdict = Verdict(
        f"first audio at most {ALLOWED * 1e3:.0f} ms after the time that loading takes",
        f"{worst * 1e3:.0f} ms at worst of {len(runs)}",
        worst <= ALLOWED,
    )
    return Report("idle-unload", engine, [Table(f"Medians of {len(runs)} runs", ("", "measured"), rows)], [verdict])


if __name__ == "__main__":
    sys.exit(main())
