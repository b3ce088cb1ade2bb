"""Conversion of a sentence's words into units, between which segment plans cut, and splitting of overlong sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from text.units.cuts import CLAUSE_COST, WORD_COST, balanced_ends, begins_phrase, clings, divided
from text.words.punctuation import is_phone, is_spoken
from text.words.segment import Cut, Notation, PhonemeSource, Sentence, SpokenWord, Unit, Word

TOGETHER = 30
"""Most script characters of a unit that joins words: those said for one written word ("$1,250.75"), or an article or
preposition with the word after it.
"""

_CLAUSE_END = re.compile(r"(?:[,;:!?…)\]—–、，；：。！？।]|--)[\"'“”’»*_]*$")
_LONG_SILENCE = re.compile(r"[\W_]{7,}")
_MAX_SILENCE = 6
"""Most characters of a pause in a script: a longer row of dots or dashes is no longer a pause, and costs tokens."""

_EAST_ASIAN_CLAUSE = re.compile(r".+?(?:[、，；：]+|$)")
_SCRIPT_CLAUSE = re.compile(r".+?(?:[,;:]+|$)")


@dataclass(slots=True)
class _Draft:
    """Unit under construction."""

    texts: list[str]
    script: str
    ends_clause: bool
    lead: str
    words: list[SpokenWord]
    ends_word: bool = True
    """False if the unit ends inside a word that was split."""
    paused: bool = field(default=False)
    """True if a silent word's pause is in the script already."""

    def has_room(self, length: int, limit: int) -> bool:
        """True if the unit can take `length` more characters of script, and no clause has ended in it."""
        return not self.ends_clause and len(self.script) + length <= limit

    def add(self, word: Word, script: str, space: str, written: str) -> None:
        self.texts.append(word.text)
        start = len(self.script)
        if script:
            self.script += (space if self.script else "") + script
            start = len(self.script) - len(script)
        add_word(
            self.words,
            SpokenWord(written, word.text, start, len(self.script), word.bookmarks, inflection=word.inflection),
        )

    def drop_pause(self) -> None:
        """Leave the script of silent words out; their texts stay."""
        self.script = ""
        self.words = [replace(each, start=0, end=0) for each in self.words]


def units_of(
    words: Sequence[Word],
    notation: Notation,
    dropped: Counter[str],
    *,
    written: Sequence[str] | None = None,
    end: Cut = Cut.SENTENCE,
    language: str = "",
) -> Sentence:
    """Units of one sentence, in order: none over the notation's limit, each with something to pronounce.

    Phonemes outside the vocabulary are left out of the scripts and counted in `dropped`. A silent word gives its text
    to a neighbouring unit, and a row of silent words keeps one pause. A word over the limit gives its whole text to its
    first piece. A sentence without a pronounceable word has no units.

    Args:
        written: the user's spelling of each word; "" if the word before has it already.
        end: the kind of boundary after the last unit.
        language: language code as espeak-ng names it, which selects the lists of phrase words.
    """
    drafts = _drafts(words, written or [word.text for word in words], notation, dropped, language)
    cuts = [_cut(unit, following, language) for unit, following in pairwise(drafts)]
    return tuple(
        Unit(" ".join(draft.texts), draft.script, draft.lead, cut, tuple(draft.words))
        for draft, cut in zip(drafts, [*cuts, end], strict=False)
    )


def add_word(words: list[SpokenWord], word: SpokenWord) -> None:
    """Append a word, or merge it into the last one if it continues that (its `written` is "")."""
    if words and not word.written:
        before = words[-1]
        words[-1] = replace(
            before,
            said=f"{before.said} {word.said}".strip(),
            end=word.end,
            bookmarks_after=before.bookmarks_after + word.bookmarks_after,
        )
    else:
        words.append(word)


def pronounceable(word: Word, notation: Notation) -> bool:
    """True if an engine can give any sound to the word."""
    if notation.speaks == "text":
        return any(map(is_spoken, word.phonemes))
    return any(is_phone(phoneme) and phoneme in notation.vocabulary for phoneme in word.phonemes)


