"""Numbered sentences: each begins a segment, whatever comes before it."""

from __future__ import annotations

from frontend.contract.request import SpeechRequest
from frontend.planning.planner import Limits
from frontend.planning.profile import GUESS
from frontend.planning.reader import Reader
from tests.engine_infos import kokoro
from tests.miniature import vocabulary
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.words.segment import Segment, SentenceStart

TEXT = "Yes. No, never. It costs $250, as it did in 2026."
ENGINE = kokoro(vocabulary="".join(vocabulary))


PIPELINE = TextPipeline(G2P())


def read(**fields: object) -> list[Segment]:
    request = SpeechRequest("r", TEXT, (("af_heart", 1.0),), "en-us", 1.0, **fields)  # type: ignore[arg-type]
    return list(Reader(PIPELINE, Limits(), 5.0).segments(request, ENGINE, GUESS))


def test_short_sentences_share_a_segment_unless_they_are_numbered() -> None:
    assert read()[0].text.startswith("Yes. No, never. It costs")
    starts = [segment.units[0].sentence for segment in read(sentences=True)]
    assert [start for start in starts if start] == [
        SentenceStart(0, "Yes."),
        SentenceStart(1, "No, never."),
        SentenceStart(2, "It costs $250, as it did in 2026."),
    ]


def test_a_request_begins_with_the_sentence_that_it_names() -> None:
    whole = read(sentences=True)
    assert read(sentences=True, from_sentence=1) == whole[1:]
    assert read(sentences=True, from_sentence=9) == []
