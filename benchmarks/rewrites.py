"""Gains of the vocoder graph's rewrites: a window of the generator with none, with each alone, with all.

    python -m benchmarks.rewrites --model MODEL [--threads 1]... [--frames 64] [--runs 15] [--only VARIANT]...

The variants take turns, so what else the machine does meets all alike; `ratio` is the median of each turn's time
against that of the graph as it is, `processor` the same of processor time, which others on the machine disturb less;
`SNR` is how far the sound is from it, in dB.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.measuring.machine import described
from worker.engine import RunControl
from worker.pcm import snr
from worker.settings import WorkerSettings
from worker.split.prepared import Prepared, prepare
from worker.split.rewrites.choice import Rewrite
from worker.split.rewrites.stage_files import GENERATOR
from worker.split.segments.segment import GENERATOR_CONTEXT, SECOND_STAGE_CONTEXT
from worker.split.segments.stage import LoadedStage
from worker.split.static.static_windows import window_inputs
from worker.targets import StageTarget

_ALONE = [rewrite for rewrite in Rewrite if rewrite is not Rewrite.SPECTRUM]  # that one is of the source
VARIANTS: dict[str, tuple[Rewrite, ...]] = {
    "none": (),
    **{rewrite.value: (rewrite,) for rewrite in _ALONE},
    "all but sine": tuple(rewrite for rewrite in Rewrite if rewrite is not Rewrite.SINE),
    "all": tuple(Rewrite),
}


def inputs(prepared: Prepared, frames: int) -> list[NDArray[Any]]:
    """Inputs of a window in a segment's middle; the engine crops such a window's context on both sides."""
    crop = GENERATOR_CONTEXT - SECOND_STAGE_CONTEXT
    return [*window_inputs(prepared, frames).values(), np.array([crop, crop])]


def sound(stage: LoadedStage, arrays: list[NDArray[Any]], threads: int) -> NDArray[Any]:
    """The stage's audio in steps of 16 bits, not rounded."""
    return 32_768 * stage.run(arrays, threads, RunControl())[0].ravel()


@dataclass(frozen=True)
class Times:
    """Seconds, one for each turn."""

    elapsed: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    """Processor seconds of all threads, run by run."""


def measured(
    stages: Mapping[str, LoadedStage], arrays: list[NDArray[Any]], threads: int, runs: int
) -> dict[str, Times]:
    """Times of each variant, by its name."""
    times = {name: Times() for name in stages}
    for _ in range(runs):
        for name, stage in stages.items():
            started, busy = time.perf_counter(), time.process_time()
            stage.run(arrays, threads, RunControl())
            times[name].elapsed.append(time.perf_counter() - started)
            times[name].processor.append(time.process_time() - busy)
    return times


def ratio(mine: list[float], plain: list[float]) -> str:
    return f"{statistics.median(a / b for a, b in zip(mine, plain, strict=True)):.3f}"


def show(console: Console, threads: int, times: Mapping[str, Times], sounds: Mapping[str, Any]) -> None:
    columns = ("rewrites", "ms", "least ms", "ratio", "processor", "SNR dB")
    table = Table(*columns, title=f"{threads} thread{'s' * (threads > 1)}")
    plain = times["none"]
    for name, mine in times.items():
        seconds = [f"{1e3 * each(mine.elapsed):.0f}" for each in (statistics.median, min)]
        ratios = [ratio(mine.elapsed, plain.elapsed), ratio(mine.processor, plain.processor)]
        table.add_row(name, *seconds, *ratios, "" if name == "none" else f"{snr(sounds['none'], sounds[name]):.0f}")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--threads", type=int, action="append", help="may be given several times; else 1")
    parser.add_argument("--frames", type=int, default=64, help="of the window at 80 Hz, context included")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--only", action="append", choices=list(VARIANTS), help="alongside the graph as it is")
    arguments = parser.parse_args()
    wanted = {"none", *(arguments.only or VARIANTS)}
    console = Console()
    console.print(described())
    with tempfile.TemporaryDirectory() as folder:
        variants = {
            name: prepare(arguments.model, Path(folder), rewrites)
            for name, rewrites in VARIANTS.items()
            if name in wanted
        }
        arrays = inputs(variants["none"], arguments.frames)
        for threads in arguments.threads or [1]:
            settings = WorkerSettings(threads=threads)
            stages = {
                name: LoadedStage(made.folder / GENERATOR, settings, StageTarget()) for name, made in variants.items()
            }
            sounds = {name: sound(stage, arrays, threads) for name, stage in stages.items()}
            show(console, threads, measured(stages, arrays, threads, arguments.runs), sounds)


if __name__ == "__main__":
    main()
