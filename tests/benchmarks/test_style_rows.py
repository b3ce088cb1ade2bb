"""Clauses of a sentence, and how far one that is spoken alone is from the same one in its sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.style_rows import Clause, clauses, difference
from text.words.segment import Cut, Unit
from worker.split.segments.segment import Prosody


def prosody(durations: list[int], hertz: list[float]) -> Prosody:
    """`durations` with the pads; `hertz` of each, without them."""
    f0 = np.repeat([0.0, *hertz, 0.0], 2 * np.array(durations))[None]
    nothing = np.zeros(0)
    return Prosody(nothing, f0, nothing, np.array(durations, np.int64), nothing)


def unit(script: str, cut: Cut) -> Unit:
    return Unit(script, script, " ", cut)


def test_each_place_between_clauses_gives_what_is_before_and_after_it() -> None:
    sentence = (unit("a" * 12 + ",", Cut.CLAUSE), unit("b" * 6, Cut.WORD), unit("c" * 8 + ".", Cut.SENTENCE))
    assert list(clauses(sentence)) == [Clause(0, 13), Clause(14, 30)]
    assert list(clauses((replace(sentence[0], cut=Cut.WORD), *sentence[1:]))) == []
    assert list(clauses((unit("a" * 11, Cut.CLAUSE), *sentence[1:]))) == [], "too short to be cut off"


def test_lengths_and_pitch_are_of_the_same_phonemes() -> None:
    whole = prosody([5, 2, 2, 1, 2, 2, 1], [200, 200, 0, 100, 100])
    alone = prosody([5, 4, 4, 1], [220, 220])
    told = difference("ab cd", whole, alone, Clause(0, 2))
    assert told is not None
    assert told.length == 2.0
    assert told.pitch == told.end_pitch == pytest.approx(165.0, abs=0.1)
    silent = prosody([5, 2, 2, 1], [0, 0])
    assert difference("ab cd", whole, silent, Clause(0, 2)) is None
    assert difference("ab cd", whole, prosody([1, 2, 2, 1], [100, 100]), Clause(3, 5)).length == 1.0
