"""Numbers with labels, letters and signs around them: each is said, and no word is added or lost."""

import random
import re
import string
import unicodedata
from itertools import pairwise
from math import gcd

import pytest
from num2words import num2words

from tests.share import share
from text.locales.english import MONTH_NAMES
from text.locales.tables import languages, table, word_list, word_lists
from text.normalization.normalize import normalize, normalized_sentences
from text.normalization.settings import Normalization
from text.sentences import abbreviations
from text.words.sanitize import sanitize

LABELS = f"{table('en', 'references')['parts']} {table('en', 'references')['places']}".split()
NUMBER_WORDS = frozenset(re.findall(r"[a-z]+", " ".join(map(num2words, range(1001))))) | {"oh"}
FORMS = ("{label} {n}{letter}", "{label} {letter}{n}", "{label} {n}{letter} and {n}", "{label} {n}{letter}–{m}{letter}")
SENTENCES = ("{} is free.", "Go to {} now.", "It is at {}.", "({})")


def wrong(count: int) -> list[tuple[str, str]]:
    """Texts with words other than the label's, numbers and letters, and "to" without a range."""
    drawn = random.Random(4)
    found = []
    for _ in range(count):
        label = drawn.choice(LABELS)
        form, sentence = drawn.choice(FORMS), drawn.choice(SENTENCES)
        letter = drawn.choice(string.ascii_uppercase + "abdef")
        if letter.islower() and form[8] == "{":
            letter = letter.upper()
        n = drawn.choice((drawn.randint(1, 99), drawn.randint(100, 999)))
        named = drawn.choice((label, label.upper(), label.lower()))
        text = sentence.format(form.format(label=named, n=n, m=n + 1, letter=letter))
        said = normalize(text, "en-us", Normalization())
        frame = (sentence + form).format("", label="Apartment" if label == "Apt" else label, n="", m="", letter=letter)
        allowed = NUMBER_WORDS | set(re.findall("[a-z]+", frame.lower())) | ({"to"} if "–" in form else set())
        words = re.findall("[a-z]+", said.lower())
        if (
            not allowed.issuperset(words)
            or words.count("to") != ("–" in text) + ("Go" in text)
            or "\n" in said
            or (any(map(str.isdecimal, said)) and "and" not in text)
        ):
            found.append((text, said))
    return found


@pytest.mark.parametrize("count", [1_000, pytest.param(share(40_000), marks=pytest.mark.slow)])
def test_a_label_is_a_name_numbers_and_letters(count: int) -> None:
    assert wrong(count) == []


GLUED = Normalization().without(["emoji", "markdown"])
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
_WRITTEN = re.compile(r"\d+(?:[.,'’ _]\d{2,})*")
_NUMERAL = re.compile(
    r"\d+|[〇零一幺二两三四五六七八九十百千]|आध|डेढ़|ढाई|तिहाई|चौथाई|घन|वर्ग|ファースト|セカンド|サード|(?:थ|र्स्ट|सेकंड|र्ड)(?!\w)"
)
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


def misread(language: str, seed: int, count: int) -> list[tuple[str, str, str]]:
    drawn = random.Random(seed)
    words = number_words(LANGUAGES[language]) if LANGUAGES[language] else ()
    found: list[tuple[str, str, str]] = []
    for _ in range(count):
        text = glued(drawn)
        said = [word for sentence in normalized_sentences(text, language, GLUED) for word in sentence.words]
        written = [word.span() for word in re.finditer(r"\S*\d\S*", text)]
        spoken = " ".join(word.said for word in said)
        if any(left.start > right.start or left.end > right.end for left, right in pairwise(said)):
            found.append(("spans that fall", text, spoken))
        elif not all(any(word.start <= start and end <= word.end for word in said) for start, end in written):
            found.append(("a word left out", text, spoken))
        elif numbers_said(spoken, words) < len(_WRITTEN.findall(text)):
            found.append(("a number left out", text, spoken))
    return found


@pytest.mark.parametrize(("seed", "count"), [(1, 300), pytest.param(2, share(10_000), marks=pytest.mark.slow)])
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_number_is_said_whatever_is_glued_to_it(language: str, seed: int, count: int) -> None:
    assert misread(language, seed, count) == []


def said(text: str) -> str:
    return normalize(text, "en-us", Normalization())


def test_a_letter_after_the_number_of_any_abbreviated_label_is_no_magnitude() -> None:
    quantities = [*table("en", "references")["quantities"].split(), "revision"]
    labels = [short for short, full in abbreviations.LABELS.items() if full not in quantities]
    magnitude = re.compile("(?:b|m)illion|thousand")
    written = (f"It is in {short.title()}. {number} now." for short in labels for number in ("12B", "4M", "7K"))
    assert [text for text in written if magnitude.search(said(text))] == []


def test_a_unit_after_a_number_in_words_is_read_as_after_digits() -> None:
    cues = word_lists(table("en", "units")["cues"])
    units = [*cues["after_words"], "km", "kg", "lbs", "mph", "GB", "kW", "sq. ft."]
    units += [f"{unit}." for unit in cues["stopped"] - {"in", "pt"}]
    assert [unit for unit in units if said(f"The twelve {unit} off.") != said(f"The 12 {unit} off.")] == []


@pytest.mark.parametrize("below", range(4, 11))
def test_a_fraction_may_have_the_ending_of_its_denominator(below: int) -> None:
    for above in (each for each in range(2, below) if gcd(each, below) == 1):
        words = f"{num2words(above)} {'quarters' if below == 4 else num2words(below, to='ordinal') + 's'}"
        assert {said(f"took {above}/{below}{ending} of it") for ending in ("th", "ths")} == {f"took {words} of it"}


@pytest.mark.parametrize("minute", range(1, 60, 7))
def test_the_first_hour_of_a_day_is_twelve_with_a_half(minute: int) -> None:
    assert said(f"at 0:{minute:02} am") == said(f"at 00:{minute:02} am") == said(f"at 12:{minute:02} am")


def test_a_code_of_ringgit_is_glued_and_a_room_is_apart() -> None:
    assert said("It is RM50.50 in RM 204") == "It is fifty ringgit and fifty sen in Room 204"


@pytest.mark.parametrize("letters", ["AB", "BC", "MN", "KL", "BM", "KM"])
def test_what_stands_after_a_number_stays_where_labels_have_it_too(letters: str) -> None:
    one, other = letters
    wrong = []
    for number in (2, 5, 12):
        for counted in ("dogs", "kg of sand", "years ago", "people", "m of rope", "May"):
            words = said(f"We saw {number}{one} and {number}{other}, {number} {counted} too.").split()
            alone = said(f"We saw {number} {counted} too.").split()[2:]
            series = not set(letters) <= set("KMBT")
            labels = words[3] == one and words[6].rstrip(",") == other
            wrong += [] if words[-len(alone) + 1 :] == alone[1:] and (labels or not series) else [" ".join(words)]
    assert wrong == []
