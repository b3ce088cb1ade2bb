"""The engine alone: windows, other files and settings against the published model run whole.

    python -m benchmarks.engine --model MODEL --voices VOICES [--rounds 5] [--minutes 5] [--also FILE]...
        [--settings | --only TEXT...]

Every row is a process of its own; all are loaded first and then take turns, in another order each round, so that
whatever else the machine does falls on all of them. `speed` is seconds of audio per second; ratios are medians of each
round's ratio to the first row, the published file run whole, with as many threads as it likes best. Standard error has
a line for each turn. No round begins that would probably end after `--minutes`, but the first.
`--also` names other files of the same voices, such as the float model that `kokoro-live dequantize` makes;
`--settings` adds a row for each of onnxruntime's settings, and takes six times as long.
"""

from __future__ import annotations

import argparse
import math
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from benchmarks.measuring.engine_subject import Loaded, Subject
from benchmarks.measuring.figures import median
from benchmarks.measuring.machine import described, machine
from benchmarks.measuring.report import Cell, Report, Table, Verdict, write
from benchmarks.measuring.texts import SENTENCE
from kokoro_live import own_command
from text.g2p import G2P
from worker.machine import cores
from worker.tuning.messages import Round

PUBLISHED = "published, whole"

SPEED_TARGET, FIRST_TARGET = 2.5, 12.0
"""Against one sentence of `PUBLISHED`, which has all cores: speed with several sentences at once, and the time until
the first samples of a sentence of 27 words."""

_SOONER, _AGGREGATE = 5, 10
"""Columns that the targets are about."""

SETTINGS: dict[str, dict[str, object]] = {
    "one thread": {"threads": 1},
    "no spinning": {"spin_duration": 0},
    "spinning for 1 ms": {"spin_duration": 0.001},
    "windows up to 0.3 s": {"window": 0.3},
    "windows up to 1.2 s": {"window": 1.2},
    "windows up to 2.4 s": {"window": 2.4},
    "vocoder whole": {"vocoder": "whole"},
}
"""Each against the defaults in windows."""


