"""One worker against several on this machine: first audio, listeners without a gap, speed, and memory with a standby.

    python -m benchmarks.workers --model M --voices V [--runs N] [--only speed|memory]

All servers run at once and are asked in turn, one at a time, so that other load of the machine strikes all alike.
Memory is taken of one server at a time.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from benchmarks.measuring.figures import median
from benchmarks.measuring.listening import FRESH, listen
from benchmarks.measuring.machine import machine
from benchmarks.measuring.playback import play
from benchmarks.measuring.report import Cell, Report, Table, Verdict, write
from benchmarks.measuring.subjects import CannotStart, Subject, kokoro_live
from benchmarks.measuring.texts import SENTENCE, article
from benchmarks.streams import crowd
from worker.machine import cores
from worker.settings import WorkerSettings

PARTS = ("speed", "memory")
STANDBYS = ("off", "loaded")
LONG = 400
"""Characters of the long text: about 25 s of speech."""

SHORT = 150
"""Characters of each text of a crowd."""

VOICE = "af_heart"

START = 600.0
"""Seconds within which all workers must speak: a model is split at its first start."""

MEGABYTE = 1e6

HIGHER = "times real time", "without a gap"
"""Endings of the figures of which more is better."""

Run = Mapping[str, float]
"""Figures of one server, once, by name."""


def speed(settings: WorkerSettings, counts: Sequence[int], runs: int) -> dict[int, list[Run]]:
    """Runs by number of workers.

    Raises:
        CannotStart, ConnectionError: a server doesn't work.
    """
    found: dict[int, list[Run]] = {count: [] for count in counts}
    with contextlib.ExitStack() as stack:
        servers = {count: stack.enter_context(_server(settings, count, "off")) for count in counts}
        for server in servers.values():
            _run(server)  # costs are learned, and memory grows
        for number in range(runs):
            for count in list(counts)[:: -1 if number % 2 else 1]:
                found[count].append(_run(servers[count]))
            print(f"workers: {number + 1} of {runs}", flush=True)
    return found


def _run(server: Subject) -> Run:
    listeners = cores() + 1
    sentence = listen(server.port, SENTENCE, VOICE, headers=FRESH).assert_complete()
    long = listen(server.port, article(LONG), VOICE, headers=FRESH).assert_complete()
    began = time.monotonic()
    several = [one.assert_complete() for one in crowd(server, VOICE, SHORT, [0.0] * listeners, paced=False)]
    taken = time.monotonic() - began
    return {
        "a sentence: first audio, s": sentence.to_first_audible or 0.0,
        "a sentence: times real time": sentence.audio_seconds / sentence.to_end,
        "a long text: first audio, s": long.to_first_audible or 0.0,
        "a long text: all of it, s": long.to_end,
        f"{listeners} listeners: first audio, s": median([one.to_first_audible or 0.0 for one in several]),
        f"{listeners} listeners: without a gap": float(sum(not play(one.arrivals).underruns for one in several)),
        f"{listeners} listeners: times real time": sum(one.audio_seconds for one in several) / taken,
    }


def memory(settings: WorkerSettings, count: int, standby: str) -> float:
    """Megabytes of all workers and the standby, after all of them have spoken or loaded.

    Raises:
        CannotStart, ConnectionError: the server doesn't work.
    """
    with _server(settings, count, standby) as server:
        for one in crowd(server, VOICE, SHORT, [0.0] * 2 * count, paced=False):
            one.assert_complete()
        if standby == "loaded":
            _wait(server, standby, 1)
        children = [each for each in server.status()["processes"] if each["role"] in ("worker", "standby")]
        sizes = [psutil.Process(each["pid"]).memory_full_info() for each in children]
        return float(sum(each.uss for each in sizes) + max(each.rss - each.uss for each in sizes)) / MEGABYTE


@contextlib.contextmanager
def _server(settings: WorkerSettings, workers: int, standby: str) -> Any:
    with kokoro_live(settings, "--workers", str(workers), "--standby", standby, "--cache-bytes", "0") as server:
        _wait(server, "running", workers)
        yield server


def _wait(server: Subject, state: str, count: int) -> None:
    """Until so many workers, or the standby, are in that state."""
    deadline = time.monotonic() + START
    while sum(each["state"] == state for each in server.status()["processes"] if each["role"] != "front") < count:
        if time.monotonic() > deadline:
            raise CannotStart(f"not all processes are {state}:\n{server.log()}")
        time.sleep(0.2)


def report(found: Mapping[int, Sequence[Run]], sizes: Mapping[tuple[int, str], float], engine: str) -> Report:
    """Medians side by side, a verdict on more workers, and memory."""
    tables = []
    verdicts = []
    if found:
        one, *others = sorted(found)
        columns = ("", *(f"{count} worker{'s' * (count > 1)}" for count in sorted(found)))
        rows: list[list[Cell]] = [
            [name, *(median([run[name] for run in found[count]]) for count in sorted(found))] for name in found[one][0]
        ]
        tables.append(Table("Medians", columns, rows))
        verdicts = [verdict(found[one], found[count], count) for count in others]
    if sizes:
        cells: list[list[Cell]] = [[count, standby, size] for (count, standby), size in sizes.items()]
        tables.append(Table("Memory of all workers, MB", ("workers", "standby", "memory"), cells))
    notes = ("Memory is what each process has alone, and once what they share.",) if sizes else ()
    return Report("workers", engine, tables, verdicts, notes, {str(count): list(runs) for count, runs in found.items()})


def verdict(one: Sequence[Run], more: Sequence[Run], count: int) -> Verdict:
    """The verdict on more workers: they pay if a figure is 5 % better, better in each run, and none is 5 % worse."""
    ratios = {
        name: [
            several[name] / single[name] if name.endswith(HIGHER) else single[name] / several[name]
            for several, single in zip(more, one, strict=True)
            if several[name] and single[name]
        ]
        or [1.0]
        for name in one[0]
    }
    gained = [name for name, each in ratios.items() if median(each) >= 1.05 and min(each) > 1]
    lost = [name for name, each in ratios.items() if median(each) < 0.95]
    said = ", ".join(f"{name.removesuffix(', s')} {median(each):.2f}" for name, each in ratios.items())
    target = f"{count} workers: a figure is 5 % better, and better in each run; none is 5 % worse"
    return Verdict(target, f"by one worker's: {said}", bool(gained) and not lost)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--workers", default="1,2", help="numbers of workers to compare, the first of them 1")
    parser.add_argument("--only", choices=PARTS, help="one part alone")
    parser.add_argument("--standby", default=",".join(STANDBYS), help="of which memory is measured")
    parser.add_argument("--out", type=Path, help="also write bench.json and bench.md there")
    arguments = parser.parse_args()
    settings = WorkerSettings(engine="kokoro", model=arguments.model, voices=arguments.voices)
    counts = [int(count) for count in arguments.workers.split(",")]
    before = machine()
    sizes: dict[tuple[int, str], float] = {}
    if arguments.only != "speed":
        wanted = [(count, standby) for count in counts for standby in arguments.standby.split(",")]
        sizes = {each: memory(settings, *each) for each in wanted}
    found = speed(settings, counts, max(arguments.runs, 1)) if arguments.only != "memory" else {}
    told = report(found, sizes, f"{arguments.model.name} on {cores()} cores")
    print(told.as_markdown())
    if arguments.out:
        write([told], before, "python -m benchmarks.workers", quick=False, out=arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
