"""The reader: turns a request into the segments to speak for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from frontend.contract.growing_text import TextMark, TextPart
from frontend.contract.request import SpeechRequest
from frontend.planning.planner import Limits, plan, plan_growing
from frontend.planning.profile import CostProfile
from frontend.planning.sources import WrittenText
from frontend.text.markup.parse import parse_markup
from frontend.text.phoneme_script import phoneme_sentences
from frontend.text.pipeline import TextPipeline
from frontend.text.segment import Notation, Segment, Sentence, SentenceStart
from shm.engine_info import EngineInfo


class Reader:
    """Reads texts: splits them into sentences of units, and plans segments. Lazy; the result depends on the arguments
    only."""

    def __init__(self, pipeline: TextPipeline, limits: Limits, max_pause_seconds: float) -> None:
        """
        Args:
            max_pause_seconds: longest pause that a request's markup may ask for.
        """
        self._pipeline = pipeline
        self._limits = limits
        self._max_pause_seconds = max_pause_seconds

    def segments(
        self, request: SpeechRequest, engine: EngineInfo, profile: CostProfile
    ) -> Iterator[Segment | TextMark]:
        """The request's segments, in order; with marks if its text is still being written. Work begins when the first
        segment is requested.

        Raises:
            MarkupError: the text isn't valid in the markup that the request names; raised by the first `next`.
        """
        notation = Notation.of(engine)
        if request.growing is not None:
            source = WrittenText(request.growing, partial(self._part, request, notation))
            yield from plan_growing(source, profile, request.speed, notation, self._limits)
            return
        sentences = self._sentences(request, notation)
        if request.sentences:
            sentences = numbered_sentences(sentences, request.from_sentence)
        yield from plan(sentences, profile, request.speed, notation, self._limits)

    def _sentences(self, request: SpeechRequest, notation: Notation) -> Iterator[Sentence]:
        if request.phonemes:
            return phoneme_sentences(request.text, notation)
        marked = parse_markup(request.markup, request.text, request.language, notation, self._max_pause_seconds)
        return self._pipeline.sentences(marked, request.language, notation, request.speed)

    def _part(self, request: SpeechRequest, notation: Notation, part: TextPart) -> Iterator[Sentence]:
        marked = parse_markup(request.markup, part.text, request.language, notation, self._max_pause_seconds)
        if part.paragraph:
            marked = replace(marked, text=marked.text + "\n\n")
        return self._pipeline.sentences(marked, request.language, notation, request.speed, part=True)


def numbered_sentences(sentences: Iterator[Sentence], first: int = 0) -> Iterator[Sentence]:
    """The sentences from number `first` on, each marked in its first unit."""
    for number, sentence in enumerate(sentences):
        if number >= first:
            text = " ".join(word.written for unit in sentence for word in unit.words if word.written)
            start = SentenceStart(number, text or " ".join(unit.text for unit in sentence))
            yield (replace(sentence[0], sentence=start), *sentence[1:])
