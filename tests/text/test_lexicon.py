"""IPA and the user's lexicon: its lines and forms, how words are found in every language, and its file's changes."""

import logging
import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.text.test_g2p import LANGUAGES
from tests.text.test_prosody import KOKORO
from text.espeak import misaki
from text.espeak.ipa import ALPHABET, UnknownSymbols, from_ipa
from text.g2p import G2P, MixedG2P, ways_to_say
from text.given import Given
from text.lexicon import Entry, Lexicon, LexiconFile, LexiconMatch, Problem, entry_of, line_of, read_entries
from text.markup.marked import Marked
from text.pipeline import TextPipeline
from text.words.segment import Notation, PhonemeSource, Word


def lexicon(*lines: str) -> Lexicon:
    entries, problems = read_entries("\n".join(lines).encode())
    assert not problems
    return Lexicon(entries)


def said(book: Lexicon, token: str, language: str = "en-us") -> str | None:
    found = book.find(token, language)
    return found and (found.phonemes or found.respelling)


def test_a_line_is_a_word_how_it_is_said_and_perhaps_a_language() -> None:
    content = (
        b"\xef\xbb\xbf# mine\n\nnginx\tengine x\r\nSQL\t/\xcb\x88si\xcb\x90kw\xc9\x99l/\ten\nchat\t/\xca\x83a/\tfr-FR\n"
    )
    assert read_entries(content) == (
        [
            Entry("nginx", None, "engine x", None),
            Entry("SQL", "ˈsiːkwəl", None, "en"),
            Entry("chat", "ʃa", None, "fr-fr"),
        ],
        [],
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nginx engine x", "put a tab"),
        ("a\tb\ten\tnoun\td", "put a tab"),
        ("New York\t/njuː/", "'New York' is no single word"),
        ("***\tx", "no single word"),
        ("x\t", "nothing is said for 'x'"),
        ("x\t//", "nothing is said for 'x'"),
        ("x\t/5/", "'5' (U+0035)"),
        ("x\ty\tklingon", "unknown language 'klingon'"),
        ("x\t" + "y" * 201, "longer than 200"),
        ("x\tk\udcff", "isn't UTF-8"),
    ],
)
def test_a_bad_line_is_reported_by_its_number_and_the_rest_works(line: str, reason: str) -> None:
    content = f"a\tb\n{line}\nc\td".encode(errors="surrogateescape")
    entries, (problem,) = read_entries(content)
    assert [entry.word for entry in entries] == ["a", "c"]
    assert problem.line == 2
    assert reason in problem.reason


@given(st.binary(max_size=40) | st.text("a\t/\n# ɪkˈ.5en", max_size=30).map(str.encode))
def test_any_file_is_read(content: bytes) -> None:
    entries, problems = read_entries(content)
    assert len(entries) + len(problems) <= content.count(b"\n") + content.count(b"\r") + 1


def test_a_word_is_looked_up_as_it_is_written_then_in_lower_case() -> None:
    book = lexicon("nginx\tengine x", "Polish\tpole ish", "polish\tpollish", "SQL\tsequel")
    assert [said(book, word) for word in ("nginx", "Nginx", "NGINX")] == ["engine x"] * 3
    assert (said(book, "Polish"), said(book, "polish"), said(book, "POLISH")) == ("pole ish", "pollish", "pollish")
    assert (said(book, "SQL"), said(book, "sql")) == ("sequel", None)


def test_the_entry_that_names_the_language_wins_and_else_the_later_one() -> None:
    book = lexicon("a\tany", "a\tbritish\ten-gb", "a\tenglish\ten", "b\tone", "b\ttwo", "c\tfrench\tfr")
    assert [said(book, "a", language) for language in ("en-gb", "en-us", "es")] == ["british", "english", "any"]
    assert said(book, "b") == "two"
    assert (said(book, "c", "fr-fr"), said(book, "c", "en-us")) == ("french", None)


