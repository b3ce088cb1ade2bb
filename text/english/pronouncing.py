"""The order in which misaki's English lexicon is asked about a sentence's tokens.

A sentence is pronounced from right to left, because a token's phonemes depend on how the text after it begins. Tokens
without a space between them ("twenty-one", "B2B") are one word: the lexicon is asked for the longest stretch at its
end, then for the longest one before that, and a word with a part that it lacks is the fallback's. The results are those
of misaki's own loop over its token objects, which takes twice the time (`tests/text/test_g2p_english.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from text.english.tokenizer import Token
from text.locales.tables import table, word_list
from text.words.segment import PhonemeSource

_RECENT = 4096
"""Recent tokens, each with its tag and context, whose pronunciation is kept."""

_WEAKER = -0.5
"""misaki's number for a primary stress that becomes a secondary one."""

_NO_INITIALS = word_list(table("en", "word_classes")["no_initials"])

_CAPITALS = re.compile(r"(?=[^AEIOUY]{0,3}[AEIOUY])(?![A-Z]*[^AEIOUY]{4})[A-Z]{6,}")
"""Words in capitals that are long for an abbreviation, and have vowels."""


class SpokenToken(msgspec.Struct):
    word: int
    """Index of its word in the sentence."""
    phonemes: str
    source: PhonemeSource


class _Part(msgspec.Struct):
    """A token or a part of one, with the attributes of a `misaki.token.MToken` that its lexicon reads."""

    text: str
    tag: str
    space: bool = True
    """True if a space follows."""
    word: int = 0
    phonemes: str | None = None
    alias: str | None = None
    currency: str | None = None
    is_head: bool = True
    stress: float | None = None
    num_flags: str = ""

    @property
    def _(self) -> _Part:
        return self


_Context = tuple[bool | None, bool]
"""Fields of misaki's `TokenContext`: whether a vowel follows (None: a mark or nothing), and whether "to" does."""
_UNKNOWN: Any = object()


