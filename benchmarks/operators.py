"""Time of a generator's window by operator, from onnxruntime's own profile.

    python -m benchmarks.operators --model MODEL [--frames 58] [--runs 5] [--threads 1]

Each node counts with the least of its times, since other programs only slow a run down. The default window is the
longest one that the server makes, contexts included, in the graph that the server runs on this machine.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.measuring.machine import described
from benchmarks.measuring.report import Cell, Table
from benchmarks.rewrites import inputs
from worker.engine import RunControl
from worker.session import profiling
from worker.settings import WorkerSettings
from worker.split.prepared import Prepared, prepare
from worker.split.rewrites.stage_files import GENERATOR
from worker.split.segments.stage import LoadedStage
from worker.targets import StageTarget

LEAST_SHARE = 0.01
"""Operators with a smaller share of the time are counted together."""

_KERNEL = "_kernel_time"


class Event(msgspec.Struct):
    """One line of a profile; `dur` is in microseconds."""

    name: str
    dur: int = 0
    cat: str = ""
    args: dict[str, Any] = {}


def profiled(prepared: Prepared, frames: int, runs: int, threads: int) -> list[Event]:
    """The profile of so many runs of one window."""
    arrays = inputs(prepared, frames)
    with profiling():
        stage = LoadedStage(prepared.folder / GENERATOR, WorkerSettings(threads=threads), StageTarget())
        for _ in range(runs):
            stage.run(arrays, threads, RunControl())
        return msgspec.json.decode(Path(stage.session(threads).end_profiling()).read_bytes(), type=list[Event])


def rows(events: Sequence[Event]) -> list[Sequence[Cell]]:
    """Operator, number of nodes, milliseconds and percent of all, the largest first."""
    nodes: dict[tuple[str, str], int] = {}
    for event in events:
        if event.cat == "Node" and event.name.endswith(_KERNEL):
            node = event.args["op_name"], event.name
            nodes[node] = min(nodes.get(node, event.dur), event.dur)
    operators: defaultdict[str, list[int]] = defaultdict(list)
    for (operator, _), microseconds in nodes.items():
        operators[operator].append(microseconds)
    total = sum(nodes.values())
    small = [name for name, times in operators.items() if sum(times) < LEAST_SHARE * total]
    operators["others"] = [each for name in small for each in operators.pop(name)]
    ordered = sorted(operators.items(), key=lambda item: (item[0] == "others", -sum(item[1])))
    return [(name, len(times), sum(times) / 1000, 100 * sum(times) / total) for name, times in ordered]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--frames", type=int, default=58, help="of the window at 80 Hz, context included")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    settings = WorkerSettings()
    events = profiled(prepare(options.model, settings.cache_dir), options.frames, options.runs, options.threads)
    title = f"{options.model.name}, {options.frames} frames, {options.threads} thread{'s' * (options.threads > 1)}"
    print(Table(title, ("operator", "nodes", "ms", "% of all"), rows(events)).as_markdown())
    print(described())


if __name__ == "__main__":
    main()
