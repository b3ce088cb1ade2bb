"""Lexicons in the forms of the CMU dictionary and of W3C's Pronunciation Lexicon Specification."""

import pickle

import pytest

from tests.text.test_prosody import KOKORO
from text.espeak.ipa import from_ipa
from text.g2p import G2P
from text.given import Given
from text.lexicon import Lexicon, line_of, read_entries
from text.markup.marked import Marked
from text.pipeline import TextPipeline

PLS = """<?xml version="1.0" encoding="UTF-8"?>
<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa" xml:lang="en-US">
  <lexeme><grapheme>Nguyen</grapheme><grapheme>Nguyễn</grapheme><phoneme>ˈwɪn</phoneme></lexeme>
  <lexeme><grapheme>W3C</grapheme><alias>World Wide Web Consortium</alias></lexeme>
  <lexeme><grapheme>empty</grapheme></lexeme>
</lexeme_end>
""".replace("</lexeme_end>", "</lexicon>")


def test_lines_of_the_cmu_dictionary_are_entries_in_any_capitals() -> None:
    entries, problems = read_entries(
        b";;; comment\nNGUYEN  W IH1 N\nABOUT  AH0 B AW1 T\nNGUYEN(2)  N UW0 Y EH1 N\nmine\tyours\n"
    )
    assert problems == [] and len(entries) == 4
    lexicon = Lexicon(entries[:2])
    for written in ("Nguyen", "NGUYEN", "nguyen,"):
        found = lexicon.find(written, "en-us")
        assert found is not None and found.phonemes == from_ipa("wˈɪn", "en-us")
    assert lexicon.find("Nguyen", "es") is None


def test_a_pls_document_is_read_grapheme_by_grapheme() -> None:
    entries, problems = read_entries(PLS.encode())
    assert problems == []
    assert [(each.word, each.ipa, each.respelling, each.language) for each in entries] == [
        ("Nguyen", "ˈwɪn", None, "en-us"),
        ("Nguyễn", "ˈwɪn", None, "en-us"),
        ("W3C", None, "World Wide Web Consortium", "en-us"),
    ]


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("<lexicon>", "no element found"),
        ("<?xml version='1.0'?><speak/>", "its root is <speak>"),
        ("<lexicon alphabet='x-sampa'/>", "'x-sampa'"),
        ("<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><lexicon/>", "entities"),
    ],
)
def test_what_is_no_lexicon_is_told(document: str, reason: str) -> None:
    entries, (problem,) = read_entries(document.encode())
    assert entries == [] and reason in problem.reason


def test_a_pls_grapheme_of_several_words_is_a_problem_of_its_own() -> None:
    document = PLS.replace("<grapheme>Nguyen<", "<grapheme>New York<")
    entries, (problem,) = read_entries(document.encode())
    assert len(entries) == 2 and (problem.line, "single word" in problem.reason) == (1, True)


def test_an_entry_for_a_part_of_speech_is_found_by_the_sentence() -> None:
    entries, problems = read_entries("polish\t/ˈpoʊlɪʃ/\ten\tadjective\nzork\tzed\t\tnoun\nbad\tb\t\tgerund\n".encode())
    assert [(problem.line, "gerund" in problem.reason) for problem in problems] == [(3, True)]
    assert [line_of(entry) for entry in entries] == ["polish\t/ˈpoʊlɪʃ/\ten\tadjective", "zork\tzed\t\tnoun"]
    pipeline = TextPipeline(G2P(), lexicon=lambda: Lexicon(entries))
    found = [word.phonemes for word in pipeline.words("They polish the Polish polish table.", "en-us", KOKORO)]
    assert (found[1], found[-2]) == ("pˈɑlɪʃ", "pˈOlɪʃ")
    given = Given(Marked.plain("zork"), Lexicon(entries), "en-us", lambda text, language: [])
    assert pickle.loads(pickle.dumps(given)).keeps("zork", 0, 4) == [(0, 4)]
    found = [word.phonemes for word in pipeline.words("I zork the zork.", "en-us", KOKORO)]
    assert (found[1] != found[3], found[3]) == (True, "zˈɛd.")
    assert pipeline.settled(["I", "see", "zork", "now"], "en-us") == 2
    assert pipeline.settled(["I", "see", "fork", "now"], "en-us") == 4
