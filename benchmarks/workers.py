"""One worker beside two on this machine: first audio, listeners without a gap, speed, and memory with a standby.

    python -m benchmarks.workers --model M --voices V [--runs N] [--only speed|memory]

The servers and what is asked of them are those of `kokoro-live tune` (`supervisor.tuning.several_workers`), and so is
the verdict; a long text comes to it. Both servers run at once and are asked in turn, one at a time, so that what else
the machine does strikes both alike. Memory is taken of one server at a time.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.figures import median
from benchmarks.machine import machine
from benchmarks.report import Cell, Report, Table, Verdict, write
from benchmarks.texts import article
from supervisor.tuning.listening import Figures, hear, measure
from supervisor.tuning.servers import RunningServer, ServerFailed, flags, serving
from supervisor.tuning.several_workers import GAINS, NO_LOSSES, compare, gained, lost, middle
from supervisor.tuning.speaking_servers import listeners
from supervisor.tuning.texts import PARAGRAPHS, SENTENCE
from worker.machine import cores
from worker.settings import WorkerSettings

PARTS = ("speed", "memory")
STANDBYS = ("off", "loaded")
LONG = 400
"""Characters of the long text: about 25 s of speech."""

START = 600.0
"""Seconds until a server must speak: a model is split at its first start."""

MEGABYTE = 1e6


@dataclass(frozen=True, slots=True)
class Run:
    """What one server did, once."""

    figures: Figures
    long_first: float
    """Seconds until the long text was heard,"""
    long_whole: float
    """and until all of it was there."""

    def named(self) -> dict[str, float]:
        """By what people read."""
        crowd = f"{self.figures.crowd} listeners"
        return {
            "a sentence: first audio, a silence at ten times its length, s": self.figures.first,
            "a sentence: times real time": self.figures.real_time,
            "a long text: first audio, s": self.long_first,
            "a long text: all of it, s": self.long_whole,
            f"{crowd}: first audio, s": self.figures.first_together,
            f"{crowd}: without a gap": float(self.figures.gapless),
            f"{crowd}: times real time": self.figures.together,
        }


def speed(settings: WorkerSettings, counts: Sequence[int], runs: int) -> dict[int, list[Run]]:
    """Runs by number of workers.

    Raises:
        ServerFailed: a server doesn't work.
    """
    found: dict[int, list[Run]] = {count: [] for count in counts}
    texts = [PARAGRAPHS[number % len(PARAGRAPHS)] for number in range(listeners(cores()))]
    with contextlib.ExitStack() as stack:
        servers = {count: stack.enter_context(_server(settings, count, "off")) for count in counts}
        for server in servers.values():
            measure(server.url, SENTENCE, texts, START)  # costs are learned, and memory grows
        for number in range(runs):
            for count in list(counts)[:: -1 if number % 2 else 1]:
                url = servers[count].url
                figures = measure(url, SENTENCE, texts, START)
                (long,) = hear(url, [article(LONG)], START)
                servers[count].assert_sound()
                found[count].append(Run(figures, long.first, long.whole))
            print(f"workers: {number + 1} of {runs}", flush=True)
    return found


def memory(settings: WorkerSettings, count: int, standby: str) -> float:
    """Megabytes of all workers and the standby, when all of them have spoken or loaded.

    Raises:
        ServerFailed: the server doesn't work.
    """
    with _server(settings, count, standby) as server:
        hear(server.url, [SENTENCE] * 2 * count, START)
        deadline = time.monotonic() + START
        while standby == "loaded" and not any(each["state"] == standby for each in server.processes()):
            if time.monotonic() > deadline:
                raise ServerFailed("its standby doesn't load")
            time.sleep(0.2)
        return server.memory() / MEGABYTE


def _server(settings: WorkerSettings, workers: int, standby: str) -> contextlib.AbstractContextManager[RunningServer]:
    return serving([*flags(asdict(settings)), "--standby", standby], workers, START)


def report(found: Mapping[int, Sequence[Run]], sizes: Mapping[tuple[int, str], float], engine: str) -> Report:
    """Medians side by side, what tuning would say of more workers, and memory."""
    tables = []
    verdicts = []
    if found:
        one, *others = sorted(found)
        columns = ("", *(f"{count} worker{'s' * (count > 1)}" for count in sorted(found)))
        rows: list[list[Cell]] = [
            [name, *(median([run.named()[name] for run in found[count]]) for count in sorted(found))]
            for name in found[one][0].named()
        ]
        tables.append(Table("Medians", columns, rows))
        verdicts = [_verdict(found[one], found[count], count) for count in others]
    if sizes:
        cells: list[list[Cell]] = [[count, standby, size] for (count, standby), size in sizes.items()]
        tables.append(Table("Memory of all workers, MB", ("workers", "standby", "memory"), cells))
    return Report(
        "workers",
        engine,
        tables,
        verdicts,
        ("Memory is what each process has alone, and once what they share.",) if sizes else (),
        {str(count): [run.named() for run in runs] for count, runs in found.items()},
    )


def _verdict(one: Sequence[Run], more: Sequence[Run], count: int) -> Verdict:
    pairs = [compare(several.figures, single.figures) for several, single in zip(more, one, strict=True)]
    best = middle(pairs)
    said = ", ".join(f"{said} {getattr(best, name):.2f}" for name, said in NO_LOSSES.items())
    return Verdict(
        f"{count} workers: one of {', '.join(GAINS.values())} is 5 % better, and better in each run; nothing is worse",
        f"by one worker's: {said}",
        bool(gained(pairs)) and not lost(pairs),
    )


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
