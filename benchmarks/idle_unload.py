"""Memory that `--idle-unload` gives back, and the first-audio time of the request that ends the rest.

    python -m benchmarks.idle_unload --model M --voices V [--runs N]

In each run the server speaks, rests, and speaks again. Exits with 1 if a first audible sample came more than
`ALLOWED` seconds after the time that loading took.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import psutil

from benchmarks.figures import median
from benchmarks.listening import FRESH, listen
from benchmarks.subjects import Subject, kokoro_live
from benchmarks.texts import SENTENCE
from worker.settings import WorkerSettings

VOICE = "af_heart"
IDLE = 1.0
"""Seconds of `--idle-unload`."""

ALLOWED = 0.5
MEGABYTE = 1e6
PATIENCE = 120.0
"""Seconds within which the engine must have been unloaded."""


def run(server: Subject) -> tuple[float, float, float, float]:
    """Megabytes of the workers while one speaks and while it rests; seconds of loading and to the first audible sample
    of the request that woke it.

    Raises:
        ConnectionError: a request wasn't answered.
        TimeoutError: the engine wasn't unloaded.
    """
    listen(server.port, SENTENCE, VOICE, headers=FRESH).assert_complete()
    speaking = _megabytes(server)
    _rests(server)
    resting = _megabytes(server)
    heard = listen(server.port, SENTENCE, VOICE, headers=FRESH).assert_complete()
    (worker,) = [each for each in _status(server)["processes"] if each["role"] == "worker" and "load_seconds" in each]
    return speaking, resting, worker["load_seconds"], heard.to_first_audible or 0.0


def _rests(server: Subject) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        workers = [each for each in _status(server)["processes"] if each["role"] == "worker"]
        standby = [each for each in _status(server)["processes"] if each["role"] == "standby"]
        if [each["state"] for each in workers] == ["resting"] and standby:
            time.sleep(1.0)  # the standby imports its libraries
            return
        time.sleep(0.1)
    raise TimeoutError("the engine was not unloaded")


def _megabytes(server: Subject) -> float:
    """Memory of the workers and the standby that no other process shares."""
    pids = [
        each["pid"] for each in _status(server)["processes"] if each["role"] in ("worker", "standby") and "pid" in each
    ]
    return float(sum(psutil.Process(pid).memory_full_info().uss for pid in pids)) / MEGABYTE


def _status(server: Subject) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/status") as answer:
        return json.load(answer)


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description="What --idle-unload gives back, and what the next request pays.")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    settings = WorkerSettings(engine="kokoro", model=asked.model, voices=asked.voices)
    with kokoro_live(settings, "--idle-unload", str(IDLE)) as server:
        runs = [run(server) for _ in range(asked.runs)]
    speaking, resting, load, first = (median(column) for column in zip(*runs, strict=True))
    worst = max(first - load for _, _, load, first in runs)
    print(f"workers' own memory: {speaking:.0f} MB while speaking, {resting:.0f} MB while resting")
    print(f"first audible sample of the request that wakes the engine: {first * 1e3:.0f} ms")
    print(f"loading takes {load * 1e3:.0f} ms of that")
    print(
        f"beyond loading, at most: {worst * 1e3:.0f} ms (allowed {ALLOWED * 1e3:.0f} ms); median of {asked.runs} runs"
    )
    return int(worst > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
