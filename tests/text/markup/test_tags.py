"""Tags, delimiters and bookmarks of plain markup."""

import contextlib
import re
from collections import Counter
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from frontend.planning.planner import Limits, plan
from frontend.planning.profile import CostProfile
from frontend.timestamps import align
from tests.growth import grows_with_the_length
from tests.text.letters import ESPEAK, KOKORO, VOCABULARY, LetterG2P
from text.markup import delimiters
from text.markup.delimiters import LONGEST_MARK, MOST_CHARACTERS, MOST_SIGNS, ends_of_marks, wrong_delimiters
from text.markup.marked import Bookmark, Marked, MarkupKind, Pause, Pronunciation
from text.markup.meanings import MarkupError
from text.markup.parse import parse_markup
from text.pipeline import TextPipeline
from text.words.performer import Performer
from text.words.sanitize import sanitize
from text.words.segment import Notation, Segment


def parsed(text: str, notation: Notation = KOKORO, language: str = "en-us") -> Marked:
    return parse_markup(MarkupKind.TAGS, text, language, notation)


def test_a_pause_stands_after_the_word_before_it() -> None:
    assert parsed("One [pause:1.5s] two.[pause: 300ms]\n\nThree") == Marked(
        "One two.\n\nThree", (Pause(3, 1.5), Pause(8, 0.3))
    )


def test_a_pause_between_two_words_keeps_them_apart_but_not_a_word_from_its_stop() -> None:
    assert parsed("One[pause:1s]two [Pause:1s]. [pause:1s] ...").text == "One two. ..."


def test_pauses_in_a_row_are_one() -> None:
    assert parsed("a [pause:1s] [pause:.25s]\n[pause:0s] b").annotations == (Pause(1, 1.25),)


def test_a_pronunciation_covers_its_word_and_is_in_the_models_alphabet() -> None:
    marked = parsed("Say ([tomato](/təˈmeɪtoʊ/)), [New  York](/nuˈjɔɹk/)!")
    assert marked.text == "Say (tomato), New York!"
    assert marked.annotations == (Pronunciation(5, 11, "təmˈAtO"), Pronunciation(14, 22, "nujˈɔɹk"))


def test_an_engine_that_speaks_text_says_the_word_as_it_is_written() -> None:
    assert parsed("[tomato](/təˈmeɪtoʊ/)", ESPEAK) == Marked("tomato", (Pronunciation(0, 6, ""),))


@pytest.mark.parametrize(
    "text", ["[docs](https://x.y/z)", "array[0] and [1]", "[paused]", "[a](b)", "see [pause] no", "f(/x/)"]
)
def test_what_is_no_tag_stays(text: str) -> None:
    if "[pause]" in text:
        with pytest.raises(MarkupError, match="names no length"):
            parsed(text)
    else:
        assert parsed(text) == Marked(text)


@pytest.mark.parametrize("wrong", ["", ":", ":abc", ":5", ":-1s", ":1h", ":1e3s", " 1 2s"])
def test_a_pause_without_a_length_is_refused_with_its_place(wrong: str) -> None:
    with pytest.raises(MarkupError, match=r"line 2, column 4: .*write \[pause:1\.5s\]") as refusal:
        parsed(f"One\nis [pause{wrong}] two")
    error = refusal.value
    assert (error.status, error.param, error.code, error.line, error.column) == (400, "input", "invalid_markup", 2, 4)


def test_all_pauses_together_are_bounded() -> None:
    assert parsed("[pause:20s] a [pause:40s]").annotations == (Pause(0, 20.0), Pause(1, 40.0))
    with pytest.raises(MarkupError, match=r"column 15: .*last 60\.001 seconds; at most 60 seconds"):
        parsed("[pause:20s] a [pause:40001ms]")


def test_ipa_that_can_not_be_spoken_is_refused_by_its_symbols() -> None:
    with pytest.raises(MarkupError, match=r"'%' \(U\+0025\)") as refusal:
        parsed("[x](/k%æt/)")
    assert refusal.value.code == "unknown_phoneme"
    with pytest.raises(MarkupError, match=r"'æ'"):
        parsed("[x](/kæt/)", Notation("phonemes", VOCABULARY - {"æ"}, 510))


def test_without_markup_tags_are_text() -> None:
    text = "[pause:1s]  [a](/b/) <speak>"
    assert parse_markup(MarkupKind.NONE, text, "en-us", KOKORO) == Marked(sanitize(text))


_PIECES = st.sampled_from(
    [
        *(
            "[pause:1s]",
            "[pause:",
            "[pause:x]",
            "[cat](/kæt/)",
            "[](/k/)",
            "[a b](/%/)",
            "[",
            "](/",
            "/)",
            "\n",
            "\n\n",
        ),
        *(" ", "\u0301", "e", "각", "\u11a8", "\u200d", "क", "\u00a0000", "1", "\x1b[0m", "\ud800", "\ufeff", "|", "."),
    ]
)


