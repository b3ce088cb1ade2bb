"""Tags that any text may hold: what is surely a tag has its effect, and everything else stays text."""

import pytest

from tests.growth import grows_with_the_length
from tests.text.letters import KOKORO
from text.markup.marked import Marked, MarkupKind, Pause, Pronunciation
from text.markup.meanings import MarkupError
from text.markup.parse import parse_markup


def parsed(text: str) -> Marked:
    return parse_markup(MarkupKind.BASIC, text, "en-us", KOKORO)


def test_pauses_and_pronunciations_need_no_switch() -> None:
    assert parsed("One [pause:1.5s] two[PAUSE: 300ms], a [tomato](/təˈmeɪtoʊ/).") == Marked(
        "One two, a tomato.", (Pause(3, 1.5), Pause(7, 0.3), Pronunciation(11, 17, "təmˈAtO"))
    )


@pytest.mark.parametrize(
    "text",
    [
        "see [docs](/docs/)",
        "a [road](/путь/) there",
        "see [it](https://x.y/ə/)",
        "[pause] [pause:5] [pause: 1h] [pause:1.2.3s]",
        "[voice:af_bella] [rate:0.5] array[0]",
        "[ x ](//)",
    ],
)
def test_what_may_be_something_else_stays_text(text: str) -> None:
    assert parsed(text) == Marked(text)


def test_pauses_are_bounded_here_too() -> None:
    with pytest.raises(MarkupError, match="at most 60 seconds"):
        parsed("a [pause:61s] b")


@pytest.mark.parametrize("part", ["[pause:1", "[x](/ə", "[[[[", "[pause:0.0s]"])
def test_nothing_takes_more_than_linear_time(part: str) -> None:
    assert grows_with_the_length(lambda length: parsed(part * length), 2000)
