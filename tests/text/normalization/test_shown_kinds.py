"""Titles, labels, States, short months and years whose reading other words of the sentence show."""

from itertools import pairwise

from text.locales.english import MONTH_NAMES
from text.locales.tables import table, word_list
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization

ABBREVIATIONS = table("en", "abbreviations")


def said(text: str) -> str:
    return normalize(text, "en-us", Normalization())


def test_a_title_is_read_without_a_name_after_an_article_or_an_owner() -> None:
    titles = {
        title: ABBREVIATIONS["titles"][title.capitalize()] for title in word_list(ABBREVIATIONS["contexts"]["alone"])
    }
    owners = ("the", "our", "a")
    texts = {
        f"We saw {who} {title.capitalize()}. there.": f"We saw {who} {full} there."
        for title, full in titles.items()
        for who in owners
    }
    assert [text for text, spoken in texts.items() if said(text).casefold() != spoken.casefold()] == []


def test_a_label_is_read_before_its_number_in_brackets() -> None:
    labels = ("para", "sec", "art", "fig", "cl", "subpara", "ch")
    read = {label: said(f"See {label}. (b) here.").split()[1] for label in labels}
    assert [label for label, full in read.items() if label == full.rstrip(".")] == []


def test_the_code_after_a_state_s_name_is_said_digit_by_digit() -> None:
    states = ("Oregon", "Ore.", "Tex.", "New York", "N.Y.", "West Virginia", "Calif.")
    assert [state for state in states if not said(f"Lee, {state} 97214").endswith("nine seven two one four")] == []


def test_short_months_are_read_wherever_another_stands_in_the_sentence() -> None:
    short = {name: full for name, full in MONTH_NAMES.items() if name.istitle() and len(name) == 3 and name != "May"}
    texts = {
        f"We met {one}, {two} & {one} again.": f"We met {short[one]}, {short[two]} and {short[one]} again."
        for one, two in pairwise(short)
    }
    assert [text for text, spoken in texts.items() if said(text) != spoken] == []


def test_years_with_apostrophes_make_a_span() -> None:
    spans = [(first, first + more) for first in range(71, 94) for more in (1, 3)]
    texts = [f"the '{first}-{mark}{last} seasons" for first, last in spans for mark in ("", "'")]
    assert [text for text in texts if " to " not in said(text) or "'" in said(text)] == []
