"""Pronunciations given by markup or by the user's lexicon, which take precedence over grapheme to phoneme."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import chain, groupby

from msgspec.structs import replace

from text.lexicon import Lexicon, LexiconMatch
from text.lexicon_formats import PARTS
from text.markup.marked import Marked, Pronunciation
from text.words.language import EAST_ASIAN
from text.words.punctuation import MARKS
from text.words.segment import PhonemeSource, Word

Say = Callable[[str], Sequence[Word]]
"""Function that pronounces words separated by spaces, and returns one `Word` for each."""


class Given:
    """Given pronunciations of one text in one language. Callers must ask for the text's words in order."""

    def __init__(
        self,
        marked: Marked,
        lexicon: Lexicon,
        language: str,
        parts: Callable[[str, str], Sequence[str]] | None = None,
        foreign: Callable[[str, str], Sequence[Word]] | None = None,
    ) -> None:
        """Args:
        parts: the part of speech of each word of a sentence of a language, for entries that are for one.
        foreign: words of another language, in the sounds of this one.
        """
        self._text = marked.text
        self._lexicon = lexicon
        self._language = language
        self._parts = parts if lexicon.by_part else None
        self._foreign = foreign
        self._pronunciations = [each for each in marked.annotations if isinstance(each, Pronunciation)]
        self._starts = [each.start for each in self._pronunciations]
        self._said: Pronunciation | None = None
        """Last markup pronunciation that was used: the first word it covers got all its phonemes, so later words get
        none.
        """

    def __getstate__(self) -> dict[str, object]:
        """Without `parts` and `foreign`: the helper that reads long texts (`text.apart`) pronounces no words."""
        return {**self.__dict__, "_parts": None, "_foreign": None}

    def __bool__(self) -> bool:
        """True if markup or the lexicon gives any pronunciation."""
        return bool(self._pronunciations or len(self._lexicon))

    def keeps(self, word: str, start: int, end: int) -> Sequence[tuple[int, int]]:
        """Spans of a written word that have a given pronunciation, and so are not normalised: the whole word, or parts
        of it between signs or, in a language without spaces, anywhere.

        Args:
            start, end: the word's span of the text, in characters.
        """
        if self._over(start, end) or any(
            self._found(word, part) for part in (PARTS if self._lexicon.by_part else ("",))
        ):
            return [(0, len(word))]
        return [(found.start, found.end) for found in self._inside(word)]

    def _inside(self, token: str) -> list[LexiconMatch]:
        if not self._lexicon:
            return []
        inside = self._lexicon.inside if self._language in EAST_ASIAN else self._lexicon.joined
        return inside(token, self._language)

    def covers_both(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        """True if one markup pronunciation overlaps two spans of the text."""
        return any(each in self._over(*other) for each in self._over(*one) if each.phonemes)

    def words(self, tokens: Sequence[str], origins: Sequence[tuple[int, int]], say: Say) -> tuple[Word, ...]:
        """Words with phonemes, one for each token. Tokens without a given pronunciation are pronounced by `say`, which
        gets the whole sentence as context.

        Args:
            origins: the span of the text that each token stands for.
        """
        spoken_as = self._parts(" ".join(tokens), self._language) if self._parts else [""] * len(tokens)
        found = [
            None if self._over(*origin) else self._found(token, part)
            for token, origin, part in zip(tokens, origins, spoken_as, strict=True)
        ]
        self._say_foreign(tokens, origins, found)
        if self._language in EAST_ASIAN:
            return tuple(
                self._unspaced(token, origin, each, say)
                for token, origin, each in zip(tokens, origins, found, strict=True)
            )
        context = [
            token if each is None else _respelled(token, each) for token, each in zip(tokens, found, strict=True)
        ]
        spoken = iter(say(" ".join(context)))
        words: list[Word] = []
        holder: int | None = None
        """Index of the word that holds the phonemes of the last markup pronunciation."""
        for token, origin, each, put in zip(tokens, origins, found, context, strict=True):
            parts = [next(spoken) for _ in put.split()]
            over = [given for given in self._over(*origin) if given.phonemes]
            if over:
                goes_on = over == [self._said]
                phonemes = self._by_markup(token, origin, over, say)
                if goes_on and holder is not None:
                    # Punctuation after several words with one pronunciation belongs to the word that holds it.
                    words[holder] = replace(words[holder], phonemes=words[holder].phonemes + phonemes)
                    phonemes = ""
                else:
                    holder = len(words)
                words.append(Word(token, phonemes, PhonemeSource.USER))
            elif each is None:
                words += [self._by_parts(token, inside, say)] if (inside := self._inside(token)) else parts
            elif each.phonemes is None:
                words.append(
                    Word(token, " ".join(part.phonemes for part in parts if part.phonemes), PhonemeSource.USER)
                )
            else:
                before, after = token[: each.start], token[each.end :]
                phonemes = _edge(before, say) + each.phonemes + _edge(after, say, closing=True)
                words.append(Word(token, phonemes, PhonemeSource.USER))
        return tuple(words)

    def _say_foreign(
        self, tokens: Sequence[str], origins: Sequence[tuple[int, int]], found: list[LexiconMatch | None]
    ) -> None:
        """Give each run of tokens that markup calls another language's the phonemes of that language."""
        if self._foreign is None or not any(each.language for each in self._pronunciations):
            return
        codes = [next((each.language for each in self._over(*origin)), "") for origin in origins]
        for code, run in groupby(range(len(tokens)), key=codes.__getitem__):
            places = list(run)
            if code and (said := self._foreign(" ".join(tokens[place] for place in places), code)):
                for place, word in zip(places, said, strict=True):
                    found[place] = LexiconMatch(0, len(tokens[place]), word.phonemes, None)

    def _unspaced(self, token: str, origin: tuple[int, int], whole: LexiconMatch | None, say: Say) -> Word:
        """Word for a token of a language without spaces, in which given pronunciations replace parts."""
        over = [given for given in self._over(*origin) if given.phonemes]
        if over:
            return Word(token, self._by_markup(token, origin, over, say), PhonemeSource.USER)
        parts = [whole] if whole else self._inside(token)
        if not parts:
            return next(iter(say(token)), Word(token, "", PhonemeSource.NONE))
        return self._by_parts(token, parts, say)

    @staticmethod
    def _by_parts(token: str, parts: Sequence[LexiconMatch], say: Say) -> Word:
        """Word for a token in which given pronunciations replace parts."""
        phonemes: list[str] = []
        place = 0
        for part in (*parts, None):
            between = token[place : part.start if part else len(token)]
            phonemes += (word.phonemes for word in say(between) if word.phonemes)
            if part:
                phonemes.append(part.phonemes or " ".join(word.phonemes for word in say(part.respelling or "")))
                place = part.end
        return Word(token, " ".join(phonemes), PhonemeSource.USER)

    def respelled(self, tokens: Sequence[str]) -> tuple[Word, ...]:
        """Words for an engine that takes text instead of phonemes; the lexicon's respellings replace tokens that have
        one.
        """
        found = map(self._found, tokens)
        return tuple(
            Word(token, _respelled(token, each), PhonemeSource.USER)
            if each and each.respelling
            else Word(token, token, PhonemeSource.ESPEAK)
            for token, each in zip(tokens, found, strict=True)
        )

    def _found(self, token: str, part: str = "") -> LexiconMatch | None:
        return self._lexicon.find(token, self._language, part or None)

    def _over(self, start: int, end: int) -> list[Pronunciation]:
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
                # Markdown's own rules have changed the token; signs at its edges are outside the word.
                start, end = _core(token, place)
            else:
                end = start + len(piece)
            phonemes += _edge(token[place:start], say)
            if each is not self._said:
                phonemes += each.phonemes
                self._said = each
            place = end
        return phonemes + _edge(token[place:], say, closing=True)


def _respelled(token: str, found: LexiconMatch) -> str:
    if found.respelling is None:
        return token
    return token[: found.start] + found.respelling + token[found.end :]


def _core(token: str, place: int) -> tuple[int, int]:
    sounding = [at for at in range(place, len(token)) if token[at].isalnum()]
    return (sounding[0], sounding[-1] + 1) if sounding else (place, len(token))


def _edge(text: str, say: Say, closing: bool = False) -> str:
    """Phonemes of a token's text before or after the word: punctuation marks as the model knows them, letters
    pronounced.
    """
    if any(map(str.isalnum, text)):
        return "".join(word.phonemes for word in say(text))
    return "".join("”" if character == '"' and closing else _MARKS.get(character, "") for character in text)


_MARKS = dict(chain(MARKS.items(), [('"', "“")]))
