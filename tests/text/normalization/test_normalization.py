"""Changes that normalisation must never make, and the way back from spoken to written words."""

import re
from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import first_takes_a_fraction, grows_with_the_length
from text.normalization.draft import GAP, MASK
from text.normalization.english.english import CLASSES
from text.normalization.layout import FILLER
from text.normalization.normalize import NormalizedWord, normalize, normalized_sentences, rules_of
from text.normalization.settings import AS_WRITTEN, RULES, Normalization
from text.words.sanitize import sanitize

ALL = Normalization()


def said(text: str, settings: Normalization = ALL, language: str = "en-us") -> str:
    return normalize(sanitize(text), language, settings)


def words_of(clean: str, language: str = "en-us") -> list[NormalizedWord]:
    return [word for sentence in normalized_sentences(clean, language, ALL) for word in sentence.words]


def sources(text: str) -> list[tuple[str, str]]:
    """Each word that is said, and what it was said for."""
    clean = sanitize(text)
    return [(word.said, clean[slice(*word.span)]) for word in words_of(clean)]


SUBJECTS = ["The old man", "Nobody here", "My sister's friend", "I", "A well-read doctor", "We", "Mary", "Part of it"]
VERBS = ["said that it was", "may have been", "didn't think of", "(so they say) was", "is, after all,", "“felt”"]
REST = [
    "in the rain.",
    "a cat; a dog!",
    "what I am?",
    "no good — at all.",
    "like a sun in March.",
    "so-called news...",
    "state of the art: US.",
]
PROSE = [f"{subject} {verb} {rest}" for subject, verb, rest in product(SUBJECTS, VERBS, REST)]


def test_plain_prose_is_left_alone() -> None:
    assert len(PROSE) > 300
    changed = [text for text in PROSE if said(text).split() != text.split()]
    assert changed == []


@pytest.mark.parametrize("language", ["es", "fr-fr", "hi", "it", "ja", "pt-br", "cmn"])
def test_rules_are_switched_off_in_every_language(language: str) -> None:
    text = "El 21/11/2026 a las 10:30, **5 km** por $5 – no. 1/2 😀"
    assert said(text, language=language, settings=AS_WRITTEN).split() == text.split()


@pytest.mark.parametrize("language", ["es", "fr-fr", "hi", "it", "pt-br"])
def test_prose_of_other_languages_is_left_alone(language: str) -> None:
    text = {
        "es": "En el año 1999 los niños de la escuela no se lo dijeron a él, porque no quería.",
        "fr-fr": "Les enfants ont été à l'école et vers midi ils ont vu Mme de Sévigné.".replace("Mme", "madame"),
        "hi": "यह किताब उसने मुझे कल दी थी, लेकिन मैंने अभी तक नहीं पढ़ी।",
        "it": "Gli amici di mia madre sono andati a casa nel 1998 con l'autobus.",
        "pt-br": "Na casa do meu avô há uma árvore que deu muitos frutos em 2010.",
    }[language]
    assert said(text, language=language).split() == text.split()


def test_words_know_what_they_were_said_for() -> None:
    assert sources("On 2026-11-21 (10:30), **pay** $5 for 2 km.") == [
        ("On", "On"),
        ("November", "2026-11-21"),
        ("twenty-first,", "2026-11-21"),
        ("twenty", "2026-11-21"),
        ("twenty-six", "2026-11-21"),
        ("(ten", "(10:30),"),
        ("thirty),", "(10:30),"),
        ("pay", "**pay**"),
        ("five", "$5"),
        ("dollars", "$5"),
        ("for", "for"),
        ("two", "2 km."),
        ("kilometers.", "2 km."),
    ]


def test_words_of_later_paragraphs_know_their_places() -> None:
    text = (
        "# A *b*\n\n- c\n- 5%\n\n| d | e |\n|---|---|\n| f | g |\n\n```py\nx\ny\nz\n```\n\n"
        "See [h i](http://j.k) &amp; l.\nEnd 3kg"
    )
    found = sources(text)
    assert " ".join(word for word, _ in found) == (
        "A b c five percent d, e f: g Python code, three lines. See h i and l. End three kilograms"
    )
    by_word = dict(found)
    assert by_word["b"] == "*b*"
    assert by_word["percent"] == "5%"
    assert by_word["g"] == "g"
    assert by_word["Python"] == "```py\nx\ny\nz\n```"
    assert by_word["h"] == "[h"
    assert by_word["and"] == "&amp;"
    assert by_word["kilograms"] == "3kg"


EXAMPLES = {rule: does.partition(": ")[2] for rule, does in RULES.items()} | {"code_blocks": "```\na\nb\nc\n```"}


