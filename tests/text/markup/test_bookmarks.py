"""SSML's marks: each is reached at a word's beginning, all of them in order, and none of them changes the speech."""

from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.planning.planner import Limits, plan
from frontend.planning.profile import CostProfile
from frontend.timestamps import align
from tests.text.letters import ESPEAK, KOKORO, LetterG2P
from text.markup.marked import Bookmark, Marked, MarkupKind
from text.markup.parse import parse_markup
from text.pipeline import TextPipeline, performed_parts
from text.words.performer import Performer
from text.words.segment import Notation, Segment

PROFILE = CostProfile(0.0, 0.03, 0.0)


def marked(content: str, notation: Notation = KOKORO) -> Marked:
    return parse_markup(MarkupKind.SSML, f"<speak>{content}</speak>", "en-us", notation)


def segments(content: str, notation: Notation = KOKORO) -> list[Segment]:
    sentences = TextPipeline(LetterG2P()).sentences(marked(content, notation), "en-us", notation)
    return list(plan(sentences, PROFILE, 1.0, notation, Limits(max_tokens=60)))


def bookmarks(content: str, notation: Notation = KOKORO) -> list[tuple[str, str]]:
    """Each mark with the word at whose beginning it is reached; in brackets, with the word at whose end."""
    found: list[tuple[str, str]] = []
    for segment in segments(content, notation):
        for word in segment.words:
            found += ((name, word.written) for name in word.bookmarks)
            found += ((name, f"({word.written})") for name in word.bookmarks_after)
    return found


def test_a_mark_is_reached_with_the_word_after_it_and_the_last_ones_after_the_last_word() -> None:
    content = '<mark name="a"/>One two.<mark name="b"/> Three<mark name="c"/> <mark name="d"/>four.<mark name="e"/>'
    assert bookmarks(content) == [("a", "One"), ("b", "Three"), ("c", "four."), ("d", "four."), ("e", "(four.)")]
    assert bookmarks(content, ESPEAK) == bookmarks(content)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ('hel<mark name="a"/>lo world', [("a", "world")]),
        ('one<mark name="a"/>, two', [("a", "two")]),
        ('one <break time="1s"/><mark name="a"/> two', [("a", "two")]),
        ('one <mark name="a">two</mark> three', [("a", "two")]),
        ('a <sub alias="be">b<mark name="a"/></sub> c', [("a", "c")]),
        ('one. *** <mark name="a"/> ***', [("a", "***")]),
        ('one. <metadata><mark name="a"/></metadata> two', []),
        ('in <mark name="a"/>2026 <mark name="b"/>again', [("a", "2026"), ("b", "again")]),
    ],
)
def test_where_marks_belong(content: str, found: list[tuple[str, str]]) -> None:
    assert bookmarks(content) == found


def test_a_mark_without_a_name_is_none() -> None:
    assert bookmarks('one <mark/> two <mark name=""/>') == []


PIECES = st.lists(st.sampled_from(["one", "two.", "Three", "…", "2026", ", four!", "\n\n", "***", "five"]), min_size=1)


@given(pieces=PIECES, where=st.data())
def test_all_marks_come_in_order_and_the_scripts_stay(pieces: list[str], where: st.DataObject) -> None:
    """Bookmarks keep their places anywhere between words, also where many stand side by side."""
    count = where.draw(st.integers(1, 6))
    places = sorted(where.draw(st.lists(st.integers(0, len(pieces)), min_size=count, max_size=count)))
    written: list[str] = []
    for place, piece in enumerate([*pieces, ""]):
        written += (f'<mark name="{n}"/>' for n, at in enumerate(places) if at == place)
        written.append(escape(piece))
    plain = segments(" ".join(pieces))
    with_marks = " ".join(written)
    assert [each.script for each in segments(with_marks)] == [each.script for each in plain]
    if plain:
        assert [name for name, _ in bookmarks(with_marks)] == [str(n) for n in range(count)]


def test_marks_of_several_voices_stay_with_their_words() -> None:
    """A part without a sound gives its marks to the next one."""
    text = "One two. *** Three."
    parts = Marked(text, tuple(Bookmark(text.index(word), word) for word in ("One", "two", "***", "Three")))
    spans = [(0, 9), (9, 13), (13, 19)]
    cast = [performed_parts(parts._cut(*span), Performer((), "en-us"))[0] for span in spans]
    sentences = TextPipeline(LetterG2P()).performed(cast, Performer((), "en-us"), KOKORO, 1.0)
    words = [word for sentence in sentences for unit in sentence for word in unit.words]
    assert [(word.written, word.bookmarks) for word in words] == [
        ("One", ("One",)),
        ("two.", ("two",)),
        ("Three.", ("***", "Three")),
    ]


def test_a_mark_has_the_time_of_its_word() -> None:
    (segment,) = segments('ab <mark name="a"/>cd <mark name="b"/>')
    first, second = align(
        segment.words, [(0, 2400), (2, 4800), (3, 7200), (5, 9600)], lambda sample: sample / 24_000 + 1
    )
    assert (first.bookmarks, first.start) == ((), 1.1)
    assert (second.bookmarks, second.start, second.bookmarks_after, second.end) == (("a",), 1.3, ("b",), 1.4)
