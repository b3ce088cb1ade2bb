"""Chords, decades, telephone numbers, dates, ideographs: what is said has no word of a class that the text lacks."""

import random
import re
import string
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from text.locales.tables import table
from text.normalization.eastern.numerals import Numerals, eastern_words
from text.normalization.english.maths import _QUALITIES
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.sentences.abbreviations import ANYWHERE, cut_words

SETTINGS = Normalization()


def said(text: str) -> str:
    return normalize(text, "en-us", SETTINGS)


@pytest.mark.parametrize(
    "sentence",
    [
        *("{} I late?", "I bought an {} laptop.", "{} and Acer sell it.", "A minor mistake by {} cost a lot."),
        *("The {} guitar stand is flat.", "The major brand is {}.", "Tuning the {} laptop takes time."),
    ],
)
def test_a_word_that_looks_like_a_chord_is_one_among_chords_only(sentence: str) -> None:
    words = [note + quality for note, quality in product("ABCDEFG", _QUALITIES)]
    texts = [sentence.format(word) for word in words]
    assert [said(text) for text in texts] == texts
    chords = [f"It goes {word}, F, C and {word} chord." for word in words]
    assert [text for text, word in zip(chords, words, strict=True) if word in said(text)] == []


@pytest.mark.parametrize(("joint", "spoken"), [("-", " to "), ("–", " to "), (" to ", " to "), (" and ", " and ")])
def test_decades_joined_in_any_form_are_decades(joint: str, spoken: str) -> None:
    names = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")
    tens = range(2, 10)
    for first, last, mark in product(tens, tens, ("", "'")):
        if first < last:
            texts = (f"the 19{first}0s{joint}{mark}{last}0s", f"the {mark}{first}0s{joint}{mark}{last}0s")
            for text, century in zip(texts, ("nineteen ", ""), strict=True):
                assert said(text) == f"the {century}{names[first - 2]}{spoken}{names[last - 2]}"


def test_a_telephone_number_in_words_has_its_words_and_digits_in_order() -> None:
    drawn = random.Random(6)
    digits = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    for _ in range(200):
        parts = [drawn.choice(("GO", "HAUL", "FEDEX", "4", "555", "CALL", "USA")) for _ in range(drawn.randint(1, 3))]
        parts.insert(drawn.randint(0, len(parts)), drawn.choice(("TELL", "HELP")))
        number = drawn.choice(("1-800-", "1 (800) ", "800-", "1.800.")) + "-".join(parts)
        spoken = (" ".join(digits[int(d)] for d in part) if part.isdecimal() else part.lower() for part in parts)
        one = "one " if number[0] == "1" else ""
        assert said(f"Call {number} now.") == f"Call {one}eight hundred {' '.join(spoken)} now."


ABBREVIATIONS = table("en", "abbreviations")


@pytest.mark.parametrize("case", [str.lower, str.title, str.upper])
def test_an_abbreviation_that_is_no_word_is_read_in_any_case_with_a_full_stop_or_without(
    case: Callable[[str], str],
) -> None:
    wrong = []
    for written, full in (
        ABBREVIATIONS["plain"] | cut_words("plain") | {"incl": "included", "excl": "excluded"}
    ).items():
        for stop in ("", "."):
            sentence = "she saw {}, he said" if case is not str.upper else "SHE SAW {}, HE SAID"
            heard = said(sentence.format(case(written) + stop)).lower()
            if heard != sentence.format(full).lower() and not (written == "bc" and case is str.title):
                wrong.append((written, heard))
    assert wrong == []


@pytest.mark.parametrize("language", ["en-us", "en-gb", "es", "fr-fr", "it", "pt-br", "hi"])
def test_a_year_and_month_are_the_same_in_either_order(language: str) -> None:
    choose = random.Random(language)
    for _ in range(40):
        year, month = choose.randrange(2013, 2099), choose.randrange(1, 13)
        iso, slashed = (
            normalize(f"({each})", language, SETTINGS) for each in (f"{year}-{month:02}", f"{month:02}/{year}")
        )
        assert iso == slashed and f"-{month:02}" not in iso


