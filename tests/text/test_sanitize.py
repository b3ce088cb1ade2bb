"""Characters that sanitising removes, and those that it must leave."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import grows_with_the_length
from text.words.sanitize import sanitize


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Hello world.", "Hello world."),
        ("one\r\ntwo\rthree\vfour\ffive", "one\ntwo\nthree\nfour\nfive"),
        ("a\r\n\r\nb", "a\n\nb"),
        ("a \n\t \n\n\n b", "a\n\nb"),
        ("line\u2028line\u2029paragraph", "line\nline\n\nparagraph"),
        ("  tabs\tand   spaces  ", "tabs and spaces"),
        ("non\u00a0breaking\u202fspaces\u3000wide\u2003em", "non breaking spaces wide em"),
        ("zero\u200bwidth\ufeff soft\u00adhyphen\u2060 bidi\u202e\u2066\u200f", "zerowidth softhyphen bidi"),
        ("nul\x00l bell\x07 del\x7f", "null bell del"),
        ("\x1b[1;31mred\x1b[0m text", "red text"),
        ("don\x92t \x93quote\x94 \x97 dash\x81", "don’t “quote” — dash"),
        ("lone \ud83d surrogate \udc00", "lone surrogate"),
        ("pair \ud83d\ude00", "pair 😀"),
        ("cafe\u0301 nai\u0308ve", "café naïve"),
        ("é ü ñ ß 你好 こんにちは हिन्दी Ωμέγα", "é ü ñ ß 你好 こんにちは हिन्दी Ωμέγα"),
        ("1\u202f234\u202f567 and 10\u00a0000\u00a0€", "1234567 and 10000 €"),
        ("page\u00a05 of 12\u00a0345x", "page 5 of 12345x"),
        ("in 2024\u00a0100 people", "in 2024 100 people"),
        ("heart \u2764\ufe0f", "heart \u2764"),
        ("\ufffc object", "object"),
        ("a\u200db", "ab"),
        ("\u200cक", "क"),
        ("क\u200d b", "क b"),
        ("👩\u200d💻", "👩💻"),
        ("क\u200c\u200dख", "कख"),
        ("डॉ० राम, उ॰प्र॰, सं० १०", "डॉ. राम, उ.प्र., सं. १०"),
        ("", ""),
        (" \r\n\t\u200b ", ""),
    ],
)
def test_what_is_not_heard_goes_and_what_is_heard_stays(text: str, clean: str) -> None:
    assert sanitize(text) == clean


@pytest.mark.parametrize("word", ["क्\u200dष", "नी\u200cलम", "می\u200cخواهم", "শ্র\u200dয"])
def test_joiners_stay_where_a_script_spells_with_them(word: str) -> None:
    assert sanitize(word) == word


_awkward = st.text(
    st.sampled_from(
        "a é1\n\r\t\v\f\x00\x1b[m\x85\x92\u00a0\u00ad\u0301\u200b\u200c\u200d\u2028\u2029\u202f\u3000\ufeffकी्می0"
    )
    | st.characters(),
    max_size=60,
)


@given(_awkward)
def test_sanitising_twice_is_sanitising_once(text: str) -> None:
    once = sanitize(text)
    assert sanitize(once) == once


# Without what takes letters with it or stands for one: terminal codes, Windows-1252's controls, surrogates.
_plain = st.text(
    st.sampled_from("a é1\n\t\x00\u00a0\u00ad\u0301\u200b\u200d\u202fक\u094d\ufeff")
    | st.characters(exclude_characters="\x1b", exclude_categories=["Cc", "Cs"]),
    max_size=60,
)


@given(_plain)
def test_every_letter_and_digit_survives_in_order(text: str) -> None:
    def heard(some: str) -> list[str]:
        return [character for character in unicodedata.normalize("NFKD", some) if character.isalnum()]

    assert heard(sanitize(text)) == heard(text)


@given(_awkward)
def test_layout_is_plain_and_text_is_well_formed(text: str) -> None:
    clean = sanitize(text)
    assert not re.search(r"  | \n|\n |\n{3}|^\s|\s$|[^\S \n]", clean)
    assert not any(
        unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in re.sub("[\n\u200c\u200d]", "", clean)
    )
    assert unicodedata.is_normalized("NFC", clean)


@pytest.mark.parametrize(
    "unit",
    ["a", " ", "\n", "\x1b[", "\x1b[0;", "\u200d", "1\u00a0", "123\u00a0", "e\u0301", "\u0301", "क\u200d", "\r\n "],
)
def test_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    assert grows_with_the_length(lambda length: sanitize((unit * length)[:length]), 10_000)


def test_letters_of_ipa_stay_and_styled_letters_become_plain() -> None:
    ipa = "ˈwɪn ʀ ʏ ɴ ʜ ʟ ɢ ʙ ə ɐ ʃ"
    assert sanitize(ipa) == ipa
    assert sanitize("𝓗𝓮𝓵𝓵𝓸 𝟏 ⓗⓘ ①") == "Hello 1 hi ①"
