"""Rows of each language's `forms.toml`: all are found where they are written, and only where their section holds."""

import re

import pytest

from text.locales.tables import languages, table
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.words.sanitize import sanitize

VOICES = {"en": "en-us", "es": "es", "fr": "fr-fr", "it": "it", "pt": "pt-br", "hi": "hi"}
FILLED = {"n": "6", "o": "6th", "c": "K", "t": "14.35", "p": "week", "d": "6", "y": "2024"}
PLACE = re.compile(r"\{([a-z])\}")


def said(text: str, language: str) -> str:
    return normalize(sanitize(text), language, Normalization())


def rows(code: str) -> list[tuple[str, str, str]]:
    """A cue of the section or "", what is written, and what is said."""
    sections = table(code, "forms")
    return [
        (section.get("cues", "").partition(" ")[0], written, words)
        for name, section in sections.items()
        if name != "per"
        for written, words in section.items()
        if written != "cues"
    ]


def fixed_words(words: str) -> list[str]:
    plural = re.sub(r"\([^|()]*\|([^|()]*)\)", r"\1", words)
    return [word for part in PLACE.split(plural)[::2] for word in re.split(r"[\s,.;()-]+", part.lower())]


@pytest.mark.parametrize("code", languages("forms"))
def test_every_row_is_said_as_its_table_says(code: str) -> None:
    wrong = []
    for cue, written, words in rows(code):
        text = PLACE.sub(lambda match: FILLED[match[1]], written)
        spoken = re.split(r"[\s,.;()-]+", said(f"{cue} ; {text} ; so", VOICES[code]).lower())
        if not set(fixed_words(words)) <= set(spoken) | {""}:
            wrong.append((text, words, spoken))
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Meet at 5 PT.", "Meet at 5 PT."),
        ("It is 10m away.", "It is ten meters away."),
        ("Take 2 tabs q6h with food.", "Take 2 tabs every six hours with food."),
        ("Prep takes 10m.", "Prep takes ten minutes."),
        ("Fed. R. Civ. P. 12 applies.", "Federal Rule of Civil Procedure 12 applies."),
        ("Your ref: AB/2024/0178.", "Your ref: A B, two zero two four, zero one seven eight."),
        ("He is 6'4 and fast.", "He is six foot four and fast."),
        ("Simmer 1½-2 hrs.", "Simmer one point five to two hours."),
        ("It was HDMI 2.1 - was it?", "It was HDMI 2.1 - was it?"),
        ("It runs on Windows 10/11 now.", "It runs on Windows ten eleven now."),
        ("Open M-F 6a-10p.", "Open Monday to Friday six a.m. to ten p.m.."),
        ("We got 1.2k likes & 30 in <1hr.", "We got one point two thousand likes and 30 in less than one hour."),
    ],
)
def test_a_form_is_read_by_what_stands_around_it(text: str, expected: str) -> None:
    assert said(text, "en-us") == expected