class _Watched:
    """Context that notes whether the lexicon has read it."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self.read = False

    def __getattr__(self, name: str) -> Any:
        self.read = True
        return getattr(self._context, name)


class Pronouncer:
    """Pronounces tagged tokens. Not thread-safe."""

    def __init__(self, en: Any, lexicon: Any, fallback: Callable[[str], tuple[str, PhonemeSource]]) -> None:
        """Args:
        en: the module `misaki.en`.
        lexicon: its `Lexicon`.
        fallback: phonemes of a text that the lexicon lacks, and their source.
        """
        self._en = en
        self._tags_of_marks: frozenset[str] = en.PUNCT_TAGS
        self._lexicon = lexicon
        self._fallback = fallback
        self._known = lru_cache(_RECENT)(self._look_up)
        self._begin = lru_cache(_RECENT)(self._beginning)
        self._together = lru_cache(_RECENT)(self._joined)
        self._parts_of = lru_cache(_RECENT)(self._cut)

    def pronounced(self, found: Sequence[Token], tags: Sequence[str]) -> list[SpokenToken]:
        spoken: list[SpokenToken] = []
        context: _Context = (None, False)
        shouted = len(found) > 2 and not any(any(map(str.islower, token.text)) for token in found)
        for parts in reversed(list(self._words(found, tags))):
            part, source, begun = parts[0], PhonemeSource.LEXICON, None
            if len(parts) > 1:
                said, begun = self._together(tuple((p.text, p.tag, p.currency, p.is_head) for p in parts), context)
            elif (said := part.phonemes) is None:
                if part.text.isupper():
                    quiet = shouted and part.text.lower() in _NO_INITIALS
                    part.text = part.text.lower() if quiet else self._as_word(part.text)
                key = part.text, part.tag, part.currency, part.alias
                said, begun, depends = self._known(*key)
                if depends:
                    said, begun, _ = self._known(*key, *context)
            if said is None:
                said, source = self._fallback("".join([part.text for part in parts]))
            context = self._before(context, begun or self._begin(said, part.text, part.tag))
            spoken.append(SpokenToken(part.word, said.replace("ɾ", "T").replace("ʔ", "t"), source))
        spoken.reverse()
        return spoken

    def _words(self, found: Sequence[Token], tags: Sequence[str]) -> Iterator[list[_Part]]:
        """Parts of tokens that are pronounced together; marks, and words before a space, are alone."""
        open_word: list[_Part] = []
        currency: str | None = None
        for place, (token, tag) in enumerate(zip(found, tags, strict=True)):
            texts = self._parts_of(token.text)
            for number, text in enumerate(texts):
                last = number + 1 == len(texts)
                part = _Part(text, tag, token.space and last, token.word)
                if tag in self._tags_of_marks and not (text.isascii() and text.isalpha()):
                    part.phonemes = self._mark(text, tag)
                    currency = text if tag == "$" and text in self._en.CURRENCIES else currency
                elif currency is not None:
                    # A currency's name is said after the last number that follows its sign.
                    if tag != "CD":
                        currency = None
                    elif last and "CD" not in tags[place + 1 : place + 2]:
                        part.currency = currency
                elif text == "2" and 0 < number < len(texts) - 1:
                    part.alias = "to" if (texts[number - 1][-1] + texts[number + 1][0]).isalpha() else None
                alone = part.alias is not None or part.phonemes is not None
                if open_word and not alone:
                    part.is_head = False
                    open_word.append(part)
                else:
                    if open_word:
                        yield open_word
                    open_word = [part]
                if alone or part.space:
                    yield open_word
                    open_word = []
        if open_word:
            yield open_word

    def _cut(self, text: str) -> list[str]:
        whole = text.isascii() and text.isalpha() and text[1:].islower()
        parts: list[str] = [text] if whole else self._en.subtokenize(text)
        return parts

    def _mark(self, text: str, tag: str) -> str:
        if tag == "$" and text in self._en.CURRENCIES:
            return ""
        if tag == ":" and text in ("-", "–"):
            return "—"
        said: str | None = self._en.PUNCT_TAG_PHONEMES.get(tag)
        return "".join(sign for sign in text if sign in self._en.PUNCTS) if said is None else said

    def _look_up(
        self, text: str, tag: str, currency: str | None, alias: str | None, *context: bool | None
    ) -> tuple[str | None, _Context | None, bool]:
        """Phonemes of a part that stands alone, and how they begin, None if the lexicon lacks it; whether the context
        decides them.
        """
        following = _Watched(self._en.TokenContext(*context))
        if text.isascii() and text.isalpha() and not (alias or currency):
            # The lexicon's call would first make ASCII of other letters, one by one.
            stress = None if text.islower() else self._lexicon.cap_stresses[text.isupper()]
            phonemes, _ = self._lexicon.get_word(text, tag, stress, following)
        else:
            phonemes, _ = self._lexicon(_Part(text, tag, alias=alias, currency=currency), following)
        return phonemes, None if phonemes is None else self._beginning(phonemes, text, tag), following.read

    def _before(self, context: _Context, begun: _Context) -> _Context:
        """Context of the word before one that begins so."""
        return (context[0], begun[1]) if begun[0] is _UNKNOWN else begun

    def _beginning(self, phonemes: str, text: str, tag: str) -> _Context:
        begun = self._en.G2P.token_context(self._en.TokenContext(_UNKNOWN), phonemes, _Part(text, tag))
        return begun.future_vowel, begun.future_to

    def _as_word(self, text: str) -> str:
        """A word in capitals that no lexicon has, and that can be said, as a name: headings and shouting aren't
        spelled.
        """
        if _CAPITALS.fullmatch(text) and text not in self._lexicon.golds and text.lower() not in self._lexicon.golds:
            return text if text.lower() in self._lexicon.silvers else text.capitalize()
        return text

    def _joined(
        self, written: tuple[tuple[str, str, str | None, bool], ...], context: _Context
    ) -> tuple[str | None, _Context]:
        """Phonemes of parts without a space between them, None if one is unknown, and the context of the word before.

        Args:
            written: text, tag, currency and `is_head` of each part.
        """
        parts = [_Part(text, tag, currency=currency, is_head=head) for text, tag, currency, head in written]
        left, right = 0, len(parts)
        while left < right:
            whole = _merged(parts[left:right])
            phonemes = None if whole is None else self._lexicon(whole, self._en.TokenContext(*context))[0]
            if whole is not None and phonemes is not None:
                parts[left].phonemes = phonemes
                for part in parts[left + 1 : right]:
                    part.phonemes = ""
                context = self._before(context, self._begin(phonemes, whole.text, whole.tag))
                left, right = 0, left
            elif left + 1 < right:
                left += 1
            else:
                left, right = 0, right - 1
                if not self._en.SUBTOKEN_JUNKS.issuperset(parts[right].text):
                    return None, context
                parts[right].phonemes = ""
        return self._in_one_stress(parts), context

    def _in_one_stress(self, parts: list[_Part]) -> str:
        """Phonemes of all parts: with spaces if they are of several kinds, else with fewer primary stresses."""
        en = self._en
        said = [part.phonemes or "" for part in parts]
        text = "".join(part.text for part in parts)
        kinds = {
            0 if sign.isalpha() else 1 if en.is_digit(sign) else 2 for sign in text if sign not in en.SUBTOKEN_JUNKS
        }
        if len(kinds) > 1 or "/" in text:
            return " ".join(filter(None, said))
        stresses = [
            (en.PRIMARY_STRESS in each, en.stress_weight(each), place) for place, each in enumerate(said) if each
        ]
        if len(stresses) == 2 and len(parts[stresses[0][2]].text) == 1:
            weakened = stresses[1:]
        elif sum(stressed for stressed, _, _ in stresses) > (len(stresses) + 1) // 2:
            weakened = sorted(stresses)[: len(stresses) // 2]
        else:
            weakened = []
        for _, _, place in weakened:
            said[place] = en.apply_stress(said[place], _WEAKER)
        return "".join(said)


def _merged(parts: list[_Part]) -> _Part | None:
    """Several parts as one; None if one of them has its phonemes already."""
    if any(part.phonemes is not None for part in parts):
        return None
    most = max(parts, key=lambda part: sum(1 if sign == sign.lower() else 2 for sign in part.text))
    currencies = [part.currency for part in parts if part.currency]
    currency = max(currencies, default=None)
    return _Part("".join(part.text for part in parts), most.tag, currency=currency, is_head=parts[0].is_head)
