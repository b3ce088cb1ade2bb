"""Passages of a text: stretches of normalised words that are pronounced at once, with what the user wrote for each.

A rule that raises an exception costs its passage, which is read by fewer rules, and not the rest of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from shm.expendable import HelperDied
from text.apart import answering as answering  # the helper starts here, and so forks after all rules are loaded
from text.apart import apart
from text.errors import Mishap, TextError
from text.given import Given
from text.normalization.normalize import NormalizedWord, normalized_sentences
from text.normalization.settings import AS_WRITTEN, Normalization
from text.units.segmentation import UnitRun, passages
from text.words.segment import Cut

_PATIENCE = 20
"""Failures of one text after which the rest is read without rules, and after twice as many word by word: each costs a
new look at its paragraph."""

_DEATH = 10
"""Failures that a death of the helper counts as, because each costs seconds of processor time."""

_LONGEST = 400
"""Most characters that are read without even a rule for sentences' ends."""

_WORD = re.compile(r"\S+")
_STOPS = ("\n", ". ", "! ", "? ", "。")

Failed = Callable[[Mishap], None]
"""Callback for each failure of the rules."""


class ReadPassage(NamedTuple):
    """A passage's words, of which each list has one item. A tuple passes from process to process fastest."""

    text: str
    """The normalised words with single spaces."""
    cut: Cut
    """Kind of boundary at the passage's end."""
    written: list[str]
    """The user's spelling of each word; "" if the word before has it already."""
    origins: list[tuple[int, int]]
    """The span of the text that each word stands for."""
    end: int
    """Place in the text up to which it is read."""


def read_passages(
    clean: str, language: str, normalization: Normalization, given: Given, limit: int, failed: Failed
) -> Iterator[ReadPassage]:
    """All passages of a sanitised text, in order, of at most `limit` characters each unless one pronunciation is given
    for more. Lazy.

    The passage whose reading fails is read without rules, if that fails too up to the next full stop, and the rest of
    the text again by all rules.
    """
    end = failures = 0
    while (start := _next_word(clean, end)) < len(clean):
        rules = normalization if failures < _PATIENCE else AS_WRITTEN
        try:
            for passage in apart.items(clean, _read, clean, start, language, rules, given, limit):
                yield passage
                end = passage.end
            return
        except TextError:
            raise
        except Exception as error:
            died = isinstance(error, HelperDied)
            failures += _DEATH if died else 1
            start = _next_word(clean, end)  # `end` may have moved since
            failed(Mishap.of(error, start))
        simpler = None if died else _without_rules(clean, start, language, given, limit)
        while (start := _next_word(clean, end)) < len(clean):
            passage = simpler or _plain(clean, start)
            yield passage
            end, simpler = passage.end, None
            if failures < 2 * _PATIENCE:
                break


def _read(
    clean: str, offset: int, language: str, normalization: Normalization, given: Given, limit: int
) -> Iterator[ReadPassage]:
    keeps = partial(_kept, given, offset) if given else None
    for sentence in normalized_sentences(clean[offset:], language, normalization, keeps):
        words = [NormalizedWord(said, offset + start, offset + end) for said, start, end in sentence.words]
        taken = offset
        place = -1
        for passage in _around_given(passages(sentence.text, limit), words, given):
            written: list[str] = []
            origins: list[tuple[int, int]] = []
            for token, at in zip(passage.text.split(), passage.places, strict=True):
                said, start, end = words[at]
                if clean[start:end] == said:
                    written.append(token)
                else:
                    written.append(clean[max(start, taken) : end].strip() if at != place else "")
                origins.append((start, end))
                taken, place = max(taken, end), at
            yield ReadPassage(passage.text, passage.cut, written, origins, taken)


def _kept(given: Given, offset: int, word: str, start: int, end: int) -> list[tuple[int, int]]:
    return list(given.keeps(word, offset + start, offset + end))


def _around_given(parts: Iterable[UnitRun], words: list[NormalizedWord], given: Given) -> Iterator[UnitRun]:
    """Passages joined where their border lies inside a given pronunciation.

    Only the first word that a given pronunciation covers has a sound; the other words, and a pause after them, belong
    to the first word's passage.
    """
    held: list[UnitRun] = []
    for part in parts:
        if held and not given.covers_both(words[held[-1].places[-1]].span, words[part.places[0]].span):
            yield UnitRun.joined(held)
            held.clear()
        held.append(part)
    if held:
        yield UnitRun.joined(held)


def _next_word(clean: str, place: int) -> int:
    word = _WORD.search(clean, place)
    return word.start() if word else len(clean)


def _without_rules(clean: str, start: int, language: str, given: Given, limit: int) -> ReadPassage | None:
    try:
        found = apart.items(clean, _read, clean, start, language, AS_WRITTEN, given, limit)
        return next(found, None)
    except Exception:
        return None  # the failure before is the one that is told


def _plain(clean: str, start: int) -> ReadPassage:
    """The words from a word's start up to the next full stop, as they are written."""
    near = clean[: start + _LONGEST]
    ends = [found + len(stop) for stop in _STOPS if (found := near.find(stop, start)) >= 0]
    end = min(ends, default=len(near))
    if end == len(near) < len(clean):
        end = max(near.rfind(" ", start), 0) or end
    words = list(_WORD.finditer(clean, start, end))
    texts = [word[0] for word in words]
    return ReadPassage(" ".join(texts), Cut.SENTENCE, texts, [word.span() for word in words], end)