@dataclass
class Rival:
    """A subject's process, and what it said."""

    subject: Subject
    process: subprocess.Popen[bytes]
    loaded: Loaded
    rounds: list[Round] = field(default_factory=list)

    @classmethod
    def started(cls, subject: Subject) -> Rival:
        """
        Raises:
            RuntimeError: it can't be loaded.
        """
        process = subprocess.Popen(
            own_command("-m", "benchmarks.measuring.engine_subject"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        rival = cls(subject, process, Loaded(0, 0))
        try:
            rival.loaded = msgspec.json.decode(rival._asked(msgspec.json.encode(subject)), type=Loaded)
        except BaseException:
            rival.end()
            raise
        return rival

    def turn(self) -> None:
        self.rounds.append(msgspec.json.decode(self._asked(b""), type=Round))

    def _asked(self, line: bytes) -> bytes:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        if not (answer := self.process.stdout.readline()):
            raise RuntimeError(f"{self.subject.name} has ended with status {self.process.wait()}")
        return answer

    def end(self) -> None:
        self.process.kill()
        with self.process:  # closes the pipes and waits
            pass


def subjects(model: Path, voices: Path, also: Sequence[Path] = ()) -> Iterator[Subject]:
    """The published model first, the defaults in windows second."""
    script = " ".join(word.phonemes for word in G2P().words(SENTENCE, "en-us"))
    ways: list[tuple[str, Path, dict[str, object], bool]] = [
        (PUBLISHED, model, {}, True),
        ("in windows", model, {}, False),
        *((f"{file.stem}, whole", file, {}, True) for file in also),
        *((f"{file.stem}, in windows", file, {}, False) for file in also),
        *((name, model, settings, False) for name, settings in SETTINGS.items()),
    ]
    for name, file, settings, published in ways:
        yield Subject(
            name=name, model=str(file), voices=str(voices), settings=settings, published=published, script=script
        )


def measured(chosen: Sequence[Subject], rounds: int, seed: int, seconds: float = math.inf) -> list[Rival]:
    """All of them, loaded one after another, then in turns.

    No round but the first begins if, as long as the longest so far, it would end later than `seconds` after the call.

    Raises:
        RuntimeError: one of them can't be loaded, or has ended.
    """
    rivals: list[Rival] = []
    order = random.Random(seed)
    started = time.monotonic()
    longest = 0.0
    try:
        for subject in chosen:
            rivals.append(Rival.started(subject))
            _tell(f"loaded in {rivals[-1].loaded.load_seconds:.1f} s: {subject.name}")
        for number in range(rounds):
            begun = time.monotonic()
            if number and begun - started + longest > seconds:
                _tell(f"no time for more than {number} of {rounds} rounds")
                break
            for rival in order.sample(rivals, len(rivals)):
                rival.turn()
                _tell(f"round {number + 1} of {rounds}: {rival.subject.name}: {_said(rival.rounds[-1])}")
            longest = max(longest, time.monotonic() - begun)
    finally:
        for rival in rivals:
            rival.end()
    return rivals


def _said(turn: Round) -> str:
    return f"first audio {turn.first:.2f} s, speed {turn.alone:.2f} alone, {turn.together:.2f} with {cores()} at once"


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def report(rivals: Sequence[Rival]) -> Report:
    base = rivals[0]
    assert base.subject.name == PUBLISHED
    rows = [_row(rival, base) for rival in rivals]
    columns = [
        "",
        "file MB",
        "load s",
        "resident MB",
        "first audio s",
        "sooner",
        "speed alone",
        "faster",
        f"speed, {cores()} at once",
        f"faster than {cores()} at once",
        "than one alone",
    ]
    return Report(
        "engine",
        f"{Path(base.subject.model).name}, {len(base.subject.script)} phonemes in {len(base.rounds)} rounds",
        [Table("The engine alone", columns, rows)],
        list(verdicts(rows)),
        raw={rival.subject.name: msgspec.to_builtins(rival.rounds) for rival in rivals},
    )


def _row(rival: Rival, base: Rival) -> list[Cell]:
    turns = list(zip(base.rounds, rival.rounds, strict=True))
    return [
        rival.subject.name,
        f"{Path(rival.subject.model).stat().st_size / 1e6:,.0f}",
        rival.loaded.load_seconds,
        f"{rival.loaded.resident / 1e6:,.0f}",
        median([turn.first for turn in rival.rounds]),
        median([one.first / turn.first for one, turn in turns]),
        median([turn.alone for turn in rival.rounds]),
        median([turn.alone / one.alone for one, turn in turns]),
        median([turn.together for turn in rival.rounds]),
        median([turn.together / one.together for one, turn in turns]),
        median([turn.together / one.alone for one, turn in turns]),
    ]


def verdicts(rows: Sequence[Sequence[Cell]]) -> Iterator[Verdict]:
    """The best of all files in windows, as onnxruntime is set by default."""
    ours = [row for row in rows if "in windows" in str(row[0])]
    targets = (
        (SPEED_TARGET, _AGGREGATE, f"speed of {cores()} at once"),
        (FIRST_TARGET, _SOONER, "first audio of 27 words"),
    )
    for target, place, what in targets:
        best = max(ours, key=lambda row: float(row[place] or 0))
        found = float(best[place] or 0)
        yield Verdict(
            f"{what}: {target:g} times that of the published file run whole, alone",
            f"{found:.2f} ({best[0]})",
            found >= target,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--also", type=Path, action="append", default=[], help="another model file")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=5.0, help="for all of it, the loading included")
    parser.add_argument("--settings", action="store_true", help="a row for each of onnxruntime's settings as well")
    parser.add_argument("--only", action="append", default=[], help="of those, rows whose name has this text")
    parser.add_argument("--seed", type=int, default=1, help="of each round's order")
    parser.add_argument("--out", type=Path, default=Path("bench-results/engine"), help="a folder")
    arguments = parser.parse_args()
    chosen = [
        subject
        for subject in subjects(arguments.model, arguments.voices, arguments.also)
        if subject.name not in SETTINGS
        or (any(text in subject.name for text in arguments.only) if arguments.only else arguments.settings)
    ]
    found = report(measured(chosen, arguments.rounds, arguments.seed, 60 * arguments.minutes))
    print(found.as_markdown())
    print(described())
    command = f"python -m benchmarks.engine --rounds {arguments.rounds} --minutes {arguments.minutes:g}"
    write([found], machine(), command, quick=False, out=arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
