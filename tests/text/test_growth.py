"""Growing texts: a sentence is complete once no later word can change it, however the text is cut into pieces."""

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.measuring.evaluation.sentences import answers, evaluation_texts
from frontend.contract.growing_text import GrowingText, TextPart
from frontend.planning.sentences import WrittenText
from tests.growth import grows_with_the_length
from tests.share import share
from tests.text.letters import VOCABULARY
from text.east_asian import missing
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.sentences.growth import LONGEST, UNSPACED, Growth, SettledWords, WholeSentences, opening_of
from text.sentences.sentences import sentences
from text.units.segmentation import add_word
from text.words.sanitize import sanitize
from text.words.segment import Continuation, Notation, SpokenWord, Unit


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
        ("It is <table><td>A. B</td></table> now. Then", ["It is <table><td>A. B</td></table> now."], "Then"),
        ('See {"a": "B. C", "d": 1} there. Then', ['See {"a": "B. C", "d": 1} there.'], "Then"),
        ("{| class=x\n| A. B || C\n|", [], "{| class=x\n| A. B || C\n|"),
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


@example(["etc.", "3.5", "barked", "Yes.", "barked"], 1)
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


CHANGED = (
    "read",
    "live",
    "Doctor",
    "Dr",
    "St",
    "3",
    "3.5 million",
    "$5",
    "5 km",
    "**bold words**",
    "[a link](https://example.com/a)",
    "`code`",
    "the 8",
    "NASA",
    "World War II",
    "No. 5",
    "a.m.",
    "e.g. this",
    "https://example.com",
    '"quoted"',
    "- item",
    "half-past",
    "I'll",
    "und",
    "café",
    "the end",
    "used to",
    "that",
    "May 5",
    "etc.",
    "x = 3",
    "~~gone~~",
    "😀",
)
"""Words that may stand anywhere in a sentence, and change their neighbours; the first two are English ones that are
changed by them."""


HETERONYMS = (
    "They read all of the long books in the small library last year.",
    "You read all of the long books in the small library every year.",
    "The people read aloud to all of the children a long time ago.",
    "The bass in the old hall was loud, and so was the music of the band.",
    "The bow of the small wooden ship was painted green by the two sailors.",
)
"""Words that are pronounced by what comes long after them."""


@cache
def _pipeline() -> tuple[TextPipeline, Notation]:
    return TextPipeline(G2P()), Notation("phonemes", VOCABULARY, 510)


def spoken(text: str, language: str) -> tuple[list[str], list[str]]:
    """The words of a text as they are written, and the phonemes of each without its stress."""
    pipeline, notation = _pipeline()
    units: list[Unit] = [unit for each in pipeline.sentences(text, language, notation) for unit in each]
    found = [
        (word.written, re.sub("[ˈˌ]", "", unit.script[word.start : word.end])) for unit in units for word in unit.words
    ]
    return [written for written, _ in found], [phonemes for _, phonemes in found]


def pieces(text: str, tokens: int) -> list[str]:
    """Pieces of one of three tokenisers: a word with the space before it in pieces of up to 4 or 12 characters, or
    single characters."""
    patterns = (r"\s*\w{1,4}|\s*[^\w\s]|\s+", r"\s*\w{1,12}[^\w\s]*|\s*[^\w\s]+|\s+", r"(?s).")
    return re.findall(patterns[tokens], text)


