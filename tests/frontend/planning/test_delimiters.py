"""A user's own cut marks: segments end after them, each word is spoken once, and nothing else changes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.contract.request import SpeechRequest
from frontend.planning.costs import Ledger
from frontend.planning.planner import Limits
from frontend.planning.profile import GUESS
from frontend.planning.reader import Reader
from tests.frontend.http_fakes import FakeSpeaker, asking, speech
from tests.frontend.scheduling.test_replanning import double_the_work
from tests.frontend.scripted_worker import ENGINE as WORKER
from tests.text.letters import LetterG2P
from tests.text.markup.test_voices import ENGINE
from text.g2p import G2P
from text.markup.marked import Marked, MarkupKind
from text.pipeline import TextPipeline
from text.settings import TextSettings
from text.words.segment import Cut, Segment

PIPELINE, LETTERS = TextPipeline(G2P()), TextPipeline(LetterG2P())
TEXT = "The first part of it is here; the second one comes, and then | a third one that ends. So it goes on; it ends."


def planned(text: str, signs: str | None, own: str = "", pipeline: TextPipeline = PIPELINE) -> list[Segment]:
    asked = SpeechRequest("id", text, (("af_heart", 1.0),), "en-us", 1.0, MarkupKind.BASIC, delimiters=signs)
    found = Reader(pipeline, Limits(), delimiters=own).segments(asked, ENGINE, GUESS)
    return [each for each in found if isinstance(each, Segment)]


def written(segments: list[Segment]) -> list[str]:
    return [" ".join(word.written for word in each.words) for each in segments]


def test_segments_end_after_each_sign_and_keep_the_sign() -> None:
    found = written(planned(TEXT, ";|"))
    assert found == [
        "The first part of it is here;",
        "the second one comes, and then |",
        "a third one that ends. So it goes on;",
        "it ends.",
    ]
    assert " ".join(found) == TEXT
    cuts = [each.cut for each in planned(TEXT, ";|")]
    assert cuts[0] is Cut.CLAUSE and cuts[-1] in (Cut.SENTENCE, Cut.PARAGRAPH)


def test_segments_end_after_each_match_of_an_expression() -> None:
    assert written(planned(TEXT, "/;|[|]/")) == written(planned(TEXT, ";|"))
    assert written(planned(TEXT, None, own=r"/(?i)SECOND \w+/")) == [
        "The first part of it is here; the second one",
        "comes, and then | a third one that ends. So it goes on; it ends.",
    ]


def test_the_requests_signs_win_over_the_settings() -> None:
    assert written(planned(TEXT, None, own=";|")) == written(planned(TEXT, ";|"))
    assert written(planned(TEXT, "", own=";|")) == written(planned(TEXT, None))


@pytest.mark.parametrize(
    ("text", "signs", "ends"),
    [
        ("a;b", ";", [2]),
        ("a;;;b;", ";", [4, 6]),
        ("a;|b", ";|", [3]),
        ("a\nb", "\n", [2]),
        ("ab", ";", []),
        ("a;", "", []),
    ],
)
def test_signs_in_a_row_are_one_mark(text: str, signs: str, ends: list[int]) -> None:
    assert [each.at for each in Marked(text).ended_after(signs).annotations] == ends  # type: ignore[union-attr]


@given(st.lists(st.sampled_from(["cat", "dogs", "ran;", "|", "home.", "far,", "a;b", "\n\n"]), min_size=1, max_size=30))
def test_each_word_is_spoken_once_in_order_wherever_marks_stand(words: list[str]) -> None:
    text = " ".join(words)
    without, found = planned(text, "", pipeline=LETTERS), planned(text, ";|", pipeline=LETTERS)
    assert " ".join(written(found)).split() == " ".join(written(without)).split()
    for each in written(found):
        before, mark, after = each.partition(";")
        assert not mark or not after.strip(";| ") or before.endswith("a"), "a mark within a;b counts after the word"


def test_a_text_with_other_marks_is_planned_anew() -> None:
    ledger = Ledger()
    asked = [SpeechRequest("id", TEXT, (("af_heart", 1.0),), "en-us", 1.0, delimiters=signs) for signs in (None, ";")]
    first = ledger.profile_for(WORKER, asked[0])
    later = double_the_work(ledger)
    assert [ledger.profile_for(WORKER, each) for each in asked] == [first, later]


@pytest.mark.parametrize("signs", ["a", "1", " ", "\t", ";" * 33, "/[/", "/(?<=x)y/"])
def test_what_is_no_sign_is_refused(signs: str) -> None:
    with pytest.raises(ValueError, match="delimiters: "):
        TextSettings(delimiters=signs)
    assert TextSettings(delimiters=";|\n").delimiters == ";|\n"


@pytest.mark.parametrize(
    ("fields", "status", "warning"),
    [
        ({"delimiters": ";"}, 200, None),
        ({"delimiters": "/[.;] /"}, 200, None),
        ({"delimiters": "x"}, 400, None),
        ({"delimiters": "/(?=x)/"}, 400, None),
        ({"delimiters": "/x*/"}, 400, None),
        ({"delimiters": 5}, 400, None),
    ],
)
async def test_the_field(fields: dict[str, Any], status: int, warning: str | None) -> None:
    speaker = FakeSpeaker(speech(2400))
    async with asking(speaker, json={"input": "Hello; you."} | fields) as response:
        body = await response.read()
    assert (response.status, response.headers.get("X-Warning")) == (status, warning)
    if status == 400:
        assert b"delimiters" in body
