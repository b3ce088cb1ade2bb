"""Headings, items and paragraphs are read as a reader reads them: with a falling end and a pause."""

import pytest

from text.espeak.ipa import ALPHABET
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.settings import TextSettings
from text.units.prosody import LayoutElement, Pauses, place_of
from text.words.sanitize import sanitize
from text.words.segment import Notation, Sentence

KOKORO = Notation("phonemes", ALPHABET | frozenset(' ;:,.!?—…"()“”'), 510)
_g2p = G2P()


def read(text: str, speed: float = 1.0, pauses: Pauses | None = None) -> list[Sentence]:
    pipeline = TextPipeline(_g2p, pauses=pauses)
    return list(pipeline.sentences(sanitize(text), "en-us", KOKORO, speed))


def endings(text: str, speed: float = 1.0, pauses: Pauses | None = None) -> list[tuple[str, float | None]]:
    return [(sentence[-1].script[-1], sentence[-1].pause) for sentence in read(text, speed, pauses)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# The title\n\nThe text.", [(".", 0.9), (".", None)]),
        ("# The title\nThe text.", [(".", 0.9), (".", None)]),
        ("The title\n=====\n\nThe text.", [(".", 0.9), (".", None)]),
        ("The title\n\nThe text.", [(".", 0.9), (".", None)]),
        ("Is it so?\n\nIt is.", [("?", None), (".", None)]),
        ("- one egg\n- some milk\n- bread", [(".", 0.5), (".", 0.5), ("d", None)]),
        ("1. One egg\n2. Some milk\n\nThat is all.", [(".", 0.5), (".", None), (".", None)]),
        ("He came. She went. They stayed.", [(".", None), (".", None), (".", None)]),
        ("Yes", [("s", None)]),
        ("<h2>The title</h2>\n\nThe text.", [(".", 0.9), (".", None)]),
    ],
)
def test_what_follows_a_line(text: str, expected: list[tuple[str, float | None]]) -> None:
    assert endings(text) == expected


def test_pauses_shorten_with_speed_and_follow_the_settings() -> None:
    assert endings("# A title\n\nText.", speed=2.0)[0] == (".", 0.45)
    pauses = TextSettings(pauses=("heading=2", "item=0.1", "paragraph=3")).layout_pauses
    text = "# A title\n\nA text here.\n\n- one\n- two\n\nThe end."
    assert [pause for _, pause in endings(text, pauses=pauses)] == [2.0, 3.0, 0.1, 3.0, None]


def test_an_items_number_is_read_with_it() -> None:
    (first, second) = read("1. One egg\n2. Some milk")
    assert " ".join(unit.text for unit in first) == "1. One egg"
    assert " ".join(unit.text for unit in second) == "2. Some milk"


def test_a_long_line_is_no_heading() -> None:
    text = "This line has no full stop but it is far too long to be taken for the title of anything at all\n\nText."
    assert place_of(text, 0, text.index("\n")) is LayoutElement.TEXT


@pytest.mark.parametrize(
    ("setting", "text", "expected"),
    [
        ("dash", "He left — she stayed.", [0.4]),
        ("ellipsis", "He left… she stayed.", [0.4]),
        ("parenthesis", "He left (at noon) with her.", [0.4, 0.4]),
        ("quotation", "He said “go away” to her.", [0.4, 0.4]),
        ("dash", "He left, she stayed.", []),
    ],
)
def test_marks_inside_a_sentence_get_the_settings_pauses(setting: str, text: str, expected: list[float]) -> None:
    (plain,) = read(text)
    assert [unit.pause for unit in plain if unit.pause] == []
    pauses = TextSettings(pauses=(f"{setting}=0.4",)).layout_pauses
    (sentence,) = read(text, pauses=pauses)
    assert [unit.pause for unit in sentence if unit.pause] == expected
    (fast,) = read(text, speed=2.0, pauses=pauses)
    assert [unit.pause for unit in fast if unit.pause] == [pause / 2 for pause in expected]
