"""Questions that rise at their end.

English questions that can be answered by yes or no rise from their last stress on, and so do statements that ask;
questions with a question word, and choices, fall (Quirk et al., A Comprehensive Grammar of the English Language, 11.5
to 11.23). Tags ("isn't it?") do either, and are left to the model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from shm.inflection import PLAIN, Inflection
from text.locales.tables import table
from text.words.word import Word

RISE = Inflection(rise=10.0)
"""Inflection of the last word of such a question. The model speaks its last syllable 2 to 4 semitones below the mean of
the sentence."""

_ENDS = re.compile(r"\?[!?]*[\"'”’)\]»*_]*$")
_CLAUSE = re.compile(r"[,;:—–…)\"”]+$|\.{3}$")
_WORDS = {kind: frozenset(words) for kind, words in table("en", "questions").items()}


def rises(words: Sequence[str]) -> bool:
    """True if the words, in order and with their punctuation, are an English question that rises.

    >>> rises("Are you coming ?".split()), rises("Where are you going?".split()), rises("Tea or coffee?".split())
    (True, False, False)
    """
    written = [word for word in words if re.search(r"\w|\?", word)]
    if not written or not _ENDS.search(written[-1]):
        return False
    clauses = _clauses(written)
    if any(_WORDS["choice"].intersection(clause) for clause in clauses):
        return False
    kinds = [_kind(clause) for clause in clauses]
    if len(clauses) > 1 and kinds[-1] == "auxiliary" and _is_tag(clauses[-1]):
        return False
    last = max((place for place, kind in enumerate(kinds) if kind), default=None)
    if last is None:
        return clauses[-1][-1] not in _WORDS["question_words"]
    if kinds[last] == "question word":
        # "Did you know that, when it freezes, it grows?" asks with its first clause.
        return last + 1 < len(kinds) and "auxiliary" in kinds[:last]
    return True


def risen(words: list[Word]) -> list[Word]:
    """The words of an English sentence; the last one that sounds rises if they are a question that does."""
    if not words or not any("?" in word.text for word in words[-2:]) or not rises([word.text for word in words]):
        return words
    last = max((at for at, word in enumerate(words) if any(map(str.isalpha, word.phonemes))), default=-1)
    if last < 0:
        return words
    word = words[last]
    rising = replace(word, inflection=RISE.within(word.inflection or PLAIN))
    return [*words[:last], rising, *words[last + 1 :]]


def _clauses(words: Sequence[str]) -> list[list[str]]:
    """The clauses as words in lower case, without punctuation and without what opens a clause; none is empty."""
    found: list[list[str]] = [[]]
    for word in words:
        bare = re.sub(r"^\W+|\W+$", "", word.replace("’", "'")).lower()
        if bare and (found[-1] or bare not in _WORDS["openers"]):
            found[-1].append(bare)
        if _CLAUSE.search(word):
            found.append([])
    return [clause for clause in found if clause] or [["yes"]]


def _kind(clause: Sequence[str]) -> str:
    """`question word`, `auxiliary`, or nothing, by how a clause begins."""
    first = clause[1] if clause[0] in _WORDS["prepositions"] and len(clause) > 1 else clause[0]
    if first.partition("'")[0] in _WORDS["question_words"]:
        return "question word"
    return "auxiliary" if clause[0] in _WORDS["auxiliaries"] or clause[0].endswith("n't") else ""


def _is_tag(clause: Sequence[str]) -> bool:
    return len(clause) == 2 and clause[1] in _WORDS["pronouns"]
