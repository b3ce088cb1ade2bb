"""The report, as Markdown with pictures and sound alongside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.measuring.hearing.gate import LEVEL, LIMITED, LOG_MEL, MIN_WORDS, OPINION, WORD_ERRORS
from benchmarks.measuring.machine import described
from benchmarks.measuring.report import Cell, Table
from benchmarks.quality.findings import PAUSES, PLAN_OPINION, PLAN_SECONDS, CutFinding, Finding
from benchmarks.quality.renderings import Rendering

_COLUMNS = (
    "",
    "word errors, %",
    "P.808",
    "overall",
    "signal",
    "log-mel, dB",
    "to the same model whole",
    "level, worst dB off",
    "noise in pauses, dB",
    "step at joins",
    "seconds",
    "passes",
)


def page(
    command: str,
    texts: Sequence[Finding],
    passages: Sequence[Finding],
    cuts: Sequence[tuple[str, Sequence[CutFinding]]],
    pictures: Sequence[Path],
    faults: Mapping[str, Sequence[str]],
) -> str:
    """
    Args:
        texts: the reference first.
        passages: plans, one segment first.
        cuts: by name of plan.
        pictures: relative to the page.
        faults: by way, what is beyond a limit.
    """
    reference = texts[0]
    lines = [
        "# Quality of the sound",
        "",
        f"`{command}` on {described()}.",
        "",
        f"The gate: word errors at most {WORD_ERRORS:g} points above the first row's, on {MIN_WORDS} words or more; "
        f"P.808 at most {OPINION:g} below it; level within {LEVEL:g} dB at every length of text; log-mel distance of "
        f"windows at most {LOG_MEL:g} dB to the same model whole, their pauses within {PAUSES:g} dB of its; a plan for "
        f"windows at most {PLAN_OPINION:g} below one segment in the overall score, and within {PLAN_SECONDS:.0%} of "
        f"its length. Words were understood by Whisper tiny.en; P.808, overall and signal are DNSMOS's.",
        "",
        Table("Texts of 1 to 60 words", _COLUMNS, [_row(each, reference, faults) for each in texts]).as_markdown(),
        "",
        _levels(texts).as_markdown(),
    ]
    if passages:
        rows = [_row(each, passages[0], faults) for each in passages]
        lines += ["", Table("Passages, by plan", _COLUMNS, rows).as_markdown(), "", _cuts(cuts).as_markdown()]
    lines += [line for each in (*texts, *passages) for line in _faults(each, faults)]
    lines += ["", *(f"![{picture.stem}]({picture})" for picture in pictures)]
    return "\n".join(lines) + "\n"


def _row(found: Finding, reference: Finding, faults: Mapping[str, Sequence[str]]) -> list[Cell]:
    return [
        found.way,
        found.word_error_rate,
        found.p808,
        found.overall,
        found.signal,
        found.log_mel,
        found.judgement.log_mel_distance,
        found.judgement.level_difference,
        found.pause_noise,
        found.step,
        round(found.seconds, 1),
        "the reference" if found is reference else "no" if faults[found.way] else "yes",
    ]


def _levels(texts: Sequence[Finding]) -> Table:
    lengths = list(texts[0].levels)
    columns = ["dB off, mean", *(f"up to {length} words" for length in lengths)]
    return Table("Level by length", columns, [[each.way, *each.levels.values()] for each in texts[1:]])


def _cuts(cuts: Sequence[tuple[str, Sequence[CutFinding]]]) -> Table:
    columns = ("plan", "cut", "times", "pause, ms", "from", "to", "pitch before it, Hz", "at the texts' ends, Hz")
    rows: list[list[Cell]] = [
        [
            plan,
            found.kind.value,
            found.count,
            round(found.pause_ms),
            round(found.shortest_ms),
            round(found.longest_ms),
            found.pitch and round(found.pitch),
            found.end_pitch and round(found.end_pitch),
        ]
        for plan, kinds in cuts
        for found in kinds
    ]
    return Table("Cuts", columns, rows)


def _faults(found: Finding, faults: Mapping[str, Sequence[str]]) -> list[str]:
    lines = [f"\n{found.way}: {fault}." for fault in faults[found.way]]
    if missing := [name for name in LIMITED if name not in found.judgement.judged]:
        lines.append(f"\n{found.way}: not judged: {', '.join(missing)}.")
    return lines


def example(renderings: Sequence[Rendering]) -> int:
    """Index of the text that the pictures show: the one with most cuts, else one of middle length."""
    most = max(range(len(renderings)), key=lambda place: len(renderings[place].cuts))
    return most if renderings[most].cuts else len(renderings) // 2
