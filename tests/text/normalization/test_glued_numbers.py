"""Numbers with letters and signs glued to them in any order: nothing fails, and each number is said."""

import random
import re
import unicodedata
from itertools import pairwise

import pytest
from num2words import num2words

from tests.share import share
from text.locales.english import MONTH_NAMES
from text.locales.tables import languages, table, word_list
from text.normalization.normalize import normalized_sentences
from text.normalization.settings import Normalization
from text.words.sanitize import sanitize

SETTINGS = Normalization().without(["emoji", "markdown"])
NUMBERS = re.split(
    " ", "1 2 3 7 12 14 19 21 50 83 99 111 253 747 911 1024 1984 2026 12345 402917 555123456 12345678901234567"
)
LETTERS = re.split(
    " ",
    "e E k K M B T x h m s th st nd A b c C v V p pm am km kg lb oz ft in EUR USD RM R kn bn mil o O º ª °C ° % ‰ € $ "
    "£ ¥ ₹ # ² ³ ⁺ ½ 円 元 年 月 日 号 点",
)
SIGNS = [*"+-−–—/:.,;'’_^*=~<>()[]&|×÷±\"@!?", " "]
BEFORE = ("", "Room ", "It costs ", "No. ", "at ", "Fig. ")
AFTER = (" is free.", ".", " and more", "")
LANGUAGES = {"en-us": "en", "en-gb": "en", "es": "es", "fr-fr": "fr", "it": "it", "pt-br": "pt_BR"}
LANGUAGES |= {"hi": "", "ja": "", "cmn": ""}
"""Languages with their names in num2words, or "" for those that say numbers in digits or ideographs."""

_WORD = re.compile(r"[^\W\d_]+")
_WRITTEN = re.compile(r"\d+(?:[.,'’ ]\d{2,})*")
_NUMERAL = re.compile(r"\d+|[〇零一二两三四五六七八九十百千]|आध|तिहाई|चौथाई|घन|वर्ग")
_VALUES = (*range(101), 200, 500, *(10**power for power in (3, 6, 9, 12, 15)), 21 * 10**6)
_OTHER_NUMBERS = word_list(
    "halves quarters squared cubic clock double second medio media demi mezzo mezza meio meia duas premier première "
    "primo prima tercer"
) | {*MONTH_NAMES, *(month for code in languages("locale") for month in table(code, "locale")["months"])}
_SHORT = word_list("oh un um a an una une uma")


def glued(drawn: random.Random) -> str:
    kinds = drawn.choices((NUMBERS, NUMBERS, LETTERS, SIGNS), k=drawn.randint(2, 7))
    parts = map(drawn.choice, drawn.choice((kinds, (NUMBERS, LETTERS, SIGNS, NUMBERS))))
    return sanitize(drawn.choice(BEFORE) + "".join(parts) + drawn.choice(AFTER))


def number_words(name: str) -> tuple[str, ...]:
    """Beginnings of the words of numbers, which have endings of gender and number, or (in Italian) go on."""
    said = {num2words(value, lang=name, to=kind) for value in _VALUES for kind in ("cardinal", "ordinal")}
    words = {word for text in said | _OTHER_NUMBERS for word in _WORD.findall(text.lower())}
    return tuple({unidecoded(word)[: max(3, len(word) - 1)] for word in words if len(word) > 2 and word != "and"})


def unidecoded(text: str) -> str:
    return "".join(filter(str.isascii, unicodedata.normalize("NFD", text)))


def numbers_said(text: str, words: tuple[str, ...]) -> int:
    said = (unidecoded(word) for word in _WORD.findall(text.lower()))
    return len(_NUMERAL.findall(text)) + sum(word in _SHORT or word.startswith(words) for word in said)


def wrong(language: str, seed: int, count: int) -> list[tuple[str, str, str]]:
    drawn = random.Random(seed)
    words = number_words(LANGUAGES[language]) if LANGUAGES[language] else ()
    found: list[tuple[str, str, str]] = []
    for _ in range(count):
        text = glued(drawn)
        said = [word for sentence in normalized_sentences(text, language, SETTINGS) for word in sentence.words]
        written = [word.span() for word in re.finditer(r"\S*\d\S*", text)]
        spoken = " ".join(word.said for word in said)
        if any(left.start > right.start or left.end > right.end for left, right in pairwise(said)):
            found.append(("spans that fall", text, spoken))
        elif not all(any(word.start <= start and end <= word.end for word in said) for start, end in written):
            found.append(("a word left out", text, spoken))
        elif numbers_said(spoken, words) < len(_WRITTEN.findall(text)):
            found.append(("a number left out", text, spoken))
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_number_is_said_whatever_is_glued_to_it(language: str) -> None:
    assert wrong(language, 1, 600) == []


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_of_many_numbers_is_said_whatever_is_glued_to_it(language: str) -> None:
    assert wrong(language, 2, share(10_000)) == []