def wrong(text: str, language: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """The cuts of a text after which other words would be spoken than the whole text's: text, words, and right ones."""
    pipeline, _ = _pipeline()
    whole: tuple[list[str], list[str]] | None = None
    seen = set()
    for begun in {each for kind in range(3) for each in accumulate(pieces(text, kind))}:
        opening = opening_of(begun, language)
        if opening is None or opening in seen:
            continue
        seen.add(opening)
        settled = pipeline.settled(opening.text.split()[: opening.words], language)
        whole = whole or spoken(text, language)
        written, phonemes = spoken(opening.text, language)
        one, other = [(w[:settled], p[:settled]) for w, p in ((written, phonemes), whole)]
        if written == opening.text.split() and one != other:
            yield begun, one[1], other[1]


def changed(text: str, number: int, language: str) -> str:
    """A sentence with things in it that change their neighbours."""
    chance, words = random.Random(number), text.split(" ")
    for _ in range(chance.randint(0, 3)):
        words.insert(chance.randint(0, len(words)), chance.choice(CHANGED[0 if language[:2] == "en" else 2 :]))
    return " ".join(words)


def openings(count: int, language: str) -> Iterator[str]:
    """Sentences of answers and, in English, of the gate's texts, as they are and changed."""
    if language[:2] == "en":
        texts = [*HETERONYMS, *answers(), *(text for text, _ in evaluation_texts())]
    else:
        texts = [*answers(language)]
    for number in range(count):
        text = texts[number % len(texts)]
        yield text if number < len(texts) else changed(text, number, language)


LANGUAGES = ("es", "fr-fr", "hi", "it", "pt-br")


@pytest.mark.parametrize(("language", "count"), [("en-us", 100), ("en-gb", 50), *((each, 20) for each in LANGUAGES)])
def test_words_of_openings_are_those_of_the_whole_text(language: str, count: int) -> None:
    assert not [each for text in openings(count, language) for each in wrong(text, language)]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en-us", *LANGUAGES])
def test_words_of_openings_are_those_of_the_whole_text_in_many_sentences(language: str) -> None:
    assert not [each for text in openings(share(2000), language) for each in wrong(text, language)]


UNSPACED_TEXTS = {
    "ja": ("ので、", 4, "三 3.5万 「引用」 iPhone 一日 十分 ・ **太字** 何 ー 上手 気に入 😀 々"),
    "cmn": ("，", 9, "三 3.5万 “引用” iPhone 一 不 行 长 得 **粗体** 了 😀 只"),
}
"""Words that join clauses, the number of clauses, and pieces that may stand anywhere in them, by language."""


def openings_unspaced(count: int, language: str) -> Iterator[str]:
    """Sentences of answers, and changed ones of clauses with words of several readings."""
    between, most, changes = UNSPACED_TEXTS[language]
    lines = (Path(__file__).parent / f"homographs.{language}.txt").read_text(encoding="utf-8").splitlines()
    clauses = [re.sub(r"\{(.*?):.*?\}", r"\1", line) for line in lines if line]
    yield from answers(language)
    for number in range(count - len(answers(language))):
        chance = random.Random(number)
        characters = [*between.join(chance.sample(clauses, most))]
        for _ in range(chance.randint(0, 3)):
            characters.insert(chance.randint(10, len(characters)), chance.choice([*changes.split(), " "]))
        yield "".join(characters)


def early(opening: SettledWords, text: str, language: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The pieces of an opening that are spoken early, each with its script, and as many of the whole text."""
    pipeline, notation = _pipeline()
    growing = GrowingText()
    source = WrittenText(
        growing,
        lambda part: pipeline.sentences(part.text, language, notation, then=Continuation()),
        lambda texts: pipeline.settled(texts, language),
        UNSPACED[language],
    )
    growing.add(TextPart(opening.text, opening=opening.words))
    with growing.working():
        begun = source.opening()
        if begun is None or not begun.words:
            return [], []
        source.spoke(begun.words)
        growing.add(TextPart(text))
        whole = source.take() or ()
    one, other = (spoken_pieces(units)[: begun.words] for units in (begun.units, whole))
    assert opening.text.startswith("".join(written for written, _ in one))
    return one, other


def spoken_pieces(units: Sequence[Unit]) -> list[tuple[str, str]]:
    """The words as they are written, each with its script."""
    words: list[SpokenWord] = []
    script = ""
    for unit in units:
        script += unit.lead
        for word in unit.words:
            add_word(words, replace(word, start=word.start + len(script), end=word.end + len(script)))
        script += unit.script
    return [(word.written, script[word.start : word.end]) for word in words]


@pytest.mark.parametrize("language", UNSPACED)
@pytest.mark.parametrize("count", [60, pytest.param(share(2000), marks=pytest.mark.slow)])
def test_words_of_openings_without_white_space_are_those_of_the_whole_text(count: int, language: str) -> None:
    if names := missing(language):
        pytest.skip(f"no {names}")
    begun = 0
    for text in openings_unspaced(count, language):
        cuts = {each for kind in range(3) for each in accumulate(pieces(text, kind))}
        found = [early(each, text, language) for each in {opening_of(cut, language) for cut in cuts} if each]
        assert not [(text, one, other) for one, other in found if one != other]
        begun += any(one for one, _ in found)
    assert begun > count / 2


@pytest.mark.parametrize("language", ["en-us", *LANGUAGES])
def test_enough_of_most_answers_is_spoken_before_their_end(language: str) -> None:
    begun = [opening_of(" ".join(text.split(" ")[:8]) + " ", language) for text in answers(language)]
    assert sum(each is not None for each in begun) >= 0.8 * len(begun)


@pytest.mark.parametrize(
    "text",
    ["", "Hello there", "It costs 3 ", "Dr Smith went home and ", "**Bold is the new ", "- I can help you ", "See [a "],
)
def test_what_may_still_change_waits(text: str) -> None:
    assert opening_of(text, "en-us") is None


def test_a_language_without_rules_of_its_own_waits() -> None:
    assert opening_of("Natürlich kann ich dir dabei helfen, ", "de") is None


@pytest.mark.parametrize(
    ("text", "language", "opening", "clause"),
    [
        ("もちろん、お手伝いできますので、まずアプリ", "ja", 15, 5),
        ("もちろん、お手伝いできますので、", "ja", 0, 5),
        ("もちろんお手伝いできますのでまず「アプリ」を", "ja", 0, 0),
        ("当然可以，我来帮您预订周末的酒店，请告诉我", "cmn", 15, 5),
        ("当然可以，我来帮您预订3张周末的票，请告诉我", "cmn", 0, 5),
        ("Of course, ", "ja", 0, 0),
    ],
)
def test_places_of_texts_without_white_space_are_characters(
    text: str, language: str, opening: int, clause: int
) -> None:
    for clauses, place in ((False, opening), (True, clause)):
        found = opening_of(text, language, clauses=clauses)
        assert (found.words if found else 0) == place
        assert found is None or text.startswith(found.text)