@example("abc\x1b[", KOKORO)
@given(st.lists(_PIECES | st.text(max_size=4), max_size=20).map("".join), st.sampled_from([KOKORO, ESPEAK]))
@example("abc\x1b[", KOKORO)
def test_any_text_is_read_or_refused_and_nothing_outside_tags_is_lost(text: str, notation: Notation) -> None:
    try:
        marked = parsed(text, notation)
    except MarkupError as error:
        assert error.status == 400
        assert 1 <= error.line <= text.count("\n") + 1
        return
    assert sanitize(marked.text) == marked.text
    words = re.sub(r"\[([^\[\]\n]{1,200})\]\(/[^/()\n]*/\)", r"\1", re.sub(r"(?i)\[\s?pause\b[^\[\]\n]*\]", " ", text))
    assert "".join(sanitize(words).split()) == "".join(marked.text.split())
    for annotation in marked.annotations:
        match annotation:
            case Pronunciation(start, end, _):
                assert 0 <= start < end <= len(marked.text)
                assert marked.text[start:end].strip() == marked.text[start:end]
            case Pause(at, seconds):
                assert 0 <= at <= len(marked.text)
                assert seconds > 0


@pytest.mark.parametrize("unit", ["[pause:0s]", "[a](/k/) ", "[a](/", "[pause:", "[", "[a]", "(/x/)", "a\n", "[pause "])
def test_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    def read(length: int) -> None:
        with contextlib.suppress(MarkupError):
            parsed((unit * length)[:length])

    assert grows_with_the_length(read, 5_000)


EXPRESSIONS = ("[.;] ", ";", "(?i)an?d", r"\bcut\b", "^a", r"\n{2,}", "b$", "é+", "(a|b;)+", "[^a]b", ".;")


def joined(spans: list[tuple[int, int]]) -> list[int]:
    """The ends of spans, of which those that touch are one."""
    begins = {begin for begin, _ in spans}
    return [end for _, end in spans if end not in begins]


@given(st.sampled_from(EXPRESSIONS), st.text("ab;. é\ncutnd🙂", max_size=60), st.integers(0, 8))
def test_an_expression_marks_what_pythons_own_marks(expression: str, text: str, times: int) -> None:
    """Also across the edges of the windows in which marks are sought."""
    text = "x" * (times * 17) + text + "\n" * times + text
    pattern = re.compile(expression.replace("$", r"\Z"))
    spans = [found.span() for found in pattern.finditer(text) if 0 < len(found[0]) <= LONGEST_MARK]
    if any(len(found[0]) > LONGEST_MARK for found in pattern.finditer(text)):
        return  # a long mark is none; what follows in it may be
    assert list(ends_of_marks(f"/{expression}/", text)) == joined(spans)


def test_a_mark_is_found_whole_wherever_it_begins() -> None:
    for before in range(3 * LONGEST_MARK):
        for length in (1, 2, LONGEST_MARK - 1, LONGEST_MARK):
            text = "-" * before + "<" + "a" * (length - 1) + "-" * 120
            assert list(ends_of_marks("/<a*/", text)) == [before + length]
        assert list(ends_of_marks("/<a*/", "-" * before + "<" + "a" * LONGEST_MARK + "-" * 120)) == []


@pytest.mark.parametrize(
    "delimiters",
    ["/[/", "/(?=x)/", r"/(a)\1/", "/((a{100}){100}){100}/", "/a*/", "/$/", "/x|/", f"/{'a' * (MOST_CHARACTERS - 1)}/"],
)
def test_an_expression_that_cant_be_used_is_told_why(delimiters: str) -> None:
    assert len(wrong_delimiters(delimiters)) > 20


@pytest.mark.parametrize("fine", ["", "/", "//", ";|", "\n", "/;/", "/a/", r"/\p{Lu}/", "/(x+x+)+y/", ";" * MOST_SIGNS])
def test_signs_and_expressions_that_can_be_used(fine: str) -> None:
    assert not wrong_delimiters(fine)


class Counted:
    """An expression that counts the characters that each search may see."""

    def __init__(self, inner: Any, counts: Counter[str]) -> None:
        self._inner, self._counts = inner, counts

    def search(self, text: str, *args: int) -> Any:
        self._counts["characters"] += len(text)
        return self._inner.search(text, *args)


@pytest.mark.parametrize("expression", ["a.*b|a", "(a|aa|aab?)*c|a", "(.*)(.*)(.*)x|a", "(x+x+)+y", "(a?){90}b|a"])
def test_all_marks_of_a_text_take_time_linear_in_it(expression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """RE2's each search is linear; here the searches of a whole text are, though each could read to its end."""
    counts: Counter[str] = Counter()
    compiled = Counted(delimiters._compiled(expression), counts)
    monkeypatch.setattr(delimiters, "_compiled", lambda _expression: compiled)
    seen = []
    for length in (2000, 4000):
        counts.clear()
        list(ends_of_marks(f"/{expression}/", "a" * length))
        seen.append(counts["characters"])
    assert seen[1] <= 2.1 * seen[0] <= 2.1 * 2000 * (2 * LONGEST_MARK + 1)


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
    cast = [parts._cut(*span).performed(Performer((), "en-us"))[0] for span in spans]
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


def basic(text: str) -> Marked:
    return parse_markup(MarkupKind.BASIC, text, "en-us", KOKORO)


def test_pauses_and_pronunciations_need_no_switch() -> None:
    assert basic("One [pause:1.5s] two[PAUSE: 300ms], a [tomato](/təˈmeɪtoʊ/).") == Marked(
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
    assert basic(text) == Marked(text)


def test_pauses_are_bounded_here_too() -> None:
    with pytest.raises(MarkupError, match="at most 60 seconds"):
        basic("a [pause:61s] b")


@pytest.mark.parametrize("part", ["[pause:1", "[x](/ə", "[[[[", "[pause:0.0s]"])
def test_nothing_takes_more_than_linear_time(part: str) -> None:
    assert grows_with_the_length(lambda length: basic(part * length), 2000)
