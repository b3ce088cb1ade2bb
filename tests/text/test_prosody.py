"""Rules of expression: questions, headings, items, paragraphs, and none in texts that only look so."""

from itertools import product

import pytest

from benchmarks.inflections.rules import TEMPLATES, made_up
from benchmarks.measuring.evaluation.sentences import middling, questions
from frontend.planning.planner import _segment as plan_segment
from shm.inflection import InflectedSpan
from tests.text.letters import LetterG2P
from tests.text.markup.test_inflections import segment
from text.espeak.ipa import ALPHABET
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.settings import TextSettings
from text.units.prosody import RULES, LayoutElement, Pauses, place_of, rises
from text.words.sanitize import sanitize
from text.words.segment import Notation, Segment, Sentence

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


_letters = TextPipeline(LetterG2P())


def inflected(text: str, language: str = "en-us", emphasis: float = 1.0) -> dict[str, object]:
    sentences = _letters.emphasising(emphasis).sentences(text, language, KOKORO)
    words = [word for sentence in sentences for unit in sentence for word in unit.words]
    return {word.written: word.inflection for word in words if word.inflection}


@pytest.mark.parametrize("rule", TEMPLATES)
def test_a_rule_finds_words_in_all_its_sentences_and_no_other_rule_does(rule: str) -> None:
    for text in made_up(rule, 30):
        assert set(inflected(text).values()) == {RULES[rule].inflection}, text
        assert inflected(text, "es") == {}
        assert inflected(text, emphasis=0.0) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("She packed apples, green pears, and bread for the trip.", "apples, pears,"),
        ("The bridge (built by her uncle) was closed.", "(built by her uncle)"),
        ("The bridge -- built by her uncle -- was closed.", "built by her uncle"),
        ("Would you like strong black tea or coffee?", "tea"),
        ("“Come in!” said Anna.", "said Anna."),
        ("- warm bread\n- the tickets\n- some water", "bread tickets"),
        ("> 1. bread\n> 2. water\n\nThat is all.", "bread"),
        ('Anna said, "Come in."', "Anna said,"),
        ("# The old mill\n\nIt stood by the river.", "The old mill"),
    ],
)
def test_the_words_of_a_rule(text: str, words: str) -> None:
    assert " ".join(inflected(text)) == words


@pytest.mark.parametrize(
    "text",
    [
        "(See the next page.)",
        "The values of f(x) and g(x) differ, and so do the word(s) in it.",
        "It was late — too late.",
        "The trip from nine to five took eight hours - or more.",
        "She came home, and the lights were off.",
        "If it rains, stay inside, because the roof of the shed that we built last year leaks.",
        "Tea or coffee is served at four.",
        "It was so-called “art” for the rich.",
        "The word “said” is a verb.",
        "On 3 May 2021, in London, it rained.",
        "Well, John, where were you?",
        "Are you ready or not?",
        "- It works.\n- It rains, too.\n- It helps.",
        "- open the window and read the next page\n- the end",
    ],
)
def test_texts_that_only_look_so(text: str) -> None:
    assert not inflected(text).keys() - {"not?"}, inflected(text)


def test_ordinary_sentences_stay_as_they_are() -> None:
    plain = [text for text in middling() if not set(text) & set('?!*(…—"“') and text.count(",") < 2]
    assert len(plain) >= 15
    assert [text for text in plain if inflected(text)] == []


@pytest.mark.parametrize(
    ("text", "word", "rule"),
    [
        ("It is **very** late.", "**very**", "marked"),
        ("It is VERY late.", "VERY", "shouted"),
        ("Are you there?", "there?", "question"),
    ],
)
def test_emphasis_is_the_degree_of_every_rule(text: str, word: str, rule: str) -> None:
    own = RULES[rule].inflection
    for degree in (0.5, 1.0, 2.0):
        assert inflected(text, emphasis=degree) == {word: own.times(degree)}
    assert inflected(text, emphasis=0.0) == {}
    assert own.times(2.0).times(0.5) == own
    assert (inflected(text, "es") == {}) is RULES[rule].english


_pipeline = TextPipeline(G2P())


def sentences(text: str, language: str = "en-us") -> list[Sentence]:
    return list(_pipeline.sentences(text, language, KOKORO))


def spans(text: str, language: str = "en-us") -> list[InflectedSpan]:
    found: list[InflectedSpan] = []
    for sentence in sentences(text, language):
        for unit in sentence:
            found += Segment(unit.text, unit.script, len(unit.script), unit.cut, unit.words).inflected()
    return found


def test_questions_of_agents_and_people() -> None:
    wrong = [text for text, rising in questions() if rises(text.split()) != rising]
    assert not wrong


def test_openers_quotes_and_clauses_before_it_change_no_question() -> None:
    before = ["", "And ", "Well, ", "OK, so ", "If it rains, ", "Mum, ", "When you arrive, "]
    asked = {"are you ready?": True, "what is left?": False, "can you call me?": True, "tea or milk?": False}
    wrapped = [("", ""), ("“", "”"), ("(", ")"), ("**", "**")]
    for opener, (question, rising), (left, right) in product(before, asked.items(), wrapped):
        text = f"{left}{opener}{question}{right}"
        assert rises(text.split()) is rising, text
        assert not rises(text.replace("?", ".").split()), text


@pytest.mark.parametrize("text", ["?", "?!", "", "...?", "or?", "to?"])
def test_a_sentence_without_words_breaks_nothing(text: str) -> None:
    assert rises(text.split()) in (True, False)
    assert [span.start for span in spans(text)] == [] or text in ("or?", "to?")


def test_the_last_stress_of_the_last_word_rises_in_english_alone() -> None:
    (span,) = spans("Have you seen the computer?")
    assert span.inflection == RULES["question"].inflection
    *_, last = (unit for sentence in sentences("Have you seen the computer?") for unit in sentence)
    assert last.script[span.start] == "ˈ" and last.script[span.start : span.end].startswith("ˈuT")
    assert spans("Where is the computer?") == []
    for text, rising in (
        ("Did he write?", "ˈI"),
        ("Is it the cats?", "ˈæ"),
        ("Do you know where the station is?", "ˈAʃən ɪ"),
        ("We need apples, lemons, old paper and bread.", "ˈæpᵊl ˈɛmən ˈApəɹ"),
    ):
        whole = plan_segment([unit for sentence in sentences(text) for unit in sentence])
        assert " ".join(whole.script[span.start : span.end] for span in whole.inflected()) == rising
    assert spans("Tienes la computadora?", "es") == []


def test_a_rise_keeps_what_markup_asks_of_the_word() -> None:
    found = [span.inflection for span in segment("[volume:+3] Have you seen the computer?").inflected()]
    assert [(each.rise > 0, each.volume) for each in found] == [(False, 3.0), (True, 3.0), (False, 3.0)]
