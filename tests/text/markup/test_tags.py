"""Short tags: pauses and pronunciations, and the text that stays."""

import contextlib
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.growth import grows_with_the_length
from tests.text.letters import ESPEAK, KOKORO, VOCABULARY
from text.markup.marked import Marked, MarkupKind, Pause, Pronunciation
from text.markup.meanings import MarkupError
from text.markup.parse import parse_markup
from text.words.sanitize import sanitize
from text.words.segment import Notation


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
@settings(max_examples=150, deadline=None)
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
