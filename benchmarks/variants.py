"""The variants of a model side by side: size, load time, memory, real-time factor, quality.

    python -m benchmarks.variants --model MODEL --voices VOICES [--variant static-int8]... [--threads 1 --threads 2]
        [--runs 5] [--also FILE]... [--work DIR] [--out FRAGMENT.md] [--json FILE]

Variants that aren't there are made first (`worker/quantization/`); `--also` names other files to measure, for instance
a published int8 model. Each figure of speed comes from a process of its own, which loads one variant and speaks 100
tokens. In a run each variant has its turn, so that what else the machine does falls on all; ratios are of the same run.

All that is made is kept in `--work`, each variant when it is whole and judged, each turn of all variants when it is
measured: after an interruption the same command goes on from there. What was finished is measured anew.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from benchmarks.machine import machine
from benchmarks.variant_journal import Journal, Turn
from benchmarks.variant_table import Subject, Way, page, raw
from worker.checksum_cache import cached_sha256_of
from worker.engine import EngineError, EngineUnavailable
from worker.quantization.error import QuantizationError
from worker.quantization.kinds import Kind
from worker.quantization.make import make_variant, variant_path
from worker.quantization.metadata import properties_of
from worker.quantization.quality import Quality, compare
from worker.quantization.speakers import judged
from worker.quantization.variants import ORIGINAL, SOURCE, find_variants
from worker.settings import WorkerSettings
from worker.signed_products import reduce_range
from worker.split.prepared import Unprepared
from worker.voices import VoiceBank

VOCODERS = ("windowed", "whole")


def main() -> int:
    arguments = _arguments()
    try:
        names = judged(VoiceBank.open(arguments.voices).names)
        arguments.work.mkdir(parents=True, exist_ok=True)
        settings = WorkerSettings(cache_dir=arguments.work / "cache")
        subjects = [Subject(ORIGINAL, arguments.model), *_made(arguments, settings), *_also(arguments, settings)]
        ways = [(threads, vocoder) for threads in arguments.threads for vocoder in VOCODERS]
        _measure(subjects, ways, arguments)
    except (EngineUnavailable, OSError, ValueError) as error:
        _say(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        _say(f"stopped: what was done is kept in {arguments.work}, and the same command goes on from there")
        return 130
    text = page(subjects, ways, len(names), _command(sys.argv[1:]))
    print(text)
    if arguments.out:
        arguments.out.write_text(text)
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine(), "variants": [raw(each) for each in subjects]}))
    return 1 if any(subject.error for subject in subjects) else 0


def _measure(subjects: Sequence[Subject], ways: Sequence[Way], arguments: argparse.Namespace) -> None:
    """All runs but those that an interrupted command has made with the same files."""
    files = {each.name: cached_sha256_of(each.path) for each in subjects if each.path and not each.error}
    here = {name: value for name, value in machine().items() if name != "load before"}
    key = {"machine": here, "files": files, "voices": cached_sha256_of(arguments.voices), "repeats": arguments.repeats}
    journal = Journal(arguments.work / "measured.json", key)
    if journal.rounds:
        _say(f"going on with what was begun {journal.begun}: {journal.rounds} rounds are measured")
    for number, subject in enumerate(subjects, 1):
        _say(f"preparing {subject.name} ({number} of {len(subjects)})")
        _turn(subject, ways[0], arguments, repeats=0)
    for run in range(arguments.runs):
        for way in ways:
            turns = journal.get(run, way)
            if turns is None:
                turns = {}
                for number, subject in enumerate(subjects, 1):
                    _say(
                        f"run {run + 1} of {arguments.runs}: {way[0]} threads, {way[1]}: {subject.name} "
                        f"({number} of {len(subjects)})"
                    )
                    turns[subject.name] = _turn(subject, way, arguments, arguments.repeats) or subject.error
                journal.add(run, way, turns)
            for subject in subjects:
                turn = turns[subject.name]
                if isinstance(turn, str):
                    subject.error = turn
                else:
                    subject.runs.setdefault(way, []).append(turn)
    journal.forget()


def _command(words: Sequence[str]) -> str:
    """As it was given, but for the folders, which are nobody else's."""
    names = [Path(word).name if "/" in word else word for word in words]
    return shlex.join(["python", "-m", "benchmarks.variants", *names])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="in full precision")
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--variant", action="append", choices=[*Kind], help="may be given several times; else all")
    parser.add_argument("--also", type=Path, action="append", default=[], help="another file of the same model")
    parser.add_argument("--threads", type=int, action="append", help="may be given several times; else 1 and 2")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=1, help="of the 100 tokens in each process; the median counts")
    parser.add_argument("--work", type=Path, help="a folder for what is made, which is kept")
    parser.add_argument("--out", type=Path, help="a Markdown file of the tables")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.variant = [Kind(name) for name in arguments.variant or Kind]
    arguments.threads = arguments.threads or [1, 2]
    arguments.work = arguments.work or platformdirs.user_cache_path("kokoro-live", appauthor=False) / "variants"
    return arguments


def _made(arguments: argparse.Namespace, settings: WorkerSettings) -> list[Subject]:
    """The variants, made where they aren't there, or were made of another file."""
    there = {each.path for each in find_variants(arguments.model)}
    subjects = []
    for number, kind in enumerate(arguments.variant, 1):
        beside = variant_path(arguments.model, kind)
        out = beside if beside in there else arguments.work / beside.name
        subject = Subject(str(kind), out)
        subjects.append(subject)
        try:
            which = f"{kind} ({number} of {len(arguments.variant)})"
            if _is_made_of(out, arguments.model):
                _say(f"{which} is there: {out}")
            else:
                _say(f"making {which}")
                make_variant(
                    kind,
                    arguments.model,
                    arguments.voices,
                    out,
                    settings,
                    reduced=reduce_range(),
                    progress=_Told(str(kind)),
                )
            subject.quality = Quality.from_properties(properties_of(out))
        except QuantizationError as error:
            subject.path, subject.error = None, str(error)
    return subjects


class _Told:
    """A line for each step, and each quarter of one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._last = ""

    def __call__(self, what: str, share: float) -> None:
        line = f"{self._name}: {what}, {int(4 * share) * 25} %"
        if line != self._last:
            self._last = line
            _say(line)


def _is_made_of(out: Path, model: Path) -> bool:
    """And its quality is known."""
    try:
        said = properties_of(out)
    except (FileNotFoundError, ValueError):
        return False
    return said.get(SOURCE) == cached_sha256_of(model) and Quality.from_properties(said) is not None


def _also(arguments: argparse.Namespace, settings: WorkerSettings) -> list[Subject]:
    subjects = []
    for path in arguments.also:
        _say(f"judging {path.name}")
        subject = Subject(path.name, path)
        subjects.append(subject)
        try:
            subject.quality = compare(arguments.model, path, arguments.voices, settings)
        except (EngineError, EngineUnavailable, Unprepared) as error:
            subject.error = str(error)
    return subjects


def _turn(subject: Subject, way: Way, arguments: argparse.Namespace, repeats: int) -> Turn | None:
    """Let a process of its own speak; what goes wrong there is the subject's error. None then, or without repeats."""
    if subject.error:
        return None
    threads, vocoder = way
    command = [sys.executable, "-m", "benchmarks.variant_speed", "--model", str(subject.path)]
    command += ["--voices", str(arguments.voices), "--threads", str(threads), "--vocoder", vocoder]
    command += ["--cache-dir", str(arguments.work / "cache"), "--repeats", str(repeats)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        subject.error = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return None
    figures: Turn | None = json.loads(done.stdout.splitlines()[-1]) if repeats else None
    return figures


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
