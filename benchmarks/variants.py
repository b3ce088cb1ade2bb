"""The variants of a model side by side: size, load time, memory, real-time factor, quality.

    python -m benchmarks.variants --model MODEL --voices VOICES [--variant static-int8]... [--threads 1 --threads 2]
        [--runs 5] [--also FILE]... [--work DIR] [--out FRAGMENT.md] [--json FILE]

Variants that aren't there are made first (`worker/quantization/`); `--also` names other files to measure, for instance
a published int8 model. Each figure of speed comes from a process of its own, which loads one variant and speaks 100
tokens. In a run each variant has its turn, so that what else the machine does falls on all; ratios are of the same run.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shlex
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from benchmarks.machine import machine
from benchmarks.report import Cell, Table
from worker.checksum_cache import cached_sha256_of
from worker.engine import EngineError, EngineUnavailable
from worker.quantization.error import QuantizationError
from worker.quantization.kinds import Kind
from worker.quantization.make import make_variant
from worker.quantization.metadata import properties_of
from worker.quantization.processor import reduce_range
from worker.quantization.quality import SOUND_SENTENCES, SOUND_VOICES, VOICES, Quality, compare
from worker.quantization.sentences import calibration, evaluation
from worker.quantization.variants import ORIGINAL, SOURCE, find_variants
from worker.settings import WorkerSettings
from worker.split.prepared import Unprepared

VOCODERS = ("windowed", "whole")
Way = tuple[int, str]
"""Threads and vocoder."""


@dataclass
class Subject:
    """A model file, and what was measured of it."""

    name: str
    path: Path | None
    quality: Quality | None = None
    error: str = ""
    """Why there is no file, or why it doesn't speak."""
    runs: dict[Way, list[dict[str, float]]] = field(default_factory=dict)

    def median(self, way: Way, figure: str) -> float | None:
        found = self.runs.get(way)
        return statistics.median(run[figure] for run in found) if found else None

    def ratio(self, way: Way, to: Subject) -> float | None:
        """How many times as fast as another, run by run."""
        pairs = zip(to.runs.get(way, []), self.runs.get(way, []), strict=False)
        ratios = [theirs["rtf"] / ours["rtf"] for theirs, ours in pairs]
        return statistics.median(ratios) if ratios else None


def main() -> int:
    arguments = _arguments()
    arguments.work.mkdir(parents=True, exist_ok=True)
    settings = WorkerSettings(cache_dir=arguments.work / "cache")
    subjects = [Subject(ORIGINAL, arguments.model), *_made(arguments, settings), *_also(arguments, settings)]
    ways = [(threads, vocoder) for threads in arguments.threads for vocoder in VOCODERS]
    for subject in subjects:
        for way in ways:
            _run(subject, way, arguments, repeats=0)
    for run in range(arguments.runs):
        for way in ways:
            _say(f"run {run + 1} of {arguments.runs}: {way[0]} threads, {way[1]}")
            for subject in subjects:
                _run(subject, way, arguments, repeats=arguments.repeats)
    page = _page(subjects, ways, _command(sys.argv[1:]))
    print(page)
    if arguments.out:
        arguments.out.write_text(page)
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine(), "variants": [_raw(each) for each in subjects]}))
    return 1 if any(subject.error for subject in subjects) else 0


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
    there = {each.path.name for each in find_variants(arguments.model)}
    subjects = []
    for kind in arguments.variant:
        name = f"{arguments.model.stem}.{kind}.onnx"
        out = arguments.model.with_name(name) if name in there else arguments.work / name
        subject = Subject(str(kind), out)
        subjects.append(subject)
        try:
            if not _is_made_of(out, arguments.model):
                _say(f"making {kind}")
                make_variant(kind, arguments.model, arguments.voices, out, settings, reduced=reduce_range())
            subject.quality = Quality.from_properties(properties_of(out))
        except QuantizationError as error:
            subject.path, subject.error = None, str(error)
    return subjects


def _is_made_of(out: Path, model: Path) -> bool:
    """And its quality is known."""
    if not out.exists():
        return False
    said = properties_of(out)
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


def _run(subject: Subject, way: Way, arguments: argparse.Namespace, repeats: int) -> None:
    """Let a process of its own speak; what goes wrong there is the subject's error."""
    if subject.error:
        return
    threads, vocoder = way
    command = [sys.executable, "-m", "benchmarks.variant_speed", "--model", str(subject.path)]
    command += ["--voices", str(arguments.voices), "--threads", str(threads), "--vocoder", vocoder]
    command += ["--cache-dir", str(arguments.work / "cache"), "--repeats", str(repeats)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        subject.error = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    elif repeats:
        subject.runs.setdefault(way, []).append(json.loads(done.stdout.splitlines()[-1]))


def _page(subjects: Sequence[Subject], ways: Sequence[Way], command: str) -> str:
    original = subjects[0]
    speed_columns = ["variant", "MB"]
    for threads, vocoder in ways:
        speed_columns += [f"RTF, {threads} thread{'s' * (threads > 1)}, {vocoder}", "times as fast"]
    speed_columns += ["load, s", "resident, MB"]
    speed: list[list[Cell]] = []
    for subject in subjects:
        row: list[Cell] = [subject.name, round(subject.path.stat().st_size / 1e6) if subject.path else None]
        for way in ways:
            row += [subject.median(way, "rtf"), subject.ratio(way, original)]
        rss = subject.median(ways[0], "rss")
        row += [subject.median(ways[0], "load"), rss and round(rss / 1e6)]
        speed.append(row)
    judged = f"{len(evaluation())} sentences by {VOICES} voices; sound: {SOUND_SENTENCES} of them by {SOUND_VOICES}"
    lines = [
        f"`{command}` on {', '.join(f'{name} {value}' for name, value in machine().items())}.",
        "",
        Table("Speed and memory", speed_columns, speed).as_markdown(),
        "",
        Table("Quality", _QUALITY_COLUMNS, [_quality_row(each) for each in subjects[1:]]).as_markdown(),
        "",
        f"Load and memory: {ways[0][0]} thread, {ways[0][1]}, after 100 tokens. Durations: {judged}. Calibrated on "
        f"{len(calibration())} others.",
    ]
    lines += [f"\n{each.name}: {each.error}" for each in subjects if each.error]
    return "\n".join(lines) + "\n"


_QUALITY_COLUMNS = (
    "variant",
    "log-mel distance, dB",
    "the model's own with other noise",
    "log-spectral distance, dB",
    "SNR, dB",
    "durations alike, %",
    "length off, ms",
    "pitch off, cents",
    "passes",
)


def _quality_row(subject: Subject) -> list[Cell]:
    quality = subject.quality
    if quality is None:
        return [subject.name, *[None] * (len(_QUALITY_COLUMNS) - 1)]
    return [
        subject.name,
        quality.log_mel_distance,
        quality.spread,
        quality.log_spectral_distance,
        quality.snr,
        100 * quality.duration_agreement,
        1000 * quality.length_difference,
        quality.pitch_difference,
        "yes" if quality.passes else "no",
    ]


def _raw(subject: Subject) -> dict[str, Any]:
    return {
        "name": subject.name,
        "error": subject.error,
        "quality": subject.quality and dataclasses.asdict(subject.quality),
        "runs": [{"threads": way[0], "vocoder": way[1], "runs": runs} for way, runs in subject.runs.items()],
    }


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