def test_a_slash_before_the_next_year_is_a_span() -> None:
    for year in range(1950, 2050):
        spans = {said(f"the {year}/{last} season") for last in (year + 1, f"{(year + 1) % 100:02}")}
        assert all(" to " in each and "over" not in each and str(year) not in each for each in spans), spans


@pytest.mark.parametrize("length", [7, 8, 10, 12, 40])
def test_a_hash_after_its_word_is_its_digits_and_letters(length: int) -> None:
    choose = random.Random(length)
    for _ in range(60):
        digits = "".join(choose.choice("0123456789abcdef") for _ in range(length - 1)) + choose.choice(string.digits)
        wanted = " ".join(num2words(int(digit)) if digit.isdigit() else digit.upper() for digit in digits[:12])
        cue = choose.choice(["commit", "Commits", "SHA", "the hash", "revert"])
        heard = said(f"{cue} {digits} is old").removeprefix(f"{cue} ").removesuffix(" is old")
        assert heard.replace(",", "") == wanted, digits


def test_an_ending_that_is_not_the_number_s_own_is_no_ordinal() -> None:
    for number in range(5, 40):
        text = said(f"He weighs {number}st now.")
        own = number % 10 == 1 and number != 11
        assert ("stone" in text) is not own, text


def test_two_numbers_with_a_slash_are_a_date_a_score_or_a_fraction_by_their_words() -> None:
    for day in (13, 17, 19, 22, 23, 26, 29):
        assert said(f"See you on Fri 6/{day}.").startswith("See you on Friday June ")
        assert " out of " in said(f"She got 6/{day}.")
    for above, below in ((1, 2), (2, 3), (3, 4), (5, 8), (7, 16)):
        assert " out of " not in said(f"About {above}/{below} of them left.")


def test_a_range_whose_unit_stands_at_both_ends_is_read_as_one_whose_unit_stands_once() -> None:
    units = [unit for unit in table("en", "units")["units"] if unit.isalpha() and len(unit) > 1]
    both = {unit: said(f"It takes 15{unit}-20{unit} of it.") for unit in units}
    once = {unit: said(f"It takes 15-20{unit} of it.") for unit in units}
    differ = {unit for unit in units if not any(map(str.isdecimal, once[unit])) and both[unit] != once[unit]}
    assert differ == set()
    assert sum(not any(map(str.isdecimal, words)) for words in once.values()) > 100


@pytest.mark.parametrize("form", ["€{},{:02}", "{},{:02} €", "€{:,},{:02}", "EUR {},{:02}"])
def test_an_amount_with_a_comma_before_its_hundredths_is_read_as_one_with_a_point(form: str) -> None:
    drawn = random.Random(3)
    for _ in range(50):
        whole, hundredths = drawn.randint(2, 9_999), drawn.randint(11, 99)
        written = form.format(whole, hundredths) if "{:,}" not in form else f"€{whole:,}".replace(",", ".")
        written = written if "{:,}" not in form else f"{written},{hundredths}"
        assert said(f"It costs {written} here.") == said(f"It costs €{whole:,}.{hundredths} here.")


def test_days_and_months_at_both_ends_of_a_span_are_dates_and_parts_of_a_measure_are_not() -> None:
    drawn = random.Random(5)
    for joint in (" to ", "-", "–"):
        for _ in range(50):
            first, last = drawn.sample(range(1, 13), 2)
            day, other = drawn.randint(17, 28), drawn.randint(17, 28)
            dated = said(f"We are away {first:02}/{day}/26 to {last:02}/{other}/26.")
            assert said(f"We are away {first}/{day}{joint}{last}/{other}.") == dated.replace(", twenty twenty-six", "")
    assert said("Use 1/2 to 3/4 cup.") == "Use one half to three quarters of a cup."


