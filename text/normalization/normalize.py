"""Normalisation of texts into spoken words, a sentence at a time, with each word's span of the source.

Steps run in this order, each on the text that the earlier steps left alone: Markdown, sentence splitting (before
abbreviations lose their full stops), and within a sentence the language's rules. English rules run from text with a
form of its own (addresses, telephone numbers, dates, times) to numbers with a label, numbers between themselves, and
words.

Text that no rule matches stays as written: engines read plain numbers, "1,250.75" and most acronyms well.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from text.normalization.draft import roman
from text.normalization.draft.draft import Draft, Replacement, Rewritten
from text.normalization.english import (
    abbreviations,
    addresses,
    chemistry,
    codes,
    dates,
    durations,
    fractions,
    initialisms,
    maths,
    money,
    music,
    numbers,
    phones,
    ranges,
    references,
    shell,
    tex,
    times,
    units,
    versions,
    web,
    years,
)
from text.normalization.page import emoji
from text.normalization.page.markdown import plain
from text.normalization.settings import Normalization
from text.normalization.western import western
from text.normalization.western.western import Rule
from text.sentences.lines import chunks
from text.sentences.sentences import sentences

_WORD = re.compile(r"\S+")
_ADDRESS = re.compile(r"[@#/~\\]|\w\.\w|:\w*:")
_DIGIT = re.compile(r"\d")
_ANY = re.compile("")

Keeps = Callable[[str, int, int], Sequence[tuple[int, int]]]
"""Callback for a word and its span of the text that returns the spans within the word that are read as written."""

_EMOJI: Rule = ("emoji", emoji.omit, re.compile(r"[^\x00-\u20e2]|[:;=<][^ ]"))
"""The rule that all languages share."""

_ENGLISH: tuple[Rule, ...] = (
    ("tex", tex.apply, re.compile(r"[$(=<>≤≥\\]")),
    ("music", music.apply, re.compile(r"[A-G][#♯♭♮bmM\dsad]|\d/\d")),
    _EMOJI,
    ("web_addresses", web.apply, _ADDRESS),
    ("code", shell.apply, re.compile(r"[-_(+{]")),
    ("references", references.apply, re.compile(r"\d|v\.")),
    ("addresses", addresses.apply, re.compile(r"\d|, [A-Z]{2}")),
    ("codes", codes.apply, _DIGIT),
    ("phones", phones.apply, _DIGIT),
    ("chemistry", chemistry.apply, re.compile(r"[₀-₉⁰¹²³⁴-⁹⁺⁻]|[A-Z][a-z]?\)?[\d(A-Z]")),
    ("dates", dates.apply, _ANY),
    ("durations", durations.apply, _DIGIT),
    ("times", times.apply, _DIGIT),
    ("years", years.apply, _DIGIT),
    ("versions", versions.apply, _DIGIT),
    ("money", money.apply, _DIGIT),
    ("units", units.apply, _DIGIT),
    ("fractions", fractions.apply, re.compile(r"[\d½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒]")),
    ("ranges", ranges.apply, _DIGIT),
    ("ordinals", numbers.apply_ordinals, _DIGIT),
    ("numbers", numbers.apply, _DIGIT),
    ("initialisms", initialisms.apply, re.compile(r"[A-Z][A-Z&\ds]|PhD|MSc|BSc")),
    ("math", maths.apply, maths.NEEDED),
    ("roman_numerals", roman.apply, re.compile("[IVXLivxl]")),
    ("abbreviations", abbreviations.apply, _ANY),
)
"""English rules in order: setting (after `normalize_`), function, and a pattern that a sentence must contain for the
rule.
"""


def rules_of(code: str) -> tuple[Rule, ...]:
    """Rules for a language code's first part, in their order."""
    if code == "en":
        return _ENGLISH
    # Imported here, so that a server reads the word tables of the languages that it speaks.
    if code in ("ja", "cmn"):
        from text.normalization.eastern import eastern

        return (_EMOJI, *eastern.rules_of(code))
    if code == "hi":
        from text.normalization.eastern import hindi

        return (_EMOJI, *hindi.RULES)
    return (_EMOJI, *western.rules_of(code))


class NormalizedWord(NamedTuple):
    """Word of a normalised sentence, and the span of the sanitised text that it stands for: whole words, the same for
    all words that replace them.
    """

    said: str
    start: int
    end: int

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end


