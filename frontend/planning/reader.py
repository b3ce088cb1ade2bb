"""From a request to the segments that are to be spoken for it."""

from __future__ import annotations

from collections.abc import Iterator

from frontend.contract.request import SpeechRequest
from frontend.planning.planner import Limits, plan
from frontend.planning.profile import Profile
from frontend.text.markup.parse import parse_markup
from frontend.text.phoneme_script import phoneme_sentences
from frontend.text.pipeline import TextPipeline
from frontend.text.segment import Notation, Segment, Sentence
from shm.engine_info import EngineInfo


class Reader:
    """Reads texts: sentences of units, cut by plan. Lazy; what it gives depends on its arguments only."""

    def __init__(self, pipeline: TextPipeline, limits: Limits, max_pause_seconds: float) -> None:
        """Args:
        max_pause_seconds: that the markup of one request may ask for.
        """
        self._pipeline = pipeline
        self._limits = limits
        self._max_pause_seconds = max_pause_seconds

    def segments(self, request: SpeechRequest, engine: EngineInfo, profile: Profile) -> Iterator[Segment]:
        """The request's segments, in order. No work is done before the first is asked for.

        Raises:
            MarkupError: from the first `next`; the text isn't in the markup that the request names.
        """
        notation = Notation.of(engine)
        yield from plan(self._sentences(request, notation), profile, request.speed, notation, self._limits)

    def _sentences(self, request: SpeechRequest, notation: Notation) -> Iterator[Sentence]:
        if request.phonemes:
            return phoneme_sentences(request.text, notation)
        marked = parse_markup(request.markup, request.text, request.language, notation, self._max_pause_seconds)
        return self._pipeline.sentences(marked, request.language, notation, request.speed)
