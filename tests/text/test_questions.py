"""Questions that rise: which do, and what their words get."""

from itertools import product

import pytest

from benchmarks.measuring.evaluation.sentences import questions
from frontend.planning.planner import _segment as plan_segment
from shm.inflection import InflectedSpan
from tests.text.markup.test_inflections import segment
from tests.text.test_prosody import KOKORO
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.units.expression import RULES
from text.units.prosody import rises
from text.words.segment import Segment, Sentence

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
    ):
        whole = plan_segment([unit for sentence in sentences(text) for unit in sentence])
        assert [whole.script[span.start : span.end] for span in whole.inflected()] == [rising]
    assert spans("Tienes la computadora?", "es") == []


def test_a_rise_keeps_what_markup_asks_of_the_word() -> None:
    found = [span.inflection for span in segment("[volume:+3] Have you seen the computer?").inflected()]
    assert [(each.rise > 0, each.volume) for each in found] == [(False, 3.0), (True, 3.0), (False, 3.0)]
