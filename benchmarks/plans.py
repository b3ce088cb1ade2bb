"""`python -m benchmarks.plans [FILE...]`: the planner's search against a rule without one, over texts, without sound.

The rule ends segments at sentences, joins a sentence below the minimum to its shorter neighbour, splits one over the
limit evenly at clauses, and cuts the first sentence at the clause whose end brings the first sound soonest for its
price. For each cost profile: how many texts get the same segments, and what the profile predicts for both. Files give
further texts: their paragraphs, and runs of three.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import median
from unittest.mock import patch

from benchmarks.measuring.evaluation.sentences import _lines, calibration, evaluation_texts, foreign
from benchmarks.measuring.texts import texts as of_benchmarks
from benchmarks.quality.corpus import PASSAGES
from frontend.planning import planner
from frontend.planning.cuts import Cuts, Row, best_cuts
from frontend.planning.planner import Limits
from frontend.planning.profile import GUESS, WINDOWED_GUESS, CostProfile
from text.east_asian import LanguageUnavailable
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.words.segment import Cut, Notation, Segment, Sentence

PROFILES = {
    "windows, as assumed": WINDOWED_GUESS,
    "windows, as measured": replace(WINDOWED_GUESS, per_token=0.0013, audio_per_token=0.061, per_audio=0.27),
    "windows, twice slower": replace(WINDOWED_GUESS, per_token=0.0046, per_audio=0.6),
    "windows, four times slower": replace(WINDOWED_GUESS, per_token=0.0092, per_audio=1.2),
    "whole segments, a fast machine": replace(GUESS, per_token=0.01),
    "whole segments, as assumed": GUESS,
}
LIMITS = Limits()
NOTATION = Notation("phonemes", frozenset("".join([*calibration(), *sum(foreign().values(), ())])), 510)


def texts(files: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Pairs of a language and a text."""
    english = [text for text, _ in evaluation_texts()]
    for size in (1, 2, 4, 8):
        for start in range(0, len(english), size):
            yield "en-us", " ".join(english[start : start + size])
    lines = _lines("foreign.txt")
    for size in (1, 4):
        for at in range(0, len(lines), size):
            here = [text for language, text, _ in lines[at : at + size] if language == lines[at][0]]
            yield lines[at][0], " ".join(here)
    yield from (("en-us", text) for text in (*PASSAGES, *of_benchmarks().values()))
    for file in files:
        whole = re.split(r"\n\s*\n", file.read_text())
        found = [part for part in whole if re.search(r"\w{3}", part) and "|--" not in part]
        yield from (("en-us", part) for part in found)
        yield from (("en-us", "\n\n".join(found[at : at + 3])) for at in range(0, len(found), 3))


def rule(row: Row, slack: float | None) -> Cuts:
    """The rule's cuts, in place of `frontend.planning.cuts.best_cuts`."""
    ends = [0, *row.sentence_ends()]
    place = 1
    while place < len(ends):
        start, end = ends[place - 1], ends[place]
        joined = [
            (row.tokens(ends[left], ends[left + 2]), left + 1)
            for left in (place - 2, place - 1)
            if left >= 0 and left + 2 < len(ends) and row.holds(ends[left], ends[left + 2])
        ]
        if row.tokens(start, end) < row.minimum and joined:
            del ends[min(joined)[1]]
            place = max(place - 1, 1)
        else:
            place += 1
    del ends[0]
    if slack is None:
        ends = [*_soon(row, ends[0]), *ends]
    return row.price(ends, slack)[1]


def _soon(row: Row, end: int) -> list[int]:
    """The place where a first segment ends, if a cut in its first sentence pays."""
    places = [
        place
        for place in range(1, end)
        if row.units[place - 1].cut is Cut.CLAUSE and min(row.tokens(0, place), row.tokens(place, end)) >= row.minimum
    ]
    best = min([end, *places], key=lambda place: row.step(0, place, None)[0])
    return [best] if best < end else []


def planned(
    search: Callable[[Row, float | None], Cuts], sentences: Sequence[Sentence], profile: CostProfile
) -> list[Segment]:
    """The plan whose cuts `search` finds."""
    with patch.object(planner, "best_cuts", search):
        return list(planner.plan(sentences, profile, 1.0, NOTATION, LIMITS))


def told(profile: CostProfile, lengths: Sequence[int]) -> tuple[float, float]:
    """Seconds until the first sound, and seconds of silence after it, of segments of so many tokens."""
    free = heard = silence = 0.0
    first = profile.first_audio(lengths[0], 1.0)
    for place, tokens in enumerate(lengths):
        ready = free + profile.first_audio(tokens, 1.0)
        if place:
            silence += max(ready - heard, 0.0)
        heard = max(ready, heard) + profile.audio(tokens, 1.0)
        free += profile.seconds(tokens, 1.0)
    return first, silence


def compared(read: Sequence[Sequence[Sentence]], profile: CostProfile) -> Iterator[tuple[str, float, float]]:
    """Names of figures with their values by the search and by the rule."""
    plans = [[planned(search, sentences, profile) for sentences in read] for search in (best_cuts, rule)]
    pairs = list(zip(*plans, strict=True))
    same = sum([each.units for each in one] == [each.units for each in other] for one, other in pairs)
    yield "same segments, %", 100.0, 100 * same / len(read)
    told_of = [[told(profile, [each.tokens for each in segments]) for segments in found] for found in plans]
    (firsts, silences), (firsts_of_rule, silences_of_rule) = (zip(*each, strict=True) for each in told_of)
    yield "median first sound, s", median(firsts), median(firsts_of_rule)
    yield "worst first sound, s", max(firsts), max(firsts_of_rule)
    yield "texts with a silence", sum(each > 0.05 for each in silences), sum(each > 0.05 for each in silences_of_rule)
    yield "silence in all, s", sum(silences), sum(silences_of_rule)


def main() -> None:
    """Print the figures of each profile."""
    pipeline = TextPipeline(G2P())
    read: dict[str, list[Sentence]] = {}
    for language, text in texts([Path(name) for name in sys.argv[1:]]):
        with suppress(LanguageUnavailable):
            if sentences := list(pipeline.sentences(text, language, NOTATION)):
                read[text] = sentences
    measured = [read[text] for text in (*PASSAGES, *of_benchmarks().values())]
    print(f"{len(read)} texts, {len(measured)} of them of other benchmarks; by the search, by the rule")
    for name, profile in PROFILES.items():
        print(name)
        for figure, searched, ruled in compared(list(read.values()), profile):
            print(f"  {figure:24}{searched:10.2f}{ruled:10.2f}")
        *_, of_others = next(compared(measured, profile))
        print(f"  of other benchmarks, %  {100:10.2f}{of_others:10.2f}")


if __name__ == "__main__":
    main()
