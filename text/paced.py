"""Units of a sentence in which markup asks for another speaking rate or for pauses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from text.markup.runs import Pacing
from text.segmentation import pronounceable, units_of
from text.words.segment import Cut, Notation, Sentence, Unit
from text.words.word import Word

_PAUSING = tuple(",;:!?…)]—–、，；：。！？।")


@dataclass(slots=True)
class _Stretch:
    """Words of one speaking rate, at least one of which sounds."""

    start: int
    end: int
    rate: float
    pause: float | None


@dataclass(slots=True)
class SourcedWords:
    """Words of a sentence with the places in the text that they come from; all three lists have one item per word."""

    words: list[Word] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    """The user's spelling of each word; "" if the word before has it already."""
    origins: list[tuple[int, int]] = field(default_factory=list)
    """The span of the text that each word stands for."""

    def extend(self, words: Sequence[Word], written: Sequence[str], origins: Sequence[tuple[int, int]]) -> None:
        self.words += words
        self.written += written
        self.origins += origins


def paced_units(
    sourced: SourcedWords, pacing: Pacing, notation: Notation, dropped: Counter[str], *, end: Cut, language: str
) -> Sentence:
    """`units_of` with rates and pauses: no unit mixes words of two rates, or words from both sides of a pause.

    Silent words, and a pause after them, join the unit of the words before them. Silent words before the first word
    that sounds join that word's unit, and a pause among them is dropped.
    """
    words = sourced.words
    stretches: list[_Stretch] = []
    begin = 0
    for run in pacing.runs(sourced.origins):
        if any(pronounceable(word, notation) for word in words[run.start : run.end]):
            stretches.append(_Stretch(begin, run.end, run.rate, run.pause))
        elif stretches:
            stretches[-1].end = run.end
            stretches[-1].pause = _sum(stretches[-1].pause, run.pause)
        else:
            continue
        begin = run.end
    units: list[Unit] = []
    for stretch in stretches:
        last = stretch.end == len(words)
        clause = stretch.pause is not None or words[stretch.end - 1].text.endswith(_PAUSING)
        part = units_of(
            words[stretch.start : stretch.end],
            notation,
            dropped,
            written=sourced.written[stretch.start : stretch.end],
            end=end if last else Cut.CLAUSE if clause else Cut.WORD,
            language=language,
        )
        units += part if stretch.rate == 1.0 else (replace(unit, rate=stretch.rate) for unit in part)
        if stretch.pause is not None:
            units[-1] = replace(units[-1], pause=stretch.pause)
    return tuple(units)


def _sum(one: float | None, other: float | None) -> float | None:
    return other if one is None else one + (other or 0.0)
