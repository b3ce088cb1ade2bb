"""Layout around the words of pasted texts: subtitle times, BBCode, wiki marks, page numbers, notes, faces, hyphens."""

import random
import re
import time

import pytest

from text.normalization.layout import FILLER, cleared
from text.normalization.normalize import normalize, normalized_sentences
from text.normalization.settings import Normalization
from text.words.sanitize import sanitize


def said(text: str) -> str:
    return normalize(sanitize(text), "en-us", Normalization()).replace("\n", " | ")


CASES = [
    ("The group will post-\npone the meeting.", "The group will postpone the meeting."),
    ("A *long* para-\ngraph in **bold**.", "A long paragraph in bold."),
    ("This is a well-\nknown fact.", "This is a well-known fact."),
    ("It ended.\n\n- 47 -\n\nIt began.", "It ended. | It began."),
    ("It ended.\n\nPage 12 of 340\n\nIt began.", "It ended. | It began."),
    ("Page 12", "Page 12"),
    ("As others found.²³ This too.", "As others found. | This too."),
    ("As others found[3] and said.[4][5] This too.", "As others found and said. | This too."),
    ("Some studies[1,2] and the twenty-\none others.", "Some studies and the twenty-one others."),
    ("It works† well.", "It works well."),
    (
        "1\n00:00:01,000 --> 00:00:04,000\nHello there,\n\n2\n00:00:05,000 --> 00:00:07,500\nmy\nfriend.",
        "Hello there, my friend.",
    ),
    ("WEBVTT\n\n00:01.000 --> 00:04.000 line:1\n<v Ann>Come <i>in</i>.", "Come in."),
    ("[b]Bold[/b] and [url=https://example.com]a link[/url].", "Bold and a link."),
    ("'''Paris''' is the [[capital city|capital]] of [[France]].{{cn}}", "Paris is the capital of France."),
    ("== History ==\nIt was ''old''.<ref>Smith</ref>", "History | It was old."),
    ("<ann> is it on?", "ann: is it on?"),
    ("¯\\_(ツ)_/¯ whatever", "whatever"),
    ("(╯°□°)╯︵ ┻━┻ I quit", "I quit"),
    ("Thanks (^_^) a lot", "Thanks a lot"),
    ("𝓗𝓮𝓵𝓵𝓸 𝗕𝗼𝗹𝗱 ⓗⓘ ᴛʜɪꜱ", "Hello Bold hi this"),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_layout_is_left_out(text: str, expected: str) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The field is 20 m² wide and 5 meters² of it is wet.",
        "a[0][1] and items[2] are code.",
        "He said (in 1990) that x^2 = 4 (see below).",
        "if [[ -f x ]]; then echo; fi",
        "It's the dogs' and the cats' 'own' food.",
        "A --> B means that A implies B.",
        "[b] is a bracket",
        "x_1 and (x, y) and f(x) are here.",
    ],
)
def test_text_that_only_looks_like_layout_stays(text: str) -> None:
    assert cleared(sanitize(text)) == sanitize(text)


def test_each_word_keeps_its_place() -> None:
    for text, _ in CASES:
        clean = sanitize(text)
        assert len(cleared(clean)) == len(clean)
        for sentence in normalized_sentences(clean, "en-us", Normalization()):
            ends = [word.end for word in sentence.words]
            assert ends == sorted(ends)
            for word in sentence.words:
                letters = re.sub(r"\W", "", word.said)
                assert FILLER not in word.said
                assert letters[:3] in re.sub(r"\W", "", cleared(clean)[word.start : word.end])


def test_any_signs_take_linear_time_and_raise_nothing() -> None:
    signs = ["[[", "]]", "''", "'''", "==", "\n", "{{", "}}", "(", ")", "_", "°", "[1]", "²", "-\n", "a", "-->"]
    signs += ["[b]", "[/b]", "<a> ", " "]
    randomness = random.Random(3)
    for _ in range(300):
        text = sanitize("".join(randomness.choices(signs, k=60)))
        assert len(cleared(text)) == len(text)
    for sign in signs:
        begin = time.process_time()
        cleared(sanitize(sign * 20_000 + "[/b]"))
        assert time.process_time() - begin < 5, sign


PYTHON = """It failed:
Traceback (most recent call last):
  File "/srv/app/main.py", line 12, in <module>
    run(argv)
  File "/srv/app/core.py", line 88, in run
    raise ValueError("bad")
ValueError: bad input
"""
JAVA = """java.lang.NullPointerException: no user
\tat com.acme.Users.find(Users.java:42)
\tat com.acme.Main.main(Main.java:7)
\t... 3 more
It failed."""


def test_a_stack_trace_is_its_error() -> None:
    said = normalize(sanitize(PYTHON), "en-us", Normalization())
    assert "ValueError: bad input" in said
    assert "Traceback" in said
    assert "core" not in said
    assert "run" not in said
    said = normalize(sanitize(JAVA), "en-us", Normalization())
    assert "no user" in said
    assert "It failed." in said
    assert "Users" not in said


def test_one_line_like_a_frame_stays() -> None:
    assert "Paris" in normalize(sanitize("We met\nat Paris (the hotel)"), "en-us", Normalization())


@pytest.mark.parametrize(
    ("western", "own"),
    [
        ("周一休息,11:00开门", "周一休息，11:00开门"),
        ("邮编100020,尾号4417。", "邮编100020，尾号4417。"),
        ("电话:010-5555", "电话：010-5555"),
    ],
)
def test_marks_beside_ideographs_belong_to_no_number(western: str, own: str) -> None:
    assert cleared(western) == own
    assert normalize(western, "cmn", Normalization()) == normalize(own, "cmn", Normalization())
