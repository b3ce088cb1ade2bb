"""Listening pairs: the same text each way, for ears that don't measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.measuring.hearing.gate import length_class
from benchmarks.measuring.mel_distance import log_mel_distance
from benchmarks.measuring.report import Cell, Table
from benchmarks.quality.renderings import Rendering
from benchmarks.quality.ways import Way


def listening_pairs(spoken: Mapping[Way, Sequence[Rendering]], folder: Path) -> str:
    """A table of links to WAV files, relative to `folder`: one text of each length, in each way.

    The text is the one whose last way is the farthest from the first, by log-mel distance: where a difference can be
    heard, it is heard there.
    """
    ways = list(spoken)
    rows: list[list[Cell]] = []
    for place in _farthest(spoken[ways[0]], spoken[ways[-1]]):
        item = spoken[ways[0]][place].item
        links = [f"[listen]({spoken[way][place].sound.relative_to(folder).as_posix()})" for way in ways]
        rows.append([item.text, item.voice, *links])
    columns = ("text", "voice", *(way.name for way in ways))
    return Table("Listening pairs: the text of each length that differs most", columns, rows).as_markdown()


def _farthest(reference: Sequence[Rendering], other: Sequence[Rendering]) -> list[int]:
    """Index of one text in each class of lengths, the shortest class first."""
    found: dict[int, tuple[float, int]] = {}
    for place, (ours, theirs) in enumerate(zip(reference, other, strict=True)):
        length = length_class(ours.heard.words)
        distance = log_mel_distance(ours.samples, theirs.samples)
        found[length] = max(found.get(length, (-1.0, place)), (distance, place))
    return [found[length][1] for length in sorted(found)]