def test_a_part_of_a_year_is_read_with_its_year() -> None:
    """Quarters and halves before a year with an apostrophe, in any case and joint."""
    for part, number, joint, sign, year in product("QHq", "1234", ("", " ", "-"), "'’", range(20, 27)):
        text = f"({part}{number}{joint}{sign}{year})"
        assert said(text) == f"({part.upper() if joint != ' ' else part}{number} {num2words(year)})"


UNITS = table("en", "units")["units"]
NAMED = {symbol: name if isinstance(name, str) else name[0] for symbol, name in UNITS.items() if symbol.isalpha()}
STATES = table("en", "addresses")["states"]
SHORT_STATES = table("en", "addresses")["stopped_states"]


def test_a_unit_after_per_is_its_name_in_the_singular() -> None:
    wrong = {
        unit for unit, name in NAMED.items() if len(unit) > 1 and f"per {name} " not in said(f"It is 5 per {unit} now.")
    }
    assert wrong == set()


def test_a_unit_that_a_hyphen_joins_describes_what_follows_its_full_stop() -> None:
    for unit in table("en", "units")["cues"]["stopped"].split():
        heard = said(f"It is a 65-{unit}. OLED.")
        assert heard.startswith("It is a sixty-five ") and "." not in heard[:-1] and "\n" not in heard, heard


@pytest.mark.parametrize("sign", ["·", "•", "|", "/"])
def test_a_spaced_sign_between_parts_of_a_line_is_a_pause(sign: str) -> None:
    parts = ("Lesson 4", "Rated PG", "3 apples left", "Free")
    assert said(f" {sign} ".join(parts)) == ", ".join(parts)


def test_a_state_is_read_after_its_party_and_its_town() -> None:
    for short, name in STATES.items():
        assert said(f"Ed Lee (D-{short}) won.") == f"Ed Lee (Democrat of {name}) won."
    for short, name in SHORT_STATES.items():
        assert said(f"Ed Lee (R-{short}.) won.") == f"Ed Lee (Republican of {name}) won."
        assert said(f"He left Salem, {short}., then.") == f"He left Salem, {name}, then."


def test_a_long_number_after_its_sign_or_word_is_said_digit_by_digit() -> None:
    drawn = random.Random(7)
    for before, length in product(("#", "no. ", "number "), range(6, 13)):
        code = str(drawn.randrange(10 ** (length - 1), 10**length))
        words = " ".join(num2words(int(digit)) for digit in code)
        assert said(f"See {before}{code} now.") == f"See number {words} now."


def test_what_an_amount_is_paid_for_is_read_in_full() -> None:
    periods = table("en", "currencies")["periods"]
    for short in table("en", "currencies")["cues"]["rates"].split():
        period = f"per {periods[short]}".replace("per each", "each")
        assert {said(f"It is £850{gap}{short}.") for gap in ("", " ")} == {
            f"It is eight hundred fifty pounds {period}."
        }


def test_a_bare_hour_before_a_time_is_one_too() -> None:
    for first, last in product(range(1, 13), range(1, 13)):
        assert said(f"Open {first}-{last}:30.") == f"Open {num2words(first)} to {num2words(last)} thirty."


def test_a_relation_glued_to_its_words_is_read() -> None:
    for sign, words in (("<", "is less than"), (">", "is greater than"), ("≤", "is less than or equal to")):
        for name, number in product(("P", "eGFR", "age"), ("60", "0.05", ".05")):
            assert said(f"({name}{sign}{number})").startswith(f"({name} {words} "), sign


def test_the_part_of_a_standard_is_no_range() -> None:
    for name in table("en", "numerals")["cues"]["standards"].upper().split():
        assert said(f"See {name} 639-1.") == f"See {name} six hundred thirty-nine dash one."
        assert said(f"See {name} 100-400.") == f"See {name} one hundred to four hundred."


