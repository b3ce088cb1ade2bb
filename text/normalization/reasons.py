"""Why a text is read as it is: each sentence's tokens, the readings considered, and those that were chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from text.normalization.classes.cover import COVERS, Covered, InWords
from text.normalization.normalize import normalized_sentences
from text.normalization.settings import Normalization


@dataclass(frozen=True, slots=True)
class Considered:
    written: str
    kind: str
    """The class's name: Date, Money, Labelled, …"""
    said: str
    cost: float
    """Tokens that nothing covers cost 1 each; the cheapest cover of the sentence is chosen."""
    chosen: bool


@dataclass(frozen=True, slots=True)
class Reasons:
    """A sentence's tokens, readings and words."""

    tokens: tuple[str, ...]
    """Empty if no class was looked for. A token that another rule had rewritten before is a space."""
    considered: tuple[Considered, ...]
    said: str
    rewritten: tuple[tuple[str, str], ...]
    """Written and spoken words where they differ, whatever rule rewrote them."""


def reasons(clean: str, language: str, settings: Normalization) -> Iterator[Reasons]:
    """Reasons of each sentence of a sanitised text; Japanese and Mandarin have no classes."""
    covers: list[Covered] = []
    before = COVERS.set(covers)
    try:
        for sentence in normalized_sentences(clean, language, settings):
            seen = covers[-1] if covers else None
            covers.clear()
            spans: dict[tuple[int, int], list[str]] = {}
            for word in sentence.words:
                spans.setdefault(word.span, []).append(word.said)
            pairs = ((clean[slice(*span)], " ".join(words)) for span, words in spans.items())
            yield Reasons(
                tuple(token.text if token.kind != "m" else " " for token in seen.line.tokens) if seen else (),
                tuple(_considered(seen)) if seen else (),
                sentence.text,
                tuple(pair for pair in pairs if pair[0] != pair[1]),
            )
    finally:
        COVERS.reset(before)


def _considered(seen: Covered) -> Iterator[Considered]:
    for each in seen.found:
        written = seen.sentence[seen.line[each.first].start : seen.line[each.last - 1].end]
        name = each.fields.kind if isinstance(each.fields, InWords) else type(each.fields).__name__
        yield Considered(written, name, seen.say(each.fields), round(each.cost, 2), each in seen.cover)