@dataclass(frozen=True, slots=True)
class UnitRun:
    """Part of a sentence."""

    text: str
    cut: Cut
    """Kind of boundary at the passage's end."""
    places: Sequence[int]
    """Index in the sentence of each of the passage's words; a word that was split has the same index in several
    passages.
    """

    @classmethod
    def joined(cls, parts: Sequence[UnitRun]) -> UnitRun:
        """Join consecutive passages, at least one, into one."""
        text = [parts[0].text]
        places = list(parts[0].places)
        for part in parts[1:]:
            inside = part.places[0] == places[-1]
            text += ["" if inside else " ", part.text]
            places += part.places[inside:]
        return cls("".join(text), parts[-1].cut, places)


def passages(sentence: str, limit: int) -> Iterator[UnitRun]:
    """Parts of a sentence of at most `limit` characters each; only files that aren't prose have longer sentences.

    Only a word longer than the limit is cut inside.
    """
    if len(sentence) <= limit:
        yield UnitRun(sentence, Cut.SENTENCE, range(sentence.count(" ") + 1))
        return
    tokens: list[str] = []
    leads: list[int] = []
    places: list[int] = []
    for place, token in enumerate(sentence.split()):
        pieces = divided(token, limit) if len(token) > limit else [token]
        tokens += pieces
        leads += [1, *[0] * (len(pieces) - 1)]
        places += [place] * len(pieces)
    clauses = [_CLAUSE_END.search(token) is not None for token in tokens]
    costs = [CLAUSE_COST if clause else WORD_COST for clause in clauses]
    ends = balanced_ends(list(map(len, tokens)), leads, costs, limit)
    for start, stop in pairwise([0, *ends]):
        joined = "".join(" " * leads[i] + tokens[i] for i in range(start, stop))
        cut = Cut.SENTENCE if stop == len(tokens) else Cut.CLAUSE if clauses[stop - 1] else Cut.WORD
        yield UnitRun(joined.strip(), cut, [places[i] for i in range(start, stop) if leads[i] or i == start])


def _drafts(
    words: Iterable[Word], written: Iterable[str], notation: Notation, dropped: Counter[str], language: str
) -> list[_Draft]:
    space = " " if notation.speaks == "text" or " " in notation.vocabulary else ""
    limit = notation.max_tokens
    units: list[_Draft] = []
    leading = _Draft([], "", False, "", [])
    for whole, wrote in zip(words, written, strict=True):
        for place, word in enumerate(_clauses(whole, notation)):
            source = word.text if wrote == whole.text else "" if place else wrote
            script = _script(word, notation, dropped)
            clause = _CLAUSE_END.search(word.text) is not None
            if not pronounceable(word, notation):
                neighbour = units[-1] if units else leading
                pauses = script and not neighbour.paused
                if pauses and len(neighbour.script) + len(space) + len(script) > limit:
                    pauses = False
                neighbour.add(word, script if pauses else "", space, source)
                neighbour.paused |= bool(pauses)
                neighbour.ends_clause |= clause
                continue
            lead = "" if whole.joins or (place and word.phonemes[0] != " ") else space
            if len(script) > limit:
                whole_word = _Draft([], "", clause, lead, []) if units else leading
                whole_word.drop_pause()
                whole_word.lead, whole_word.ends_clause = lead, clause
                whole_word.add(word, script, space, source)
                units += _pieces(whole_word, notation)
            elif not units:
                leading.lead = lead
                if leading.script and len(leading.script) + len(space) + len(script) > limit:
                    leading.drop_pause()
                leading.add(word, script, space, source)
                leading.ends_clause = clause
                leading.paused = False
                units.append(leading)
            elif (not source or whole.joins or clings("".join(units[-1].texts[-1:]), language)) and units[-1].has_room(
                len(space) + len(script), min(TOGETHER, limit)
            ):
                units[-1].add(word, script, lead, source)
                units[-1].ends_clause = clause
                units[-1].paused = False
            else:
                units.append(_Draft([], "", clause, lead, []))
                units[-1].add(word, script, space, source)
    return units


def _pieces(overlong: _Draft, notation: Notation) -> list[_Draft]:
    """Units of a unit over the limit, which has one word that sounds. The first has its texts and the silent words."""
    pieces = _sounding(divided(overlong.script, notation.max_tokens), notation)
    units: list[_Draft] = []
    for place, piece in enumerate(pieces):
        last = place == len(pieces) - 1
        ends_clause = overlong.ends_clause if last else _CLAUSE_END.search(piece.rstrip()) is not None
        script = piece.strip()
        if place:
            lead = " " if " " in pieces[place - 1][-1] + piece[0] else ""
            unit = _Draft([], script, ends_clause, lead, [SpokenWord("", "", 0, len(script))], ends_word=last)
        else:
            words = [*overlong.words[:-1], replace(overlong.words[-1], end=len(script))]
            unit = _Draft(overlong.texts, script, ends_clause, overlong.lead, words, ends_word=last)
        units.append(unit)
    return units