def test_every_row_of_a_language_is_a_rule() -> None:
    rows = [rule.name for code in ("en", "es", "fr", "it", "pt", "hi", "ja", "cmn") for rule in rules_of(code)]
    assert {*rows, *(name for name, _ in CLASSES.parsers)} - {"classes"} == set(RULES) - {
        "markdown",
        "code_blocks",
        "layout",
    }


@pytest.mark.parametrize(("rule", "text"), EXAMPLES.items())
def test_a_rule_that_is_off_does_nothing(rule: str, text: str) -> None:
    off = ALL.only("markdown") if rule == "code_blocks" else AS_WRITTEN
    on = Normalization(off.on | {rule})
    assert said(text, on) != said(text, off)
    if rule != "code_blocks":
        assert said(text, off).split() == text.split()


def test_addresses_are_safe_from_other_rules_when_their_own_is_off() -> None:
    text = "See https://example.com/2026-11-21/5km and me.5km@example.com and 10.0.0.1 now."
    assert said(text, ALL.without(["web_addresses"])).split() == text.split()


def test_emoji_can_be_named() -> None:
    named = replace(ALL, emoji_names=True)
    assert said("Great 😀! 🇬🇧 👍🏽", named) == "Great grinning face!\nflag of GB thumbs up sign"
    assert said("Great :) 😀 job.", named) == "Great grinning face job."


def test_a_long_code_block_can_be_read() -> None:
    text = "```py\na = 1\nb = 2\nc = 3\n```"
    assert said(text) == "Python code, three lines."
    read = said(text, ALL.without(["code_blocks"]))
    assert [word for word in read.split() if len(word) == 1] == ["a", "1", "b", "2", "c", "3"]
    assert said(f"So:\n\n{text}\n\nDone.", replace(ALL, skips_code=True)) == "So:\nDone."


@pytest.mark.parametrize("language", ["es", "fr-fr", "it", "pt-br", "hi", "ja", "cmn"])
def test_a_long_code_block_is_mentioned_in_the_texts_language(language: str) -> None:
    heard = said("```py\na = 1\nb = 2\nc = 3\n```", language=language)
    assert "Python" in heard and "lines" not in heard
    assert "Python" not in said("```\na = 1\nb = 2\nc = 3\n```", language=language)


@pytest.mark.parametrize("language", ["de", "sw"])
def test_a_language_without_tables_is_read(language: str) -> None:
    text = "a \\(x^2=1\\) $y^2$ <math><mi>x</mi></math> **5** km 😀\n\n```py\na\nb\nc\n```"
    assert said(text, language=language)


FRAGMENTS = [
    "2026-11-21",
    "11/21/2026",
    "Nov 21",
    "21 Nov.",
    "10:30pm",
    "7 a.m.",
    "1990s",
    "'90s",
    "$1,250.75",
    "$5-10k",
    "50c",
    "5 km",
    "20°C",
    "5'11\"",
    "12%",
    "1/2",
    "2 1/2",
    "½",
    "5-10",
    "3–7",
    "v1.2.3",
    "Python 3.11",
    "555-0199",
    "911",
    "+1 (555) 010-9999",
    "me@example.com",
    "https://example.com/a/b?c",
    "https://a.org/b,😀c",
    "10.0.0.1",
    "/usr/bin",
    "#Tag",
    "@name",
    "#5",
    "Henry VIII",
    "II",
    "I",
    "IV",
    "Dr.",
    "St.",
    "e.g.",
    "etc.",
    "No.",
    "pp.",
    "vs.",
    "Co.",
    "3 + 4 = 7",
    "10^6",
    "x²",
    "≥",
    "×",
    "&",
    "->",
    "-5",
    ".5",
    "007",
    "10k",
    "1e6",
    "😀",
    ":)",
    "**",
    "*",
    "_",
    "`",
    "```",
    "~~~",
    "\n```\n",
    "\n\n",
    "\n- ",
    "\n1. ",
    "\n# ",
    "\n> ",
    "|",
    "\n|---|\n",
    "[",
    "](",
    "[^1]",
    "![",
    "<b>",
    "</b>",
    "<br>",
    "<name>",
    "&amp;",
    "&lt;",
    "(",
    ")",
    ",",
    ".",
    "!",
    "?",
    "—",
    '"',
    "'",
    "1",
    "12",
    "2005",
    "Mon-Fri",
    "C++",
    "\\",
    "$",
    "%",
    "\n---\n",
    "and",
    "in",
]
WORDS = ["apple", "river", "walking", "yellow", "gently"]
_texts = st.lists(st.sampled_from(FRAGMENTS) | st.sampled_from(WORDS) | st.text(max_size=5), max_size=40)


