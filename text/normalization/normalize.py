"""Normalisation of texts into spoken words, a sentence at a time, with each word's span of the source.

Steps run in this order, each on the text that the earlier steps left alone: Markdown, sentence splitting (before
abbreviations lose their full stops), and within a sentence the language's rules.

Text that no rule matches stays as written: engines read plain numbers, "1,250.75" and most acronyms well.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from text.locales.tables import table
from text.normalization import emoji, layout, sources
from text.normalization.draft import Draft, Replacement, Rewritten, Rule
from text.normalization.english import english, web
from text.normalization.markdown import CodeBlocks, plain
from text.normalization.settings import Normalization
from text.sentences.sentences import chunks, sentences

_WORD = re.compile(r"\S+")
_new = tuple.__new__
"""Makes a named tuple without the call that its own constructor makes."""

Keeps = Callable[[str, int, int], Sequence[tuple[int, int]]]
"""Callback for a word and its span of the text that returns the spans within the word that are read as written."""


def rules_of(code: str) -> tuple[Rule, ...]:
    """Rules for a language code's first part, in their order."""
    match code:
        case "en":
            return english.RULES
        # The others are imported here, so that a server reads the word tables of the languages that it speaks.
        case "ja" | "cmn":
            from text.normalization.eastern import eastern

            return (*(rules := eastern.rules_of(code))[:1], emoji.OMITTED, *rules[1:])
    from text.normalization.western import western

    return (emoji.OMITTED, *western.rules_of(code))


class NormalizedWord(NamedTuple):
    """Word of a normalised sentence, and the span of whole words that it stands for, the same for all in its place."""

    said: str
    start: int
    end: int

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end


class Normalized(NamedTuple):
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
    markdown, laid_out = "markdown" in settings.on, "layout" in settings.on
    with_tex = "tex" in settings.on and bool(table(language.partition("-")[0], "tex"))
    code = CodeBlocks.SKIPPED if settings.skips_code else CodeBlocks.MENTIONED
    code = code if "code_blocks" in settings.on else CodeBlocks.READ
    if laid_out:
        text = layout.mathml_as_tex(text, with_tex) if "<math" in text else text
        text = layout.cleared(sources.prose(text))
    for start, end in chunks(text) if markdown else [(0, len(text))]:
        chunk = text[start:end]
        kept = [Replacement.kept(chunk, 0, len(chunk))]
        pieces = sources.rows(chunk) if laid_out else None
        if pieces is None and markdown:
            pieces = plain(chunk, language, code, with_tex)
        if pieces is None and laid_out:
            pieces = layout.joined(chunk)
        if layout.FILLER in chunk:
            pieces = list(layout.without_fillers(pieces or kept))
        written = Rewritten(kept if pieces is None else pieces)
        yield from _chunk(_Words(chunk, start), written, language, rules, settings.on, keeps)


@lru_cache(32)
def _rules_on(code: str, settings: Normalization) -> list[Rule]:
    rules = [rule for rule in (*rules_of(code), emoji.CUES) if rule.name in settings.on or rule.name == "classes"]
    if code == "en":
        if settings.emoji_names:
            rules = [emoji.NAMED if rule is emoji.OMITTED else rule for rule in rules]
        if "web_addresses" not in settings.on:
            rules.insert(0, Rule("web_addresses", web.protect, web.NEEDED))
    return rules


def _chunk(
    words: _Words, written: Rewritten, language: str, rules: list[Rule], on: frozenset[str], keeps: Keeps | None
) -> Iterator[Normalized]:
    position = 0
    for sentence in sentences(written.text, language):
        while written.text[position].isspace():
            position += 1
        draft = Draft(sentence, language, on)
        if keeps:
            found = _WORD.finditer(sentence)
            draft.hide(
                (word.start() + start, word.start() + end)
                for word in found
                for start, end in keeps(
                    word[0], *words.around(*written.origin(position + word.start(), position + word.end()))
                )
            )
        for rule in rules:
            if rule.needed.search(sentence):
                rule.rewrite(draft)
        if not draft.changed and written.verbatim and (kept := words.whole(position, position + len(sentence))):
            yield Normalized(kept)
            position += len(sentence)
            continue
        said = draft.rewritten()
        spoken: list[NormalizedWord] = []
        for word in _WORD.finditer(said.text):
            start, end = said.origin(*word.span())
            origin = written.origin(position + start, position + end)
            spoken.append(_new(NormalizedWord, (word[0], *words.around(*origin))))
        if spoken:
            yield Normalized(tuple(spoken))
        position += len(sentence)


class _Words:
    def __init__(self, text: str, offset: int) -> None:
        self._offset = offset
        self._words: list[NormalizedWord] = [
            _new(NormalizedWord, (match[0], match.start() + offset, match.end() + offset))
            for match in _WORD.finditer(text)
        ]
        self._starts = [word[1] - offset for word in self._words]

    def whole(self, start: int, end: int) -> tuple[NormalizedWord, ...]:
        """Words between two places, as written; none if one of the places is inside a word."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        beyond = first == last or self._words[last - 1].end > end + self._offset
        if beyond or (first and self._words[first - 1].end > start + self._offset):
            return ()
        return tuple(self._words[first:last])

    def around(self, start: int, end: int) -> tuple[int, int]:
        first = max(0, bisect_right(self._starts, start) - 1)
        _, begin, stop = self._words[first]
        if end + self._offset <= stop:
            return begin, stop
        last = max(first, bisect_left(self._starts, max(start + 1, end), first) - 1)
        return begin, self._words[last].end