def test_a_decimal_keeps_its_point_whatever_letters_are_glued_to_it() -> None:
    drawn = random.Random(8)
    for _ in range(60):
        before, after = drawn.choice(("f/", "x", "Q", "chr", "HTTP/")), drawn.choice(("", "B", "q", "-III"))
        whole, part = drawn.randrange(1, 99), drawn.randrange(1, 9)
        words = f"{num2words(whole)} point {num2words(part)}"
        assert words in said(f"the {before}{whole}.{part}{after} here"), (before, whole, part, after)


_UNHALVED = ("yo", "sf", "ly", "ºC", "ºF")


def test_half_of_any_unit_is_said_with_its_name() -> None:
    heard = {unit: said(f"It is ½ {unit}, yes.") for unit in NAMED if len(unit) > 1 and unit not in _UNHALVED}
    assert [unit for unit, words in heard.items() if "It is half a" not in words and unit not in ("st", "in")] == []


def test_a_stop_that_ends_no_sentence_is_not_said() -> None:
    drawn = random.Random(9)
    for _ in range(80):
        short = "".join(drawn.choices("bcdfghjklmnpqrstvwxz", k=drawn.randint(3, 5)))
        for text in (f"See {short}. 40 there.", f"The {short}. Wilton left.", f"It fell 4%; {short}. 15 now."):
            heard = said(text)
            assert "\n" not in heard and ". " not in heard, (text, heard)
    assert said("We saw it all. Tom left.").count("\n") == said("It was hmm. Tom left.").count("\n") == 1


def test_a_word_keeps_its_stop_where_the_next_sentence_begins_small() -> None:
    lines = (Path(__file__).parents[1] / "ends.txt").read_text()
    ends = {word for word in re.findall(r" ([a-z]{2,5})\.\|", lines) if re.search("[aeiouy]", word)}
    heard = [said(f"We saw the {word}. npm failed (again. xoxo).") for word in sorted(ends)]
    assert [line for line in heard if ". npm" not in line or "again. xoxo" not in line] == [] and len(ends) > 40


def test_a_symbol_before_a_noun_is_its_unit_in_the_singular_but_before_a_mass() -> None:
    cues = table("en", "units")["cues"]
    for unit in cues["attributive"].split():
        one = NAMED.get(unit) or UNITS[unit]
        assert f" {one if isinstance(one, str) else one[0]} gizmo" in said(f"Use 30{unit} gizmos, no fuse."), unit
    assert all(f"sixteen gigabytes {mass}" in said(f"It has 16 GB {mass} in it.") for mass in cues["masses"].split())


@pytest.mark.parametrize("joint", ["/", "., ", "-"])
def test_days_in_a_row_are_days(joint: str) -> None:
    names = table("en", "calendar")["days"]
    for first, last in product(names, names):
        heard = said(f"Open {first[:3]}{joint}{last[:3]} 9 a.m.")
        assert first in heard and last in heard, heard


def test_a_word_before_a_year_and_before_another_number() -> None:
    table_of = table("en", "abbreviations")
    for short, full in table_of["dated"].items():
        assert full in said(f"It was {short}. 1847 here.") and full not in said(f"It was {short}. 12 here.")
        assert table_of["labels"].get(short, ANYWHERE.get(short)) in said(f"It was {short}. 12 here.")


def test_a_letter_after_a_numeral_is_its_own_word() -> None:
    for name, (numeral, value), letter in product(
        ("stage", "Type", "class"), (("II", "two"), ("III", "three"), ("IV", "four")), "ABab"
    ):
        assert said(f"It is {name} {numeral}{letter}.") == f"It is {name} {value} {letter.upper()}."
        assert said(f"It is {name} ID 7.") == f"It is {name} ID 7."


def test_versions_joined_to_a_named_one_are_versions() -> None:
    for joint in ("to", "and", "or", "through"):
        assert (
            said(f"Python 3.11 {joint} 3.14 work.") == f"Python three point eleven {joint} three point fourteen work."
        )


def test_a_greek_letter_is_named_beside_others() -> None:
    for letter, name in zip("αβγΔθλΣ", ("alpha", "beta", "gamma", "delta", "theta", "lambda", "sigma"), strict=True):
        assert said(f"so {letter}T fell") == f"so {name} T fell" and f" {name} " in said(f"so 2{letter} fell")


