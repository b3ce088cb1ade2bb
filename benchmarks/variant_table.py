"""The tables of `benchmarks.variants`: what each variant costs, and what it sounds like."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.machine import machine
from benchmarks.report import Cell, Table
from benchmarks.variant_journal import Turn
from worker.quantization.quality import SOUND_SENTENCES, SOUND_VOICES, Quality
from worker.quantization.sentences import calibration, evaluation

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
    runs: dict[Way, list[Turn]] = field(default_factory=dict)

    def median(self, way: Way, figure: str) -> float | None:
        found = self.runs.get(way)
        return statistics.median(run[figure] for run in found) if found else None

    def ratio(self, way: Way, to: Subject) -> float | None:
        """How many times as fast as another, run by run."""
        pairs = zip(to.runs.get(way, []), self.runs.get(way, []), strict=False)
        ratios = [theirs["rtf"] / ours["rtf"] for theirs, ours in pairs]
        return statistics.median(ratios) if ratios else None


def page(subjects: Sequence[Subject], ways: Sequence[Way], voices: int, command: str) -> str:
    """As Markdown, which goes into docs/variants.md as it is. `voices`: how many judged."""
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
    sound = f"{min(SOUND_SENTENCES, len(evaluation()))} of them by {min(SOUND_VOICES, voices)}"
    judged = f"{len(evaluation())} sentences by {voices} voices; sound: {sound}"
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
    "level off, dB",
    "word errors, points",
    "opinion score",
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
        quality.level_difference,
        quality.word_error_points,
        None if quality.opinion_loss is None else -quality.opinion_loss,
        quality.log_spectral_distance,
        quality.snr,
        100 * quality.duration_agreement,
        1000 * quality.length_difference,
        quality.pitch_difference,
        "yes" if quality.passes else "no",
    ]


def raw(subject: Subject) -> dict[str, Any]:
    return {
        "name": subject.name,
        "error": subject.error,
        "quality": subject.quality and dataclasses.asdict(subject.quality),
        "runs": [{"threads": way[0], "vocoder": way[1], "runs": runs} for way, runs in subject.runs.items()],
    }
