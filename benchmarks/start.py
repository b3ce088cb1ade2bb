"""Time from `serve` to the first word and the tenth request's, in a first and a second start, and the memory after it.

    python -m benchmarks.start [--runs 5] [--model MODEL] [--voices VOICES] [--words "Hello from a fresh machine."]
        [--standby loaded]

Each run has folders of its own: the first start assembles the model from its packages (unless --model names one) and
makes the stages, the second finds both. "Ready" is the line that `serve` prints once its engine speaks; the request
follows at once, nine more for the same sentence, none from the cache, once the standby is there. The worker's share is
what its process reports: the time from its `Load` to its readiness, the libraries' import not included. Memory is
resident, proportional (pages that several processes map count once in the sum) and private megabytes. Times are medians
of all runs.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from benchmarks.measuring.figures import median
from benchmarks.measuring.listening import FRESH, listen
from benchmarks.measuring.machine import described
from benchmarks.measuring.report import Cell, Table
from benchmarks.measuring.subjects import Subject, kokoro_live
from worker.settings import WorkerSettings

WORDS = "Hello from a fresh machine."

STANDBY = 120.0
"""Most seconds that a standby may take to load."""

STEPS = (
    "ready",
    "of that, worker's load",
    "first byte of sound",
    "first audible sample",
    "first request alone, to its first audible sample",
    "tenth request, to its first audible sample",
)

Sizes = tuple[float, float, float]
"""Resident, proportional and private megabytes."""


@dataclass(frozen=True, slots=True)
class Start:
    """One measured start. Times are seconds since `serve` was started."""

    ready: float
    load: float
    byte: float
    audible: float
    alone: float
    """Seconds from the first request to its first audible sample."""
    tenth: float
    memory: Mapping[str, Sizes]
    """Memory by process, the loaded standby included."""

    @property
    def steps(self) -> Sequence[float]:
        return self.ready, self.load, self.byte, self.audible, self.alone, self.tenth


def measured(settings: WorkerSettings, words: str, standby: str) -> Start:
    """Start a server, hear one sentence ten times, and wait for its standby.

    Raises:
        ConnectionError: the sentence wasn't spoken, or not by Kokoro.
        CannotStart: the server doesn't start.
    """
    began = time.monotonic()
    with kokoro_live(settings, "--standby", standby) as server:
        ready = time.monotonic() - began
        heard = listen(server.port, words, "af_heart").assert_complete()
        if heard.headers.get("X-Engine") != "kokoro":
            raise ConnectionError(f"{heard.headers.get('X-Engine')} spoke, not kokoro")
        assert heard.audible is not None
        load = next(each["load_seconds"] for each in server.status()["processes"] if each["role"] == "worker")
        _wait_for_standby(server, standby)
        later = [listen(server.port, words, "af_heart", headers=FRESH).assert_complete() for _ in range(9)]
        first, tenth = (each.to_first_audible or each.to_end for each in (heard, later[-1]))
        byte, audible = heard.arrivals[0][0] - began, heard.audible - began
        return Start(ready, load, byte, audible, first, tenth, _memory(server))


def _wait_for_standby(server: Subject, state: str) -> None:
    limit = time.monotonic() + STANDBY
    while not any(each["role"] == "standby" and each["state"] == state for each in server.status()["processes"]):
        if time.monotonic() > limit:
            raise ConnectionError(f"no standby was {state} within {STANDBY:g} s")
        time.sleep(0.2)


def _memory(server: Subject) -> Mapping[str, Sizes]:
    found = {}
    for each in server.status()["processes"]:
        sizes = psutil.Process(each["pid"]).memory_full_info()
        found[each["role"]] = (sizes.rss / 1e6, getattr(sizes, "pss", sizes.uss) / 1e6, sizes.uss / 1e6)
    return found


def starts(settings: WorkerSettings, words: str, runs: int, standby: str) -> Mapping[str, Sequence[Start]]:
    """First and second starts, each pair in a home of its own."""
    found: defaultdict[str, list[Start]] = defaultdict(list)
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as home:
            # The checksums of known files are kept there too: a fresh machine has none.
            os.environ["XDG_CACHE_HOME"] = home
            own = replace(settings, model_dir=Path(home, "models"), cache_dir=Path(home, "cache"))
            for which in ("first start", "second start"):
                found[which].append(measured(own, words, standby))
    return found


def tables(found: Mapping[str, Sequence[Start]]) -> Sequence[Table]:
    """Medians of the times in seconds, and of the memory after the second start."""
    times: list[Sequence[Cell]] = []
    for place, step in enumerate(STEPS):
        times.append((step, *(median([start.steps[place] for start in each]) for each in found.values())))
    last = found["second start"]
    roles = list(last[0].memory)
    rows: list[Sequence[Cell]] = [
        (role, *(median([start.memory[role][kind] for start in last]) for kind in range(3))) for role in roles
    ]
    rows.append(("all", *(sum(float(row[kind] or 0) for row in rows) for kind in range(1, 4))))
    return (
        Table("Seconds since `serve`", ("step", *found), times),
        Table("Megabytes after the sentences, with the standby", ("process", "RSS", "PSS", "USS"), rows),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--model", type=Path, help="default: the one in the installed packages")
    parser.add_argument("--voices", type=Path, help="default: the embedded ones")
    parser.add_argument("--vocoder", choices=("auto", "windowed", "whole"), default="auto")
    parser.add_argument("--words", default=WORDS)
    parser.add_argument("--standby", choices=("loaded", "imported"), default="loaded", help="it loads beside the first")
    arguments = parser.parse_args()
    settings = WorkerSettings(
        engine="kokoro", model=arguments.model, voices=arguments.voices, vocoder=arguments.vocoder
    )
    print(described())
    for table in tables(starts(settings, arguments.words, arguments.runs, arguments.standby)):
        print("\n" + table.as_markdown(), flush=True)


if __name__ == "__main__":
    main()