def _cut(unit: _Draft, following: _Draft, language: str) -> Cut:
    if unit.ends_clause:
        return Cut.CLAUSE
    if not unit.ends_word:
        return Cut.INSIDE
    return Cut.PHRASE if following.texts and begins_phrase(following.texts[0], language) else Cut.WORD


def _clauses(word: Word, notation: Notation) -> list[Word]:
    """Clauses of a word in a language without spaces, if its text and its phonemes have the same number of clauses;
    else the word.
    """
    texts = _EAST_ASIAN_CLAUSE.findall(word.text)
    scripts = _SCRIPT_CLAUSE.findall(word.phonemes) if len(texts) > 1 and notation.speaks == "phonemes" else []
    if len(texts) != len(scripts):
        return [word]
    parts = [Word(texts[0], scripts[0], word.source, bookmarks=word.bookmarks)]
    parts += [Word(text, script, word.source) for text, script in zip(texts[1:], scripts[1:], strict=True)]
    return parts if all(pronounceable(part, notation) for part in parts) else [word]


def _sounding(pieces: list[str], notation: Notation) -> list[str]:
    sounds = is_spoken if notation.speaks == "text" else is_phone
    return [piece for piece in pieces if any(map(sounds, piece))]


def _script(word: Word, notation: Notation, dropped: Counter[str]) -> str:
    """Engine input for a word, without phonemes outside the vocabulary and with long silences shortened."""
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
    """Shortened match: all characters that are read aloud, and the first few silent ones after each."""
    kept: list[str] = []
    silent = 0
    for character in silence[0]:
        silent = 0 if is_spoken(character) else silent + 1
        if silent <= _MAX_SILENCE:
            kept.append(character)
    return "".join(kept)


_PARAGRAPH = re.compile(r"\n\s*\n")
_END = r"[.!?…]++[”)\"]*+(?=\s)"
_SENTENCE = re.compile(rf"\S(?:{_END}|.*?(?:(?<![.!?…]){_END}|$))", re.DOTALL)


def unknown_phonemes(script: str, notation: Notation) -> str:
    """Symbols that the model doesn't know, each once, in order of appearance; white space separates words and is
    allowed.
    """
    return "".join(
        symbol for symbol in dict.fromkeys(script) if symbol not in notation.vocabulary and not symbol.isspace()
    )


def phoneme_sentences(script: str, notation: Notation) -> Iterator[Sentence]:
    """Sentences of a phoneme script, each symbol in one of them; no sentence if no symbol sounds. Takes linear time.

    A sentence ends at . ! ? or … before white space, a paragraph at a blank line. Silent text between two sentences
    belongs to the earlier one.

    Args:
        script: phonemes of the model's own alphabet, of any length; symbols that the model doesn't know are left out.
    """
    words: list[Word] = []
    ready: Cut | None = None
    dropped: Counter[str] = Counter()
    for tokens, cut in _parts(script, notation.max_tokens):
        more = [Word(token, token, PhonemeSource.USER) for token in tokens]
        sounds = any(pronounceable(word, notation) for word in more)
        if ready and sounds:
            yield units_of(words, notation, dropped, end=ready)
            words, ready = [], None
        words += more
        if ready or sounds:
            ready = cut
    if ready:
        yield units_of(words, notation, dropped, end=ready)


def _parts(script: str, limit: int) -> Iterator[tuple[list[str], Cut]]:
    """Words of each sentence, with the kind of cut at their end; a sentence over the limit comes in several parts."""
    for paragraph in _PARAGRAPH.split(script):
        found = [" ".join(match[0].split()) for match in _SENTENCE.finditer(paragraph)]
        for place, sentence in enumerate(found, 1):
            for passage in passages(sentence, 2 * limit):
                last = place == len(found) and passage.cut is Cut.SENTENCE
                yield passage.text.split(), Cut.PARAGRAPH if last else passage.cut