def test_signs_around_a_word_stay_unless_the_entry_has_them() -> None:
    book = lexicon("C++\tsee plus plus", ".NET\tdot net", "net\tx", "a\tb")
    assert book.find("(C++),", "en-us") == LexiconMatch(1, 4, None, "see plus plus")
    assert book.find("“.NET”", "en-us") == LexiconMatch(1, 5, None, "dot net")
    assert book.find("**net**", "en-us") == LexiconMatch(2, 5, None, "x")
    assert book.find("((((((a))))))", "en-us") == LexiconMatch(6, 7, None, "b")
    for other in ("C", "nets", "a-b", "", "...", "un-net", "$a", "#a", "-a", "C+"):
        assert book.find(other, "en-us") is None


def test_ipa_becomes_the_sounds_of_the_language_that_is_read() -> None:
    book = lexicon("tomato\t/təˈmɑːtəʊ/")
    assert said(book, "Tomato") == "təmˈɑtO"
    assert said(book, "tomato", "en-gb") == "təmˈɑːtQ"


def test_ipa_that_a_language_can_not_say_is_not_used_there(caplog: pytest.LogCaptureFixture) -> None:
    assert read_entries("x\t/ɧa/\tfr".encode())[1]
    both = Lexicon([Entry("x", "ɧa", None, None)])
    with caplog.at_level(logging.WARNING):
        assert both.find("x", "en-us") is both.find("x", "en-us") is None
    assert len(caplog.records) == 1


def changed(path: Path, content: str, nanoseconds: int) -> None:
    path.write_text(content)
    os.utime(path, ns=(nanoseconds, nanoseconds))


def test_a_file_is_read_again_when_it_changes_and_only_then(tmp_path: Path) -> None:
    path = tmp_path / "lexicon.tsv"
    changed(path, "a\tone", 1)
    file = LexiconFile(path)
    first = file.current()
    assert said(first, "a") == "one"
    assert file.current() is first
    changed(path, "a\ttwo", 2)
    assert said(file.current(), "a") == "two"
    changed(path, "a\tthree", 2)
    assert said(file.current(), "a") == "three"
    replacement = tmp_path / "new"
    changed(replacement, "a\tseven", 2)
    replacement.replace(path)
    assert said(file.current(), "a") == "seven"


def test_a_file_that_vanishes_leaves_its_last_words_and_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "lexicon.tsv"
    changed(path, "a\tone", 1)
    file = LexiconFile(path)
    path.unlink()
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        assert said(file.current(), "a") == said(file.current(), "a") == "one"
    assert [record.getMessage() for record in caplog.records] == [
        f"the lexicon {path} can't be read (No such file or directory): its last 1 entries are kept"
    ]
    changed(path, "a\ttwo", 1)
    assert said(file.current(), "a") == "two"


def test_bad_lines_are_logged_and_kept_for_the_status(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "lexicon.tsv"
    changed(path, "a\tone\nb", 1)
    with caplog.at_level(logging.WARNING):
        file = LexiconFile(path)
    (problem,) = file.problems
    assert problem == Problem(2, problem.reason)
    assert f"{path}, line 2 is left out: put a tab" in caplog.text
    changed(path, "a\tone", 2)
    file.current()
    assert file.problems == ()


PLS = """<?xml version="1.0" encoding="UTF-8"?>
<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa" xml:lang="en-US">
  <lexeme><grapheme>Nguyen</grapheme><grapheme>Nguyễn</grapheme><phoneme>ˈwɪn</phoneme></lexeme>
  <lexeme><grapheme>W3C</grapheme><alias>World Wide Web Consortium</alias></lexeme>
  <lexeme><grapheme>empty</grapheme></lexeme>
</lexicon>
"""


def test_lines_of_the_cmu_dictionary_are_entries_in_any_capitals() -> None:
    entries, problems = read_entries(
        b";;; comment\nNGUYEN  W IH1 N\nABOUT  AH0 B AW1 T\nNGUYEN(2)  N UW0 Y EH1 N\nmine\tyours\n"
    )
    assert problems == [] and len(entries) == 3
    lexicon = Lexicon(entries)
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
    ("role", "part"),
    [
        ("verb", "verb"),
        ("claws:VVI", "verb"),
        ("t:NN1", "noun"),
        ("t:JJ", "adjective"),
        ("t:AV0", "adverb"),
        ("x:other", ""),
    ],
)
def test_a_pls_lexeme_is_for_its_role_and_said_in_the_preferred_way(role: str, part: str) -> None:
    ways = '<phoneme>a</phoneme><phoneme prefer="true">ˈzɔːk</phoneme>'
    document = f'<lexicon xml:lang="en-US"><lexeme role="{role}"><grapheme>zork</grapheme>{ways}</lexeme></lexicon>'
    (entry,), problems = read_entries(document.encode())
    assert (entry.ipa, entry.part or "", problems) == ("ˈzɔːk", part, [])


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


