"""The user's lexicon: its lines, how words are found, and its file's changes."""

import logging
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from text.lexicon import Entry, Lexicon, LexiconFile, LexiconMatch, Problem, read_entries


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


@settings(max_examples=120, deadline=None)
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
    book = lexicon("x\t/ɧa/\tfr") if not read_entries("x\t/ɧa/\tfr".encode())[1] else None
    assert book is None
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
