"""Every system call fails once, in each of the ways that it can: nothing is lost, wrong or silent, and nothing hangs.

    python -m benchmarks.faults [--scenario NAME]... [--kind NAME]... [--every N] [--short SECONDS] [--json FILE]

The calls of an undisturbed run of each scenario are counted, by their sites: the lines that make them, and the process.
Then each call fails in turn, in a process of its own, once in each way (`shim.KINDS`), and the same is tried again
without a failure. `--every` leaves out calls of a site that has had one. A *power cut* leaves one of the states
of the disk that are legal at any point of the run (`power.py`): it is tried again on that, and what the run had
promised when it ended must be there. A run with the same `--json` goes on where one was stopped. Exits 1 if an outcome
is bad. Linux only; needs a C compiler (`cc`).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.faults.shim import CONTROL, KINDS, Kind, Shim, buildable, run_again

if TYPE_CHECKING:
    from benchmarks.faults.trials import Trial, Trials

_MEMORY = Path("/dev/shm")
"""Most of a trial on a disk is waiting for syncs; they are real calls here too."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenario", action="append", default=[], help="only these scenarios")
    parser.add_argument("--kind", action="append", default=[], help="only kinds whose name begins so")
    parser.add_argument(
        "--every",
        type=int,
        default=1,
        metavar="N",
        help="of a site's calls, the first and every Nth later; 0: the first",
    )
    parser.add_argument(
        "--short", type=float, default=0.0, metavar="SECONDS", help="a random part of all trials, for so long"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nth", type=int, default=0, help="only this call")
    parser.add_argument("--json", type=Path, help="write each trial as a line, and try none that is there")
    options = parser.parse_args()
    if why := buildable():
        print(f"not run: {why}", file=sys.stderr)
        return 0
    if CONTROL not in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            child = os.fork()
            if not child:
                run_again(Path(folder), "benchmarks.faults", sys.argv[1:])
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    from benchmarks.faults.scenarios import SCENARIOS
    from benchmarks.faults.trials import BAD, OUTCOMES, Trial, Trials

    shim = Shim(Path(os.environ[CONTROL]).parent)
    kinds = [kind for kind in KINDS if not options.kind or kind.name.startswith(tuple(options.kind))]
    told = options.json.read_text().splitlines() if options.json and options.json.exists() else []
    earlier = [Trial(**json.loads(line)) for line in told]
    tried = {(each.scenario, each.kind, each.nth, each.site): each for each in earlier}
    found: list[Trial] = []
    with (
        tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as work,
        _published(Path(work)),
        Path(options.json or os.devnull).open("a") as lines,
    ):
        series = {
            each.name: Trials(each, shim, Path(work))
            for each in SCENARIOS
            if not options.scenario or each.name in options.scenario
        }
        due = [
            (name, kind, call)
            for name, trials in series.items()
            for kind in kinds
            for number, call in enumerate(trials.calls(kind, options.every), 1)
            if options.nth in (0, number)
        ]
        if options.short:
            random.Random(options.seed).shuffle(due)
        began = time.monotonic()
        for name, kind, call in due:
            trial = tried.get((name, kind.name, call.nth, os.fsdecode(call.site)))
            if not trial:
                if options.short and time.monotonic() - began > options.short:
                    continue
                trial = series[name].trial(kind, call)
                print(json.dumps(asdict(trial)), file=lines, flush=True)
            found.append(trial)
            if trial.outcome in BAD:
                print(
                    f"{trial.outcome.upper()}: {name}, {kind.name}, call {trial.nth} of {trial.site} ({trial.failed}): "
                    f"{trial.told}",
                    flush=True,
                )
    _show(found, len(due), time.monotonic() - began, series, kinds)
    bad = [trial for trial in found if trial.outcome in BAD]
    print(f"\n{len(bad)} of {len(found)} are bad")
    for outcome in sorted({trial.outcome for trial in found}):
        print(f"  {outcome}: {OUTCOMES[outcome]}")
    return int(bool(bad))


def _show(
    found: Sequence[Trial], due: int, seconds: float, series: Mapping[str, Trials], kinds: Sequence[Kind]
) -> None:
    print(f"{len(found)} of {due} trials in {seconds:.0f} s\n")
    print("| scenario | kind | calls | outcomes |\n|---|---|---|---|")
    for name, trials in series.items():
        for kind in kinds:
            outcomes = Counter(trial.outcome for trial in found if (trial.scenario, trial.kind) == (name, kind.name))
            if outcomes:
                counted = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
                print(f"| {name} | {kind.name} | {len(trials.calls(kind))} | {counted} |")


@contextmanager
def _published(work: Path) -> Iterator[None]:
    """A model on a file server, which is a process of its own: a process with threads can't be forked."""
    from tests.file_server import file_server
    from tests.system.published_model import publish

    ready, tell = os.pipe()
    server = os.fork()
    if not server:
        with file_server() as files:
            publish(files, work / "published")
            os.write(tell, b"1")
            signal.pause()
    os.read(ready, 1)
    os.environ["KOKORO_LIVE_FAULTS_MANIFEST"] = str(work / "published" / "manifest.json")
    try:
        yield
    finally:
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)


if __name__ == "__main__":
    sys.exit(main())
