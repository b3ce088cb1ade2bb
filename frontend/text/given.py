"""Words whose pronunciation is given, by markup or by the user's lexicon: they are said so whatever G2P would do."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

from frontend.text.lexicon.lexicon import Found, Lexicon
from frontend.text.markup.marked import Marked, Pronunciation
from frontend.text.punctuation import MARKS
from frontend.text.word import Source, Word

Say = Callable[[str], Sequence[Word]]
"""Pronounces words with spaces between them, one for each."""


class Given:
    """The given pronunciations of one text in one language. Asked for its words in their order."""

    def __init__(self, marked: Marked, lexicon: Lexicon, language: str) -> None:
        self._text = marked.text
        self._lexicon = lexicon
        self._language = language
        self._pronunciations = [each for each in marked.annotations if isinstance(each, Pronunciation)]
        self._starts = [each.start for each in self._pronunciations]
        self._said: Pronunciation | None = None
        """The last one that was said: what else it covers was said with its first word."""

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._pronunciations or len(self._lexicon))

    def keeps(self, word: str, start: int, end: int) -> bool:
        """Whether a written word has such a pronunciation, and so isn't normalised.

        Args:
            start, end: its span of the text.
        """
        return bool(self._over(start, end)) or self._lexicon.find(word, self._language) is not None

    def covers_both(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        """Whether one pronunciation by markup covers some of two spans of the text."""
        return any(each in self._over(*other) for each in self._over(*one) if each.phonemes)

    def words(self, tokens: Sequence[str], origins: Sequence[tuple[int, int]], say: Say) -> tuple[Word, ...]:
        """The tokens' words, one for each; what isn't given is said by `say`, which is given all of the context.

        Args:
            origins: the span of the text that each token stands for.
        """
        found = [
            None if self._over(*origin) else self._found(token) for token, origin in zip(tokens, origins, strict=True)
        ]
        context = [
            token if each is None else _respelled(token, each) for token, each in zip(tokens, found, strict=True)
        ]
        spoken = iter(say(" ".join(context)))
        words: list[Word] = []
        holder: int | None = None
        """The word that has the phonemes of the last pronunciation by markup."""
        for token, origin, each, put in zip(tokens, origins, found, context, strict=True):
            parts = [next(spoken) for _ in put.split()]
            over = [given for given in self._over(*origin) if given.phonemes]
            if over:
                goes_on = over == [self._said]
                phonemes = self._by_markup(token, origin, over, say)
                if goes_on and holder is not None:
                    # Marks after several words that are said as one follow it.
                    words[holder] = replace(words[holder], phonemes=words[holder].phonemes + phonemes)
                    phonemes = ""
                else:
                    holder = len(words)
                words.append(Word(token, phonemes, Source.USER))
            elif each is None:
                words += parts
            elif each.phonemes is None:
                words.append(Word(token, " ".join(part.phonemes for part in parts if part.phonemes), Source.USER))
            else:
                before, after = token[: each.start], token[each.end :]
                phonemes = _edge(before, say) + each.phonemes + _edge(after, say, closing=True)
                words.append(Word(token, phonemes, Source.USER))
        return tuple(words)

    def respelled(self, tokens: Sequence[str]) -> tuple[Word, ...]:
        """The tokens for an engine that speaks text: those that the lexicon respells as it does."""
        found = map(self._found, tokens)
        return tuple(
            Word(token, _respelled(token, each), Source.USER)
            if each and each.respelling
            else Word(token, token, Source.ESPEAK)
            for token, each in zip(tokens, found, strict=True)
        )

    def _found(self, token: str) -> Found | None:
        return self._lexicon.find(token, self._language)

    def _over(self, start: int, end: int) -> list[Pronunciation]:
        """The pronunciations that cover some of a span."""
        first = max(0, bisect_right(self._starts, start) - 1)
        last = bisect_right(self._starts, max(start, end - 1))
        return [each for each in self._pronunciations[first:last] if each.end > start]

    def _by_markup(self, token: str, origin: tuple[int, int], over: Sequence[Pronunciation], say: Say) -> str:
        phonemes = ""
        place = 0
        for each in over:
            piece = self._text[max(each.start, origin[0]) : min(each.end, origin[1])]
            start = token.find(piece, place)
            if start < 0:
                # Its markup as Markdown went; signs at its edges are not of the word.
                start, end = _core(token, place)
            else:
                end = start + len(piece)
            phonemes += _edge(token[place:start], say)
            if each is not self._said:
                phonemes += each.phonemes
                self._said = each
            place = end
        return phonemes + _edge(token[place:], say, closing=True)


def _respelled(token: str, found: Found) -> str:
    if found.respelling is None:
        return token
    return token[: found.start] + found.respelling + token[found.end :]


def _core(token: str, place: int) -> tuple[int, int]:
    sounding = [at for at in range(place, len(token)) if token[at].isalnum()]
    return (sounding[0], sounding[-1] + 1) if sounding else (place, len(token))


def _edge(text: str, say: Say, closing: bool = False) -> str:
    """What stands in a token beside the word: marks as the model knows them, letters as they are pronounced."""
    if any(map(str.isalnum, text)):
        return "".join(word.phonemes for word in say(text))
    return "".join("”" if character == '"' and closing else _MARKS.get(character, "") for character in text)


_MARKS = dict(chain(MARKS.items(), [('"', "“")]))