@dataclass(frozen=True, slots=True)
class Normalized:
    """Normalised sentence: words whose spans rise."""

    words: tuple[NormalizedWord, ...]

    @property
    def text(self) -> str:
        return " ".join(word.said for word in self.words)


def normalize(text: str, language: str, settings: Normalization, keeps: Keeps | None = None) -> str:
    """Sanitised text in normalised form, one line a sentence."""
    return "\n".join(sentence.text for sentence in normalized_sentences(text, language, settings, keeps))


def normalized_sentences(
    text: str, language: str, settings: Normalization, keeps: Keeps | None = None
) -> Iterator[Normalized]:
    """Normalised sentences of a sanitised text, none blank, with one space between words. Lazy; linear time.

    Each language has its own rules (`rules_of`); Markdown, HTML and emoji are removed in all languages.

    Args:
        keeps: callback for the spans of words that no rule but Markdown's may change; no span by default.
    """
    rules = _rules_on(language.partition("-")[0], settings)
    markdown = settings.normalize_markdown
    with_tex = settings.normalize_tex and language.startswith("en")
    for start, end in chunks(text) if markdown else [(0, len(text))]:
        chunk = text[start:end]
        pieces = plain(chunk, settings.normalize_code_blocks, with_tex) if markdown else None
        yield from _chunk(
            chunk,
            start,
            Rewritten([Replacement.kept(chunk, 0, len(chunk))] if pieces is None else pieces),
            language,
            rules,
            keeps,
        )


@lru_cache(32)
def _rules_on(code: str, settings: Normalization) -> list[tuple[Callable[[Draft], None], re.Pattern[str]]]:
    """The language's rules that are on, each with the pattern that a sentence must contain for it."""
    english = code == "en"
    on = (rule for rule in rules_of(code) if getattr(settings, f"normalize_{rule[0]}"))
    rules = [(rule, needed) for _, rule, needed in on]
    if english and settings.normalize_emoji and settings.normalize_emoji_names:
        rules = [(emoji.name if rule is emoji.omit else rule, needed) for rule, needed in rules]
    if english and not settings.normalize_web_addresses:
        rules.insert(0, (web.protect, _ADDRESS))
    return rules


def _chunk(
    chunk: str,
    offset: int,
    written: Rewritten,
    language: str,
    rules: list[tuple[Callable[[Draft], None], re.Pattern[str]]],
    keeps: Keeps | None,
) -> Iterator[Normalized]:
    words = _Words(chunk, offset)
    position = 0
    for sentence in sentences(written.text, language):
        while written.text[position].isspace():
            position += 1
        draft = Draft(sentence, language)
        if keeps:
            found = _WORD.finditer(sentence)
            draft.hide(
                (word.start() + start, word.start() + end)
                for word in found
                for start, end in keeps(
                    word[0], *words.around(*written.origin(position + word.start(), position + word.end()))
                )
            )
        for rule, needed in rules:
            if needed.search(sentence):
                rule(draft)
        if not draft.changed and written.verbatim and (kept := words.whole(position, position + len(sentence))):
            yield Normalized(kept)
            position += len(sentence)
            continue
        said = draft.rewritten()
        spoken = []
        for word in _WORD.finditer(said.text):
            start, end = said.origin(*word.span())
            spoken.append(NormalizedWord(word[0], *words.around(*written.origin(position + start, position + end))))
        if spoken:
            yield Normalized(tuple(spoken))
        position += len(sentence)


class _Words:
    """Finds the spans of whole words of a text."""

    def __init__(self, text: str, offset: int) -> None:
        self._text = text
        self._offset = offset
        self._spans = [match.span() for match in _WORD.finditer(text)]
        self._starts = [start for start, _ in self._spans]

    def whole(self, start: int, end: int) -> tuple[NormalizedWord, ...]:
        """Words between two places, as written; none if one of the places is inside a word."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        if first == last or self._spans[last - 1][1] > end or (first and self._spans[first - 1][1] > start):
            return ()
        spans, offset = self._spans[first:last], self._offset
        return tuple(NormalizedWord(self._text[start:end], offset + start, offset + end) for start, end in spans)

    def around(self, start: int, end: int) -> tuple[int, int]:
        first = max(0, bisect_right(self._starts, start) - 1)
        last = max(first, bisect_right(self._starts, max(start, end - 1)) - 1)
        return self._offset + self._spans[first][0], self._offset + self._spans[last][1]
