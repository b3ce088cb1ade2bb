"""Quiet: the first request after a start, and after minutes in which nobody asked, compared with the nine after it.

    python -m benchmarks.quiet [--minutes 0 1 10 60] [--servers 1] [--runs 1] [--model M] [--voices V] [-- FLAG ...]

Each server speaks, is left alone for so many minutes, and then speaks each of `KINDS` ten times: languages and formats
in turn, another one first in each run. 0 minutes is a new server's first requests. Servers wait side by side, and are
measured one at a time. A ratio is the first request's figure over the median of the next nine: to the first byte in
seconds, and the processor seconds and page faults of front and worker. Flags after `--` go to `kokoro-live serve`.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.measuring.figures import median, percentile
from benchmarks.measuring.listening import FRESH, listen
from benchmarks.measuring.machine import described
from benchmarks.measuring.report import Cell, Table
from benchmarks.measuring.subjects import Subject, kokoro_live
from worker.settings import WorkerSettings


class Kind(NamedTuple):
    """One use of the server."""

    format: str
    voice: str
    text: str


KINDS = (
    Kind("mp3", "af_heart", "The kettle has been on the stove since a quarter past four."),
    Kind("pcm", "ef_dora", "La tetera lleva en el fuego desde las cuatro y cuarto."),
    Kind("opus", "ff_siwis", "La bouilloire est sur le feu depuis quatre heures et quart."),
)

AGAIN = 9
"""Requests that follow the first one of a kind."""


class Used(NamedTuple):
    """Cost of one request: seconds to its first byte, processor seconds, minor and major page faults."""

    first_byte: float
    processor: float
    minor: float
    major: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One kind's ten requests after one silence. Megabytes are resident, before and after the silence."""

    minutes: float
    place: int
    """0: nothing was asked between the silence and this kind."""
    kind: Kind
    first: Used
    later: Sequence[Used]
    before: float
    after: float

    def ratio(self, figure: int) -> float:
        return self.first[figure] / max(median([each[figure] for each in self.later]), 1e-9)


_alone = threading.Lock()


def asked(server: Subject, kind: Kind) -> Used:
    """
    Raises:
        ConnectionError: the request wasn't answered.
    """
    processes = [each for role, each in server.processes().items() if role in ("front", "worker")]
    before = [_counts(each) for each in processes]
    reads = iter((True,))
    heard = listen(
        server.port,
        kind.text,
        kind.voice,
        headers=FRESH,
        extra={"response_format": kind.format},
        going=lambda: next(reads, False),  # the rest says nothing about the first byte
    )
    if not heard.complete:
        raise ConnectionError(f"{heard.status} {heard.error}")
    spent = [
        sum(later[n] - earlier[n] for earlier, later in zip(before, map(_counts, processes), strict=True))
        for n in range(3)
    ]
    return Used(heard.arrivals[0][0] - heard.started, *spent)


def _counts(process: psutil.Process) -> tuple[float, float, float]:
    times = process.cpu_times()
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return times.user + times.system, float(fields[7]), float(fields[9])


def _resident(server: Subject) -> float:
    return float(sum(each.memory_info().rss for each in server.processes().values())) / 1e6


def silences(
    settings: WorkerSettings, minutes: float, runs: int, turn: int, flags: Sequence[str]
) -> Iterator[Measured]:
    """`runs` silences of one server; of a server each where nothing was asked before."""
    for run in range(runs if minutes == 0 else 1):
        with kokoro_live(settings, *flags) as server:
            if minutes:
                with _alone:
                    for kind in KINDS * 3:
                        asked(server, kind)
            for number in range(runs if minutes else 1):
                before = _resident(server)
                time.sleep(60 * minutes)
                with _alone:
                    after = _resident(server)
                    first = (turn + run + number) % len(KINDS)
                    for place, kind in enumerate(KINDS[first:] + KINDS[:first]):
                        used = [asked(server, kind) for _ in range(1 + AGAIN)]
                        row = Measured(minutes, place, kind, used[0], used[1:], before, after)
                        print(f"quiet: {minutes:g} min, {kind.format}: {row.ratio(0):.2f}", file=sys.stderr, flush=True)
                        yield row


def table(found: Sequence[Measured]) -> Table:
    """Medians by minutes of quiet, and by whether something else was asked first."""
    rows: list[Sequence[Cell]] = []

    def key(each: Measured) -> tuple[float, bool]:
        return each.minutes, each.place > 0

    for (minutes, later), group in itertools.groupby(sorted(found, key=key), key):
        these = list(group)
        ratios = [each.ratio(0) for each in these]
        rows.append(
            (
                f"{minutes:g} min" if minutes else "start",
                "another format and language" if later else "all",
                len(these),
                median([each.first.first_byte for each in these]) * 1e3,
                median(ratios),
                f"{percentile(ratios, 25):.2f}–{percentile(ratios, 75):.2f}",
                median([each.ratio(1) for each in these]),
                median([each.first.minor for each in these]),
                median([median([one.minor for one in each.later]) for each in these]),
                sum(each.first.major for each in these),
                median([each.after - each.before for each in these]),
            )
        )
    return Table(
        "First request / the next nine",
        (
            *("quiet", "first of", "n", "first byte, ms", "ratio", "its quartiles", "processor, ratio"),
            *("page faults", "later", "from disk, in all", "MB resident, change"),
        ),
        rows,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, nargs="+", default=[0, 1, 10, 60])
    parser.add_argument("--servers", type=int, default=1, help="for each length of quiet, side by side")
    parser.add_argument("--runs", type=int, default=1, help="silences of each server")
    parser.add_argument("--model", type=Path, help="default: the one in the installed packages")
    parser.add_argument("--voices", type=Path, help="default: the embedded ones")
    parser.add_argument("flags", nargs="*")
    asked_for = parser.parse_args()
    settings = WorkerSettings(engine="kokoro", model=asked_for.model, voices=asked_for.voices)
    print(described())

    def measure(minutes: float, turn: int) -> Sequence[Measured]:
        return list(silences(settings, minutes, asked_for.runs, turn, asked_for.flags))

    turns = [(minutes, turn) for minutes in asked_for.minutes for turn in range(asked_for.servers)]
    # New servers are measured first: others that wait would be disturbed by their loading.
    with ThreadPoolExecutor(len(turns)) as pool:
        found = [each for some in pool.map(measure, *zip(*turns, strict=True)) for each in some]
    print("\n" + table(found).as_markdown())
    return 0


if __name__ == "__main__":
    sys.exit(main())
