"""Growing texts: a sentence is complete once no later word can change it, however the text is cut into pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import grows_with_the_length
from text.sentences.growth import LONGEST, Growth, WholeSentences
from text.sentences.sentences import sentences
from text.words.sanitize import sanitize


def complete(pieces: Iterable[str], language: str = "en-us") -> tuple[list[str], str]:
    """The complete sentences, and the text that is held."""
    growth = Growth(language)
    found = []
    for text in pieces:
        growth.add(text)
        while piece := growth.take():
            found.append(piece.text.strip())
    rest = growth.take_rest()
    return found, rest.text if rest else ""


def tokens(text: str) -> list[str]:
    """Pieces as a language model writes them: a space comes with the word after it."""
    return re.findall(r"\s*\w{1,5}|\s*[^\w\s]|\s+", text)


@pytest.mark.parametrize(
    ("text", "found", "held"),
    [
        ("Hello there. How", ["Hello there."], "How"),
        ("Hello there.", [], "Hello there."),
        ("Hello there. ", [], "Hello there. "),
        ("It is Dr. Smith", [], "It is Dr. Smith"),
        ("It costs 3.", [], "It costs 3."),
        ("It costs 3.50 now. Then", ["It costs 3.50 now."], "Then"),
        ("He met J. The", [], "He met J. The"),
        ("He met J. The end", ["He met J."], "The end"),
        ("He met J. Theo", [], "He met J. Theo"),
        ('"Really?" she asked. "Yes."', ['"Really?" she asked.'], '"Yes."'),
        ("Wait... what? No", ["Wait... what?"], "No"),
        ("すごい。本当", ["すごい。"], "本当"),
        ("One line\n\nAnother", ["One line"], "Another"),
        ("# Title\nText", ["# Title"], "Text"),
        ("To buy:\n- milk\n- bread\n-", ["To buy:", "- milk"], "- bread\n-"),
        ("It is **bold. Still bold** here. Then", ["It is **bold. Still bold** here."], "Then"),
        ("Run `a. B` twice. Then", ["Run `a. B` twice."], "Then"),
        ("So:\n```\na. B\n\nc\n```\nEnd. Now", ["So:", "```\na. B\n\nc\n```", "End."], "Now"),
        ("```\na. B\n\nc", [], "```\na. B\n\nc"),
        ("| a. B | c |\n|---|---|\n| d. E | f |", [], "| a. B | c |\n|---|---|\n| d. E | f |"),
    ],
)
def test_what_is_complete(text: str, found: list[str], held: str) -> None:
    assert complete([text]) == (found, held)
    assert [*complete(tokens(text))[0]] == found


def test_a_blank_line_ends_a_paragraph() -> None:
    growth = Growth("en-us")
    growth.add("One. Two.\n\nThree")
    assert [growth.take(), growth.take(), growth.take()] == [
        WholeSentences("One."),
        WholeSentences("Two.", paragraph=True),
        None,
    ]


@pytest.mark.parametrize("text", ["Hello there.", "“Really?”", "Wait…", "すごい。"])
def test_a_text_that_ends_as_a_sentence_does_may_be_taken_as_one(text: str) -> None:
    growth = Growth("en-us")
    growth.add(text)
    assert growth.take() is None
    assert growth.take_ended() == WholeSentences(text)
    assert not len(growth)


@pytest.mark.parametrize("text", ["Hello there", "Hello,", "It costs 3.", "Ask Dr.", "J.", "**Bold.", "```\nx.", " "])
def test_an_unfinished_text_may_not(text: str) -> None:
    growth = Growth("en-us")
    growth.add(text)
    assert growth.take_ended() is None
    assert len(growth) == len(text)


def test_an_endless_sentence_is_cut_at_a_clause() -> None:
    found, held = complete(["and so on, and on "] * (2 * LONGEST // 18))
    assert found and all(len(each) <= LONGEST and each.endswith(",") for each in found)
    assert len(" ".join(found)) + len(held) >= 2 * LONGEST - 40


def test_a_document_is_complete_at_its_end_only() -> None:
    growth = Growth("en-us", whole=True)
    growth.add("<speak>One. Two.\n\nThree. ")
    assert growth.take() is None and growth.take_ended() is None
    growth.add("</speak>")
    assert growth.take_rest() == WholeSentences("<speak>One. Two.\n\nThree. </speak>")


@given(
    st.lists(
        st.sampled_from(
            ["The dog", "barked", "Dr.", "Smith", "3.5", "etc.", "Yes.", "Why?", "U.S.", "He went", "said:", "e.g."]
        ),
        min_size=1,
        max_size=30,
    ),
    st.integers(1, 7),
)
def test_sentences_end_where_they_end_in_the_whole_text(words: list[str], size: int) -> None:
    text = " ".join(["So", *words])  # a writer who begins in lower case may begin each sentence so
    found, held = complete(text[start : start + size] for start in range(0, len(text), size))
    assert [" ".join([*found, held]).split()] == [text.split()]
    whole = list(sentences(sanitize(text), "en-us"))
    assert found == whole[: len(found)]
    assert len(whole) - len(found) <= 2


@pytest.mark.parametrize(
    "text",
    [
        "He asked Dr. Smith about it. It cost 3.50 then, and **a lot. Of. Work** later. " * 40,
        "One line\n\nAnother one. And a third\n- a point\n- two points\n\n" * 60,
        "Before it.\n```\n" + "a. B\n\nc ``` d\n" * 300 + "```\nAfter it. Now",
        "すごい。本当" * 600,
    ],
)
def test_a_long_text_in_one_piece_has_the_same_sentences(text: str) -> None:
    assert complete([text]) == complete(re.findall(r".{1,7}", text, re.DOTALL))


def test_the_time_for_one_piece_grows_with_its_length() -> None:
    """Tens of thousands of characters come in one message: the event loop must not stand still for seconds."""
    assert grows_with_the_length(lambda length: complete(["The quick brown fox jumps. " * length]), 100)


@pytest.mark.parametrize("line", ["a line of code\n", "so ``` and\n", "word "])
def test_the_time_for_a_long_fence_grows_with_its_length(line: str) -> None:
    assert grows_with_the_length(lambda length: complete(["```\n", *[line] * length]), 500)
