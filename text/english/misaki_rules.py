"""misaki's English rules without its tokenizer and, for most tokens, without its token objects.

misaki pronounces a sentence from right to left, because a token's phonemes depend on how the text after it begins. Its
token objects take half of a sentence's time, so a token that stands alone between spaces or punctuation marks is looked
up in misaki's lexicon directly. Other tokens, such as the parts of "twenty-one", go through misaki's own loop, a run of
joined tokens at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

from text.english.tokenizer import Token

_RECENT = 4096
"""Recent tokens, each with its tag and context, whose pronunciation is kept."""

_PROBE = "PROBE"
"""Tag of a token before a run: misaki's look-up of it in the lexicon shows the context that the run makes."""

_BEGINNING = {None: ".", False: "t", True: "ə"}
"""Phonemes that put the token before them in a context, by `misaki.en.TokenContext.future_vowel`."""


class SpokenToken(NamedTuple):
    """Pronounced token."""

    word: int
    """Index of its word in the sentence."""
    phonemes: str
    rating: int | None
    """Trust in the phonemes by misaki's scale."""


class _Plain:
    """A token that stands alone, with the attributes of a `misaki.token.MToken` that its lexicon reads."""

    __slots__ = ("tag", "text")
    _ = SimpleNamespace(alias=None, currency=None, stress=None, is_head=True, num_flags="")

    def __init__(self, text: str, tag: str) -> None:
        self.text = text
        self.tag = tag


class MisakiRules:
    """Pronounces tagged tokens. Not thread-safe."""

    def __init__(self, en: Any, lexicon: Any, fallback: Callable[[Any], tuple[str, int]]) -> None:
        """Args:
        en: the module `misaki.en`.
        lexicon: its `Lexicon`.
        fallback: pronounces the tokens that the lexicon lacks.
        """
        self._en = en
        self._lexicon = lexicon
        self._fallback = fallback
        self._loop = _misakis_loop(en, lexicon, fallback)
        self._marks: frozenset[str] = en.PUNCT_TAGS
        self._known = lru_cache(_RECENT)(self._look_up)
        self._is_whole = lru_cache(_RECENT)(lambda text: en.subtokenize(text) == [text])

    def pronounced(self, found: Sequence[Token], tags: Sequence[str]) -> list[SpokenToken]:
        """Tokens with phonemes, in order; the tokens that misaki merges are one."""
        spoken: list[SpokenToken] = []
        context = self._en.TokenContext()
        for start, end in reversed(list(self._runs(found, tags))):
            token, tag = found[start], tags[start]
            if end - start > 1 or not (self._is_mark(token.text, tag) or self._stands_alone(token.text, tag)):
                run, context = self._loop.run(found[start:end], tags[start:end], context)
                spoken.extend(reversed(run))
                continue
            known = self._known(token.text, tag, context.future_vowel, context.future_to)
            if known is None:
                plain = _Plain(token.text, tag)
                phonemes, rating = self._fallback(plain)
                context = self._en.G2P.token_context(context, phonemes, plain)
                spoken.append(SpokenToken(token.word, _for_kokoro(phonemes), rating))
            else:
                phonemes, rating, context = known
                spoken.append(SpokenToken(token.word, phonemes, rating))
        spoken.reverse()
        return spoken

    def _runs(self, found: Sequence[Token], tags: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Spans of tokens that misaki pronounces together: those without a space or a punctuation mark in between."""
        if "$" in tags:
            yield 0, len(found)  # a currency's name is said after the number that follows its sign
            return
        start = 0
        for place, token in enumerate(found):
            if self._is_mark(token.text, tags[place]):
                if start < place:
                    yield start, place
                yield place, place + 1
                start = place + 1
            elif token.space:
                yield start, place + 1
                start = place + 1
        if start < len(found):
            yield start, len(found)

    def _is_mark(self, text: str, tag: str) -> bool:
        return tag in self._marks and len(text) == 1 and not text.isalpha()

    def _stands_alone(self, text: str, tag: str) -> bool:
        return tag not in self._marks and self._is_whole(text)

    def _look_up(self, text: str, tag: str, future_vowel: bool | None, future_to: bool) -> tuple[str, int, Any] | None:
        """Phonemes, rating and the context of the token before; None if the lexicon lacks the token."""
        context = self._en.TokenContext(future_vowel, future_to)
        if tag in self._marks:
            (mark,), context = self._loop.run([Token(text, 0, 0)], [tag], context)
            return mark.phonemes, mark.rating, context
        plain = _Plain(text, tag)
        phonemes, rating = self._lexicon(plain, context)
        if phonemes is None:
            return None
        return _for_kokoro(phonemes), rating, self._en.G2P.token_context(context, phonemes, plain)


def _for_kokoro(phonemes: str) -> str:
    """Phonemes as misaki writes them for Kokoro's first version and all later ones but 2.0."""
    return phonemes.replace("ɾ", "T").replace("ʔ", "t")


def _misakis_loop(en: Any, lexicon: Any, fallback: Callable[[Any], tuple[str, int]]) -> Any:
    """misaki's G2P without its tokenizer. The subclass is defined here because its base class exists only after
    `misaki.en` is imported.
    """
    from misaki.token import MToken

    def token(text: str, tag: str, space: bool, word: int, phonemes: str | None = None) -> Any:
        underscore = MToken.Underscore(is_head=True, num_flags="", prespace=False)
        return MToken(text, tag, " " if space else "", phonemes, float(word), None, underscore)

    class PronunciationLoop(en.G2P):  # type: ignore[misc]
        def __init__(self) -> None:
            self.version = None
            self.british = lexicon.british
            self.fallback = fallback
            self.unk = ""
            self._given: list[Any] = []
            self._before: Any = None

        def run(self, found: Sequence[Token], tags: Sequence[str], context: Any) -> tuple[list[SpokenToken], Any]:
            """Pronounced tokens of a run, and the context of the token before it.

            Args:
                context: `TokenContext` that the text after the run makes.
            """
            self._given = [
                token("x", _PROBE, True, 0),
                *(token(each.text, tag, each.space, each.word) for each, tag in zip(found, tags, strict=True)),
                token("to" if context.future_to else "x", "", False, 0, _BEGINNING[context.future_vowel]),
            ]
            pronounced = self("", preprocess=False)[1][1:-1]
            return [
                SpokenToken(int(each.start_ts), each.phonemes or "", _rating(each)) for each in pronounced
            ], self._before

        def tokenize(self, text: str, _tokens: object, _features: object) -> list[Any]:
            return self._given

        def lexicon(self, token: Any, context: Any) -> tuple[str | None, int | None]:
            if token.tag == _PROBE:
                self._before = context
                return "", 0
            found: tuple[str | None, int | None] = lexicon(token, context)
            return found

    return PronunciationLoop()


def _rating(token: Any) -> int | None:
    rating: int | None = token._.rating if token._.rating is not None else vars(token).get("rating")
    return rating