def test_an_entry_that_may_have_begun_waits_where_words_have_no_white_space_between_them() -> None:
    entries, _ = read_entries("東京都庁\t/a/\n東京\t/e/\n大阪\t/i/\n".encode())
    pipeline = TextPipeline(G2P(), lexicon=lambda: Lexicon(entries))
    settled = [
        pipeline.settled([f"明日は{text}"], "ja") for text in ("", "東", "東京都", "東京都庁", "東京都庁の大", "東京の")
    ]
    assert settled == [3, 3, 3, 7, 8, 6]
    assert TextPipeline(G2P()).settled(["明日は東"], "ja") == 4


_NOTATION = Notation("phonemes", ALPHABET | frozenset(" .,!?;:—…“”()"), 510)
_g2p = G2P()


def spoken(text: str, language: str, **given: str) -> tuple[Word, ...]:
    lexicon = Lexicon([Entry(word, ipa, None, None) for word, ipa in given.items()])
    pipeline = TextPipeline(MixedG2P(_g2p), lexicon=lambda: lexicon)
    return tuple(pipeline.words(text, language, _NOTATION))


@pytest.mark.parametrize(
    ("language", "text", "word"),
    [
        ("en-us", "We met Siobhan here.", "Siobhan"),
        ("en-gb", "We met Siobhan here.", "Siobhan"),
        ("es", "El Sr. Gómez paga 5 €.", "Gómez"),
        ("es", "Usa el software aquí.", "software"),
        ("es", "Vive en Москва.", "Москва"),
        ("fr-fr", "M. Dupont a trois amis.", "Dupont"),
        ("it", "Il Sig. Rossi dorme.", "Rossi"),
        ("pt-br", "O Sr. Silva dorme.", "Silva"),
        ("hi", "डॉ. शर्मा आए।", "शर्मा"),
        ("en-us", "In 2026 it ends.", "2026"),
        ("es", "En 2026 acaba.", "2026"),
    ],
)
def test_a_given_pronunciation_wins(language: str, text: str, word: str) -> None:
    words = spoken(text, language, **{word: "mina"})
    (given,) = (each for each in words if each.source is PhonemeSource.USER)
    assert given.text.strip(".,") == word
    assert given.phonemes.strip(".") in ("mina", "minɑ")


@pytest.mark.slow
@pytest.mark.usefixtures("language_extras")
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("language", "text", "given"),
    [("ja", "明日は東京で会う。", "東京"), ("cmn", "我们在北京见面。", "北京"), ("ja", "GPT-4を使う。", "GPT-4")],
)
def test_without_spaces_a_given_pronunciation_wins_inside_the_run(language: str, text: str, given: str) -> None:
    (word,) = spoken(text, language, **{given: "mina"})
    assert word.source is PhonemeSource.USER
    assert "mina" in word.phonemes and len(word.phonemes) > len("mina")


def test_the_longest_entry_inside_a_run_is_found_and_none_overlap() -> None:
    lexicon = Lexicon([Entry(word, "mina", None, None) for word in ("東", "東京", "京都")])
    assert [(found.start, found.end) for found in lexicon.inside("東京都の東", "ja")] == [(0, 2), (4, 5)]