@given(_texts, st.sampled_from([" ", ""]), st.sampled_from(["en-us", "en-gb"]))
def test_nothing_fails_and_places_rise(parts: list[str], joint: str, language: str) -> None:
    clean = sanitize(joint.join(parts))
    words = words_of(clean, language)
    spans = [word.span for word in words]
    assert all(word.said and not re.search(rf"[\s{MASK}{GAP}{FILLER}]", word.said) for word in words)
    assert all(left[0] <= right[0] and left[1] <= right[1] for left, right in pairwise(spans))
    assert all(0 <= start < end <= len(clean) for start, end in spans)
    edges = [0, *(match.start() for match in re.finditer(r"\s", clean)), len(clean)]
    assert all(end in edges and (start == 0 or clean[start - 1].isspace()) for start, end in spans)


_NO_MARKUP = [part for part in FRAGMENTS if not re.search(r"[`~\[\]<>|]", part)]


@given(st.lists(st.sampled_from(_NO_MARKUP) | st.sampled_from(WORDS), max_size=40), st.sampled_from(["en-us", "en-gb"]))
def test_no_word_is_lost_or_moved(parts: list[str], language: str) -> None:
    text = " ".join(parts)
    heard = re.findall("|".join(WORDS), said(text, language=language))
    assert heard == [part for part in parts if part in WORDS]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en-us", "es", "ja"])
def test_no_code_point_fails_where_a_letter_or_a_digit_touches_it(language: str) -> None:
    for first in range(0xA0, 0x3100, 32):
        signs = map(chr, range(first, first + 32))
        assert said(" ".join(f"x{sign}1 {sign} 3{sign}y" for sign in signs), language=language)


@pytest.mark.parametrize("depth", [1, 5, 9, 30, 200])
@pytest.mark.parametrize("marker", ["> ", ">", "- ", "1. ", "*", "[", "> - "])
def test_nothing_is_nested_so_deep_that_it_is_lost(marker: str, depth: int) -> None:
    assert "apple" in said(marker * depth + "apple")


def test_a_fence_that_is_never_closed_makes_no_code_of_the_rest() -> None:
    assert said("```\none\n\ntwo\n\nthree\n\nfour").split() == ["one", "two", "three", "four"]


@pytest.mark.parametrize(
    "unit",
    [
        "A sentence of prose. ",
        "On 2026-11-21 at 10:30pm Dr. X paid $1,250.75 for 5 km. ",
        "1",
        "1,",
        "1.",
        "1-",
        "1/",
        "1 ",
        "a@",
        "a.",
        "#a",
        "[",
        "![",
        "[a](",
        "**a",
        "*a ",
        "`",
        "```a\n\n",
        "~~~\n\n",
        "<a ",
        "> ",
        "- ",
        "1. ",
        "| a\n|-\n",
        "$1-",
        "+1 ",
        "1 1/2 ",
        "http://a/b?",
        "/a",
        "5'",
        "I",
        "Henry A ",
        "&",
        "&amp;",
        "e.g.",
        "-5 ",
        "x = ",
        'a b" 5" c ',
        "😀",
        "etc ",
    ],
)
def test_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    def normalized(length: int) -> None:
        normalize(sanitize((unit * length)[:length]), "en-us", ALL)

    assert grows_with_the_length(normalized, 800)


def test_the_first_sentence_of_a_long_text_waits_for_its_paragraph_only() -> None:
    text = sanitize("It was a **bright** cold day.\n\n" * 400)
    found = [sentence.text for sentence in normalized_sentences(text, "en-us", ALL)]
    assert found == ["It was a bright cold day."] * 400
    assert first_takes_a_fraction(lambda: normalized_sentences(text, "en-us", ALL), 1 / 10)


@pytest.mark.parametrize(
    "table",
    [
        "| Name | Age | City |\n|---|---|---|\n| Ann | 30 | **Paris** |\n| Bob | | Rome |",
        "<table><tr><th>Name</th><th>Age</th><th>City</th></tr><tr><td>Ann</td><td>30</td><td><b>Paris</b></td></tr>"
        "<tr><td>Bob</td><td></td><td>Rome</td></tr></table>",
        "<table>\n<tr>\n<th>Name</th>\n<th>Age</th>\n<th>City</th>\n</tr>\n<tr>\n<td>Ann</td>"
        "\n<td>30</td>\n<td>Paris</td>\n</tr>\n<tr>\n<td>Bob</td>\n<td></td>\n<td>Rome</td>\n</tr>\n</table>",
        "+------+-----+-------+\n| Name | Age | City  |\n+------+-----+-------+\n| Ann  | 30  | Paris |\n"
        "| Bob  |     | Rome  |\n+------+-----+-------+",
    ],
)
def test_cells_of_wide_tables_follow_their_headings(table: str) -> None:
    assert normalize(table, "en-us", Normalization()).split("\n") == [
        "Name, Age, City",
        "Ann, Age: 30, City: Paris",
        "Bob, City: Rome",
    ]
    spans = [word for each in normalized_sentences(table, "en-us", Normalization()) for word in each.words]
    assert [word.start for word in spans] == sorted(word.start for word in spans)
