"""The reader tells how long reading and planning took, for each segment and apart from each other."""

import time
from collections.abc import Iterator
from typing import Any

from frontend.contract.request import SpeechRequest
from frontend.planning.planner import Limits
from frontend.planning.profile import GUESS
from frontend.planning.reader import Reader
from tests.engine_infos import espeak
from text.g2p import G2P
from text.pipeline import configured_pipeline
from text.settings import TextSettings
from text.words.segment import Sentence


def test_each_segments_reading_and_planning_are_told(monkeypatch: Any) -> None:
    spent: list[tuple[float, float]] = []
    pipeline = configured_pipeline(G2P(), TextSettings(), None, lambda: None)
    whole = type(pipeline).performed

    def slowly(self: Any, *arguments: Any) -> Iterator[Sentence]:
        for sentence in whole(self, *arguments):
            time.sleep(0.02)
            yield sentence

    monkeypatch.setattr(type(pipeline), "performed", slowly)
    reader = Reader(pipeline, Limits(), lambda reading, planning: spent.append((reading, planning)))
    request = SpeechRequest("r", "One sentence. Then another one. A third.", (("af_heart", 1.0),), "en-us", 1.0)
    segments = list(reader.segments(request, espeak(), GUESS))
    assert len(spent) == len(segments) > 0
    assert sum(reading for reading, _ in spent) >= 3 * 0.02
    assert all(0 <= planning < reading for reading, planning in spent if reading > 0.02)