@pytest.mark.parametrize(
    ("language", "ipa", "phonemes"),
    [
        ("en-us", "/təˈmeɪtoʊ/", "təmˈAtO"),
        ("en-us", "[təˈmɑː.təʊ]", "təmˈɑtO"),
        ("en-us", "ˈstrɛŋθ", "stɹˈɛŋθ"),
        ("en-us", "bed", "bɛd"),
        ("en-us", "ˈt͡ʃɝtʃ", "ʧˈɜɹʧ"),
        ("en-us", "ˈlɪtl̩", "lˈɪtᵊl"),
        ("en-us", "lɒx", "lɑk"),
        ("en-us", "tʰeɪkˠ", "tAk"),
        ("en-us", "kˈOkəɹO", "kˈOkəɹO"),
        ("en-us", "nu ˈjɔɹk", "nu jˈɔɹk"),
        ("en-gb", "təˈmɑːtəʊ", "təmˈɑːtQ"),
        ("en-gb", "goʊ beə", "ɡQ bɛː"),
        ("fr-fr", "bɔ̃ʒuʁ", "bɔ\u0303ʒuʁ"),
        ("es", "ˈtʃuro", "ʧˈuro"),
        ("it", "ˈpittsa", "pˈitʦa"),
        ("cmn", "ni↓xau↓", "ni↓xau↓"),
    ],
)
def test_sounds_are_the_models(language: str, ipa: str, phonemes: str) -> None:
    assert from_ipa(ipa, language) == phonemes


@pytest.mark.parametrize(("ipa", "symbols"), [("k5t%5", "5%"), ("b(ə)", "()"), ("", ""), ("/ ˈ/", ""), ("ʰ", "")])
def test_what_has_no_sound_is_named(ipa: str, symbols: str) -> None:
    with pytest.raises(UnknownSymbols) as refusal:
        from_ipa(ipa, "en-us")
    assert refusal.value.symbols == symbols


@given(
    st.text("təˈmeɪtoʊ͡ʃdʒɝ̩ː./ gaɑ5ç̃œ", max_size=12) | st.text(max_size=4), st.sampled_from(["en-us", "en-gb", "fr-fr"])
)
def test_any_text_is_sounds_of_the_alphabet_or_refused(ipa: str, language: str) -> None:
    en = misaki.english()
    alphabet = {"en-us": en.US_VOCAB | {"T"}, "en-gb": en.GB_VOCAB}.get(language, ALPHABET)
    try:
        phonemes = from_ipa(ipa, language)
    except UnknownSymbols:
        return
    assert phonemes.strip() == phonemes != ""
    assert set(phonemes) <= alphabet | {" "}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("word", ["Niamh", "read", "queso", "C++", "नमस्ते", "don't", "B2B", "é", "7", "Ω", "😀"])
def test_every_way_that_is_offered_can_be_kept_and_is_then_the_first(word: str, language: str) -> None:
    for way in ways_to_say(word, language, _g2p):
        kept = Lexicon([entry_of(word, f"/{way.phonemes}/", language)])
        first = ways_to_say(word, language, _g2p, kept)[0]
        assert (first.phonemes, first.how) == (from_ipa(way.phonemes, language), "now (your lexicon)")


@pytest.mark.parametrize("joint", ["—", "–", "--", "…", ",", ";"])
@pytest.mark.parametrize("language", ["en-us", "es", "fr-fr"])
def test_words_that_a_sign_joins_without_a_space_are_found_each(joint: str, language: str) -> None:
    book = lexicon("Vrozek\t/bu/", "Kowal-Nyk\t/du/")
    for text in (f"Vrozek{joint}Kowal-Nyk", f"so{joint}Vrozek", f"Vrozek{joint}so"):
        pieces = [found.phonemes for found in book.joined(text, language)]
        assert pieces == [said for word, said in (("Vrozek", "bu"), ("Kowal-Nyk", "du")) if word in text]
        words = TextPipeline(_g2p, lexicon=lambda: book).words(f"It was {text}.", language, KOKORO)
        phonemes = "".join(word.phonemes for word in words)
        assert all(piece in phonemes for piece in pieces if piece), text