def test_stars_are_counted_and_boxes_are_told() -> None:
    for full in range(1, 5):
        assert said(f"{'★' * full}{'☆' * (5 - full)} fine") == f"{full} star{'s' * (full > 1)} fine"
    assert said("☐ Milk") == "unchecked: Milk" and said("☑ Milk") == "checked: Milk" and said("★ New ★") == "New"


def test_several_of_what_is_short_for_one_are_several() -> None:
    plain = table("en", "abbreviations")["plain"]
    for short, full in ABBREVIATIONS["anywhere"].items() | ABBREVIATIONS["labels"].items():
        several = f"{short}s"
        if len(short) > 2 and not set("aeiouy") & set(short.lower()) and several not in plain | ABBREVIATIONS["labels"]:
            assert said(f"See {several}. 4 there.").startswith(f"See {full[:-1]}"), several
            assert said(f"See {several}. 4 there.").endswith("s 4 there."), several


def test_a_masked_number_is_told_by_its_last_digits() -> None:
    for mask, digits in product(("****", "XXXX-XXXX-", "•••• "), ("4471", "0082")):
        words = " ".join(num2words(int(digit)) for digit in digits)
        assert said(f"Card {mask}{digits} is here.") == f"Card ending in {words} is here."


def test_letters_of_a_pair_are_units_only_if_both_are() -> None:
    for first, second in product("VLW", "RQ"):
        assert said(f"see 16{first}/34{second} then") == f"see 16{first}/34{second} then"
        assert said(f"see 16{second}/34{first} then") == f"see 16{second}/34{first} then"
    assert said("a 5V/2A plug") != "a 5V/2A plug"


def _value(said: str) -> int:
    """Number that Mandarin ideographs stand for."""
    total = part = digit = 0
    for sign in said.replace("两", "二"):
        if sign in "兆亿万":
            total, part, digit = total + (part + digit) * 10_000 ** (1 + "万亿兆".index(sign)), 0, 0
        elif sign in "千百十":
            part, digit = part + (digit or 1) * 10 ** (1 + "十百千".index(sign)), 0
        else:
            digit = "零一二三四五六七八九".index(sign)
    return total + part + digit


@given(st.integers(0, 10**16 - 1) | st.integers(0, 9999).map(lambda digits: digits * 10**8 + 7 * digits))
def test_a_mandarin_number_is_what_its_ideographs_stand_for(number: int) -> None:
    said = Numerals(eastern_words("cmn")).number(str(number))
    assert _value(said) == number
    assert number == 0 or not said.endswith("零")
    assert "零零" not in said


def test_a_short_month_needs_no_stop_and_an_initial_is_no_rulers_number() -> None:
    for month in table("en", "calendar")["months"][1:]:
        if month[:3] not in ("Mar", "May"):
            assert said(f"closed in {month[:3]}, or by {month[:3]} it") == f"closed in {month}, or by {month} it"
    rulers = table("en", "references")["rulers"].split()
    assert [
        name for name in rulers for each in "LCDM" if " the " in said(f"{name} {each}. Orr, {name} {each} Orr")
    ] == []
    assert said("a 13kg gas bottle") == said("a 13kg bottle").replace(" bottle", " gas bottle")


def test_a_result_between_two_names_is_a_score_and_no_date() -> None:
    assert normalize("Ajax 2-0 Porto", "en-gb", SETTINGS) == "Ajax two nil Porto"
    assert said("Ajax 2-0 Porto") == "Ajax two to zero Porto" and "June second" in said("June 2-4 Porto")


def test_degrees_of_a_place_are_read_without_their_sign() -> None:
    for north, east, gap in product(("north", "south"), ("east", "west"), (" ", ", ")):
        heard = said(f"It formed near 14.2{north[0].upper()}{gap}48.5{east[0].upper()} today.")
        assert heard == f"It formed near fourteen point two {north}, forty-eight point five {east} today."
