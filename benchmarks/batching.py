"""Several windows in one inference against one each: is a batch of listeners cheaper than one after another?

    python -m benchmarks.batching --model MODEL [--frames 64] [--rounds 7]

The generator's window with a voice's frozen statistics takes a batch as it is; all of a batch must have one voice. Each
way makes the same number of windows; ways take turns, and what counts is the median of each round's ratio to windows
made one after another with all cores.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring.figures import median
from benchmarks.measuring.machine import described
from benchmarks.measuring.report import Cell, Table
from worker.machine import cores
from worker.session import open_session
from worker.settings import WorkerSettings
from worker.split.prepared import prepare
from worker.split.rewrites.stage_files import GENERATOR
from worker.split.segments.segment import HARMONICS

WINDOWS = 4
"""Made in each turn of each way."""

Way = Callable[[], None]


def ways(generator: Path, frames: int) -> dict[str, Way]:
    """Each makes `WINDOWS` windows of so many frames at 80 Hz, context included."""
    settings = WorkerSettings()
    one, all_cores = (open_session(generator, settings, threads=threads) for threads in (1, cores()))
    pool = ThreadPoolExecutor(cores())
    single, batch, half = (feeds(one, frames, size) for size in (1, WINDOWS, WINDOWS // 2))

    def repeat(session: Any, given: dict[str, Any], times: int) -> None:
        for _ in range(times):
            session.run(None, given)

    def side_by_side(given: dict[str, Any], times: int) -> None:
        for run in [pool.submit(one.run, None, given) for _ in range(times)]:
            run.result()

    return {
        f"one after another, {cores()} threads each": lambda: repeat(all_cores, single, WINDOWS),
        f"a batch of {WINDOWS}, {cores()} threads": lambda: repeat(all_cores, batch, 1),
        "one after another, one thread each": lambda: repeat(one, single, WINDOWS),
        f"a batch of {WINDOWS}, one thread": lambda: repeat(one, batch, 1),
        f"{cores()} side by side, one thread each": lambda: side_by_side(single, WINDOWS),
        f"{cores()} batches of {WINDOWS // 2} side by side, one thread each": lambda: side_by_side(half, 2),
    }


def feeds(session: Any, frames: int, batch: int) -> dict[str, Any]:
    """Random inputs of the generator for `batch` windows; the time doesn't depend on their values."""
    rng = np.random.default_rng(0)
    features, harmonics, style, means, variances, crop = session.get_inputs()
    return {
        features.name: rng.normal(0, 0.3, (batch, 512, frames)).astype(np.float32),
        harmonics.name: rng.normal(0, 0.3, (batch, 22, HARMONICS * frames + 1)).astype(np.float32),
        style.name: rng.normal(0, 0.15, (1, 256)).astype(np.float32),
        means.name: np.zeros(means.shape, np.float32),
        variances.name: np.ones(variances.shape, np.float32),
        crop.name: np.zeros(2, np.int64),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--frames", type=int, default=64, help="of a window at 80 Hz, context included")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    settings = WorkerSettings()
    contenders = ways(prepare(arguments.model, settings.cache_dir).folder / GENERATOR, arguments.frames)
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(arguments.rounds + 1):
        for name, way in contenders.items():
            started = time.perf_counter()
            way()
            if number:  # the first round only warms up
                taken[name].append(time.perf_counter() - started)
    base = next(iter(taken.values()))
    rows: list[list[Cell]] = [
        [name, median(times) / WINDOWS, median([one / time for one, time in zip(base, times, strict=True)])]
        for name, times in taken.items()
    ]
    print(Table(f"{WINDOWS} windows of {arguments.frames} frames", ("", "s per window", "faster"), rows).as_markdown())
    print(described())
    return 0


if __name__ == "__main__":
    sys.exit(main())
