"""One worker beside two on this machine: first audio, listeners without a gap, speed, and memory with each standby.

    python -m benchmarks.workers --model M --voices V [--runs N]

Both servers run at once and are asked in turn, one at a time, so that what else the machine does strikes both alike.
Memory is taken of one server at a time: the weights' pages are shared by all that map them.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from benchmarks.figures import median
from benchmarks.listening import FRESH, Heard, listen
from benchmarks.machine import machine
from benchmarks.report import Cell, Report, Table, Verdict, write
from benchmarks.streams import aggregate_speed, crowd, level
from benchmarks.subjects import START, CannotStart, Subject, kokoro_live
from benchmarks.texts import SENTENCE, article
from supervisor.server_client import get_json
from worker.machine import cores
from worker.settings import WorkerSettings

VOICE = "af_heart"
STANDBYS = ("off", "imported", "loaded")
LONG, EACH = 900, 300
"""Characters: of the one long text, and of each listener's where there are several."""

SETTLED = 3
"""Sentences that each server speaks before anything is measured."""

MEGABYTE = 1e6

Figures = Mapping[str, Sequence[float]]
"""By measurement, one for each run."""


def speaking(subject: Subject, workers: int) -> Subject:
    """Wait until all of its workers speak.

    Raises:
        CannotStart: they don't.
    """
    deadline = time.monotonic() + START
    while time.monotonic() < deadline:
        _, status = get_json(f"http://127.0.0.1:{subject.port}", "/status")
        states = [each["state"] for each in status["processes"] if each["role"] == "worker"]
        if states.count("running") == workers:
            return subject
        time.sleep(0.2)
    raise CannotStart(f"{workers} workers don't speak:\n{subject.log()}")


def _sentence(to: Subject) -> list[tuple[str, float]]:
    heard = listen(to.port, SENTENCE, VOICE, headers=FRESH).assert_complete()
    return [("a sentence: first audio, s", _first(heard)), ("a sentence: all of it, s", heard.to_end)]


def _long_text(to: Subject) -> list[tuple[str, float]]:
    heard = listen(to.port, article(LONG), VOICE, headers=FRESH).assert_complete()
    return [("a long text: first audio, s", _first(heard)), ("a long text: all of it, s", heard.to_end)]


def _two_listeners(to: Subject) -> list[tuple[str, float]]:
    found = level(2, crowd(to, VOICE, EACH, [0.0, 0.5], paced=True))
    first = [("two listeners: first audio of the later, s", max(found.waits))] if found.waits else []
    return [
        *first,
        ("two listeners: without a gap", float(found.clean)),
        ("two listeners: seconds of gaps", found.gap_seconds),
        ("two listeners: sent away", float(found.rejected)),
    ]


def _speed(to: Subject) -> list[tuple[str, float]]:
    return [("four who read as fast as they can: times real time", aggregate_speed(to, VOICE, EACH, 4))]


MEASUREMENTS: tuple[Callable[[Subject], list[tuple[str, float]]], ...] = (_sentence, _long_text, _two_listeners, _speed)


def _first(heard: Heard) -> float:
    assert heard.to_first_audible is not None
    return heard.to_first_audible


def measure(settings: WorkerSettings, counts: Sequence[int], runs: int, seed: int = 1) -> dict[int, Figures]:
    """Figures by number of workers.

    Raises:
        CannotStart, ConnectionError: a server doesn't work.
    """
    found: dict[int, dict[str, list[float]]] = {count: {} for count in counts}
    rng = random.Random(seed)
    with contextlib.ExitStack() as stack:
        servers = {
            count: speaking(stack.enter_context(kokoro_live(settings, "--workers", str(count))), count)
            for count in counts
        }
        for subject in servers.values():
            for _ in range(SETTLED):
                _sentence(subject)
        for number in range(runs):
            for once in MEASUREMENTS:
                for count in rng.sample(counts, len(counts)):
                    for name, figure in once(servers[count]):
                        found[count].setdefault(name, []).append(figure)
            print(f"workers: {number + 1} of {runs}", flush=True)
    return dict(found)


