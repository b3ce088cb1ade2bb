"""Cuts a sentence into segments that an engine can take: whole if it fits, else at clauses, then words, then inside."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from frontend.text.cuts import CLAUSE_COST, INSIDE_COST, WORD_COST, balanced_ends, divided
from frontend.text.segment import Cut, Notation, Segment
from frontend.text.speakable import is_phone, is_spoken
from frontend.text.word import Word

_CLAUSE_END = re.compile(r"(?:[,;:!?…)\]—–、，；：。！？।]|--)[\"'“”’»*_]*$")
_LONG_SILENCE = re.compile(r"[\W_]{7,}")
_MAX_SILENCE = 6
"""Characters. What pauses longer in a script (a row of dots or dashes) is no longer a pause, and costs tokens."""


@dataclass(slots=True)
class _Unit:
    """What is cut between: a word that sounds, with the silent ones around it, or a piece of a word over the limit."""

    texts: list[str]
    script: str
    ends_clause: bool
    lead: str
    """What joins it to the unit before it."""
    ends_word: bool = True
    paused: bool = field(default=False)
    """A silent word's pause was added to the script already."""


def segment_words(
    words: Sequence[Word], notation: Notation, dropped: Counter[str], end: Cut = Cut.SENTENCE
) -> list[Segment]:
    """One sentence's segments, in order: none over the notation's limit, each with something to pronounce.

    Phonemes that the vocabulary lacks are left out of the scripts and counted in `dropped`. A word with nothing to
    pronounce gives its text to a neighbour, and of a row of them one pause is kept. A word over the limit gives its
    whole text to its first piece. Without a word that can be pronounced there is no segment.

    Args:
        end: what the last segment ends at.
    """
    units = _units(words, notation, dropped)
    ends = balanced_ends(
        [len(unit.script) for unit in units],
        [len(unit.lead) for unit in units],
        [CLAUSE_COST if unit.ends_clause else WORD_COST if unit.ends_word else INSIDE_COST for unit in units],
        notation.max_tokens,
    )
    segments = []
    for start, stop in pairwise([0, *ends]):
        piece = units[start:stop]
        script = piece[0].script + "".join(unit.lead + unit.script for unit in piece[1:])
        cut = end if stop == len(units) else Cut.CLAUSE if piece[-1].ends_clause else Cut.WORD
        segments.append(Segment(" ".join(text for unit in piece for text in unit.texts), script, len(script), cut))
    return segments


def pronounceable(word: Word, notation: Notation) -> bool:
    """Whether an engine can give any sound to the word."""
    if notation.speaks == "text":
        return any(map(is_spoken, word.phonemes))
    return any(is_phone(phoneme) and phoneme in notation.vocabulary for phoneme in word.phonemes)


def passages(sentence: str, limit: int) -> Iterator[tuple[str, Cut]]:
    """A sentence in parts of at most `limit` characters, and what each ends at: no one writes longer, but files do.

    Only a word that is longer itself is cut inside.
    """
    if len(sentence) <= limit:
        yield sentence, Cut.SENTENCE
        return
    tokens: list[str] = []
    leads: list[int] = []
    for token in sentence.split():
        pieces = divided(token, limit) if len(token) > limit else [token]
        tokens += pieces
        leads += [1, *[0] * (len(pieces) - 1)]
    clauses = [_CLAUSE_END.search(token) is not None for token in tokens]
    costs = [CLAUSE_COST if clause else WORD_COST for clause in clauses]
    ends = balanced_ends(list(map(len, tokens)), leads, costs, limit)
    for start, stop in pairwise([0, *ends]):
        joined = "".join(" " * leads[i] + tokens[i] for i in range(start, stop))
        cut = Cut.SENTENCE if stop == len(tokens) else Cut.CLAUSE if clauses[stop - 1] else Cut.WORD
        yield joined.strip(), cut


def _units(words: Iterable[Word], notation: Notation, dropped: Counter[str]) -> list[_Unit]:
    space = " " if notation.speaks == "text" or " " in notation.vocabulary else ""
    limit = notation.max_tokens
    units: list[_Unit] = []
    leading = _Unit([], "", False, "")
    for word in words:
        script = _script(word, notation, dropped)
        clause = _CLAUSE_END.search(word.text) is not None
        if not pronounceable(word, notation):
            neighbour = units[-1] if units else leading
            neighbour.texts.append(word.text)
            neighbour.ends_clause |= clause
            pause = (space if neighbour.script else "") + script
            if script and not neighbour.paused and len(neighbour.script) + len(pause) <= limit:
                neighbour.script += pause
                neighbour.paused = True
            continue
        if not units and leading.script and len(leading.script) + len(space) + len(script) <= limit:
            script = leading.script + space + script
        texts = [word.text] if units else [*leading.texts, word.text]
        pieces = [script] if len(script) <= limit else _sounding(divided(script, limit), notation)
        for place, piece in enumerate(pieces):
            last = place == len(pieces) - 1
            ends_clause = clause if last else _CLAUSE_END.search(piece.rstrip()) is not None
            lead = space if not place or " " in pieces[place - 1][-1] + piece[0] else ""
            units.append(_Unit([] if place else texts, piece.strip(), ends_clause, lead, ends_word=last))
    return units


def _sounding(pieces: list[str], notation: Notation) -> list[str]:
    sounds = is_spoken if notation.speaks == "text" else is_phone
    return [piece for piece in pieces if any(map(sounds, piece))]


def _script(word: Word, notation: Notation, dropped: Counter[str]) -> str:
    """What the engine is given for the word."""
    script = word.phonemes
    if notation.speaks == "phonemes":
        missing = [phoneme for phoneme in script if phoneme not in notation.vocabulary]
        if missing:
            dropped.update(phoneme for phoneme in missing if not phoneme.isspace())
            script = "".join(phoneme for phoneme in script if phoneme in notation.vocabulary)
        script = _LONG_SILENCE.sub(lambda silence: silence[0][:_MAX_SILENCE], script)
    else:
        script = _LONG_SILENCE.sub(_shortened, script)
    return script.strip()


def _shortened(silence: re.Match[str]) -> str:
    """The characters that are read aloud, and of those between them the first few."""
    kept: list[str] = []
    silent = 0
    for character in silence[0]:
        silent = 0 if is_spoken(character) else silent + 1
        if silent <= _MAX_SILENCE:
            kept.append(character)
    return "".join(kept)