def memory(settings: WorkerSettings, count: int, standby: str) -> dict[str, float]:
    """Megabytes of all workers and the standby, when all of them have spoken or loaded."""
    flags = ("--workers", str(count), "--standby", standby)
    with kokoro_live(settings, *flags) as subject:
        speaking(subject, count)
        crowd(subject, VOICE, EACH, [0.0] * 2 * count, paced=False)
        _wait_for_standby(subject, standby)
        sizes = [process.memory_full_info() for process in _inferring(subject)]
    found = {"processes": float(len(sizes)), "rss": sum(size.rss for size in sizes) / MEGABYTE}
    if all(hasattr(size, "pss") for size in sizes):
        found["pss"] = sum(size.pss for size in sizes) / MEGABYTE
    return found


def _inferring(subject: Subject) -> list[psutil.Process]:
    titles = ("kokoro-live: worker", "kokoro-live: standby")
    children = subject.processes()["supervisor"].children(recursive=True)
    return [process for process in children if " ".join(process.cmdline()).startswith(titles)]


def _wait_for_standby(subject: Subject, standby: str) -> None:
    deadline = time.monotonic() + START
    while standby != "off" and time.monotonic() < deadline:
        _, status = get_json(f"http://127.0.0.1:{subject.port}", "/status")
        if any(each["role"] == "standby" and each["state"] == standby for each in status["processes"]):
            return
        time.sleep(0.2)


def report(figures: Mapping[int, Figures], sizes: Mapping[tuple[int, str], Mapping[str, float]], engine: str) -> Report:
    """Medians side by side, the gain of more workers, and memory."""
    one, *others = sorted(figures)
    names = list(figures[one])
    rows: list[list[Cell]] = [
        [name, *(median(figures[count][name]) if name in figures[count] else None for count in sorted(figures))]
        for name in names
    ]
    columns = ("", *(f"{count} worker{'s' * (count > 1)}" for count in sorted(figures)))
    tables = [Table("Medians", columns, rows)]
    if sizes:
        memory_rows: list[list[Cell]] = [
            [count, standby, int(size["processes"]), size["rss"], size.get("pss")]
            for (count, standby), size in sizes.items()
        ]
        tables.append(
            Table("Memory of all workers, MB", ("workers", "standby", "processes", "RSS", "PSS"), memory_rows)
        )
    return Report(
        "workers",
        engine,
        tables,
        [_verdict(figures[one], figures[count], count) for count in others],
        ("RSS counts the mapped weights once for each process, PSS once for all.",),
        {str(count): dict(found) for count, found in figures.items()},
    )


def _verdict(one: Figures, more: Figures, count: int) -> Verdict:
    """Whether it would be worth proposing: sooner first audio, or more listeners without a gap."""
    first = [name for name in one if name.endswith("first audio, s")]
    ratios = {name: median(more[name]) / median(one[name]) for name in first}
    clean, away = "two listeners: without a gap", "two listeners: sent away"
    gained = min(ratios.values()) < 0.95 and max(ratios.values()) < 1.05
    better = median(more[clean]) > median(one[clean]) and median(more[away]) <= median(one[away])
    gained |= better and max(ratios.values()) < 1.05
    said = ", ".join(f"{name.split(':')[0]} {ratio:.2f}" for name, ratio in ratios.items())
    return Verdict(
        f"{count} workers: first audio sooner, or more listeners without a gap, and nothing else later",
        f"first audio by that of one worker: {said}; without a gap {median(more[clean]):g} of 2, "
        f"one worker {median(one[clean]):g}",
        gained,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--workers", default="1,2", help="numbers of workers to compare, the first of them 1")
    parser.add_argument("--standby", default=",".join(STANDBYS), help="of which memory is measured; empty: of none")
    parser.add_argument("--out", type=Path, help="also write bench.json and bench.md there")
    arguments = parser.parse_args()
    settings = WorkerSettings(engine="kokoro", model=arguments.model, voices=arguments.voices)
    counts = [int(count) for count in arguments.workers.split(",")]
    standbys = [standby for standby in arguments.standby.split(",") if standby]
    before = machine()
    sizes = {(count, standby): memory(settings, count, standby) for count in counts for standby in standbys}
    figures = measure(settings, counts, max(arguments.runs, 1))
    found = report(figures, sizes, f"{arguments.model.name} on {cores()} cores")
    print(found.as_markdown())
    if arguments.out:
        write([found], before, "python -m benchmarks.workers", quick=False, out=arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
