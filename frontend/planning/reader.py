"""The reader: turns a request into the segments to speak for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from frontend.contract.errors import ApiError
from frontend.contract.growing_text import TextMark, TextPart
from frontend.contract.request import SpeechRequest, Urgency
from frontend.planning.planner import LONG, Limits, plan, plan_growing, recut
from frontend.planning.profile import CostProfile
from frontend.planning.sentences import WrittenText
from shm.engine_info import EngineInfo
from text.apart import apart
from text.markup.marked import Marked, Pause, PerformedText
from text.markup.meanings import MAX_PAUSE_SECONDS, MarkupError
from text.markup.parse import parse_markup
from text.pipeline import TextPipeline
from text.sentences.growth import UNSPACED
from text.units.segmentation import phoneme_sentences
from text.words.performer import Cast, DialogueTurn
from text.words.segment import Continuation, Notation, Segment, Sentence, SentenceStart


class Reader:
    """Reads texts: splits them into sentences of units, and plans segments. Lazy; the result depends on the arguments
    only."""

    def __init__(
        self,
        pipeline: TextPipeline,
        limits: Limits,
        spent: Callable[[float, float], None] = lambda _reading, _planning: None,
        delimiters: str = "",
    ) -> None:
        """
        Args:
            spent: told the seconds of reading and those of planning, after each segment.
            delimiters: cut marks (`text/markup/delimiters.py`), unless the request names its own.
        """
        self._spent = spent
        self._delimiters = delimiters
        self._pipeline = pipeline
        self._limits = limits

    def segments(
        self, request: SpeechRequest, engine: EngineInfo, profile: CostProfile
    ) -> Iterator[Segment | TextMark]:
        """The request's segments, in order; with marks if its text is still being written. Work begins when the first
        segment is requested.

        Raises:
            MarkupError: the text isn't valid in the markup that the request names, or names an unknown voice; raised by
                the first `next`, whichever part of the text is wrong.
        """
        clock = _Clock()
        segments = self._segments(request, engine, profile, clock)
        while True:
            began, read = time.perf_counter(), clock.seconds
            item = next(segments, None)
            if item is None:
                return
            if isinstance(item, Segment):
                reading = clock.seconds - read
                self._spent(reading, max(time.perf_counter() - began - reading, 0.0))
            yield item

    def _segments(
        self, request: SpeechRequest, engine: EngineInfo, profile: CostProfile, clock: _Clock
    ) -> Iterator[Segment | TextMark]:
        notation = Notation.of(engine)
        planned: Iterator[Segment | TextMark]
        if request.growing is None:
            sentences = clock.timed(self._whole(request, engine, notation))
            listened_to = request.urgency is not Urgency.WHOLE and not request.score_only
            limits = replace(self._limits, opens_from=LONG) if engine.parts and listened_to else self._limits
            planned = plan(sentences, profile, request.speed, notation, limits)
        else:
            numbers: list[int] = []
            source = WrittenText(
                request.growing,
                lambda part: clock.timed(self._part(request, engine, part, numbers)),
                lambda words: self._pipeline.saying(request.pronunciations).settled(words, request.language),
                UNSPACED.get(request.language),
            )
            planned = plan_growing(source, profile, request.speed, notation, self._limits)
        yield from recut(planned, [cut.units for cut in request.progress.cuts])

    def _whole(self, request: SpeechRequest, engine: EngineInfo, notation: Notation) -> Iterator[Sentence]:
        """The sentences of a text that is all there."""
        sentences: Iterator[Sentence]
        if request.scored:
            sentences = iter(request.scored)
        elif request.phonemes:
            sentences = phoneme_sentences(request.text, notation)
        else:
            turns = request.turns or (DialogueTurn(request.text, request.performer),)
            sentences = self._sentences(request, turns, engine)
        return numbered_sentences(sentences, request.from_sentence) if request.sentences else sentences

    def _part(
        self, request: SpeechRequest, engine: EngineInfo, part: TextPart, numbers: list[int]
    ) -> Iterator[Sentence]:
        """`numbers`: those of the whole sentences so far."""
        turn = DialogueTurn(part.text, request.performer)
        end = "\n\n" if part.paragraph else ""
        sentences = self._sentences(request, (turn,), engine, end, Continuation())
        if not request.sentences:
            return sentences
        return numbered_sentences(sentences, request.from_sentence, [*numbers] if part.opening else numbers)

    def _sentences(
        self,
        request: SpeechRequest,
        turns: Sequence[DialogueTurn],
        engine: EngineInfo,
        end: str = "",
        then: Continuation | None = None,
    ) -> Iterator[Sentence]:
        """Sentences of all turns, in which their performers speak, and others whom the markup names.

        Args:
            end: white space after the last turn's text.
        """
        parts: list[PerformedText] = []
        pauses = 0.0
        for place, turn in enumerate(turns):
            try:
                marked = self._marked(request, turn, engine)
            except MarkupError as error:
                if not request.turns:
                    raise
                raise error.within(f"turns[{place}].text") from error
            marked = replace(marked, text=marked.text + end)
            parts += marked.performed(turn.performer, turn.pause)
            pauses += sum(each.seconds for each in marked.annotations if isinstance(each, Pause))
        if request.turns and pauses > (limit := MAX_PAUSE_SECONDS):
            message = f"`turns`: the pauses in the texts last {pauses:g} seconds together; {limit:g} are allowed."
            raise ApiError(400, message, param="turns", code="invalid_markup")
        pipeline = self._pipeline.without(request.rules_off).saying(request.pronunciations)
        pipeline = pipeline.emphasising(request.emphasis)
        return pipeline.performed(parts, request.performer, Notation.of(engine), request.speed, then)

    def _marked(self, request: SpeechRequest, turn: DialogueTurn, engine: EngineInfo) -> Marked:
        cast = Cast(engine.voices, dict(request.aliases), request.language if request.one_language else None)
        delimiters = self._delimiters if request.delimiters is None else request.delimiters
        text, language, notation = turn.text, turn.performer.language, Notation.of(engine)
        return apart.result(text, parse_markup, request.markup, text, language, notation, cast, delimiters)


class _Clock:
    """The seconds that sentences take to be read, apart from what is done with them."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, sentences: Iterator[Sentence]) -> Iterator[Sentence]:
        while True:
            began = time.perf_counter()
            sentence = next(sentences, None)
            self.seconds += time.perf_counter() - began
            if sentence is None:
                return
            yield sentence


def numbered_sentences(
    sentences: Iterator[Sentence], first: int = 0, before: list[int] | None = None
) -> Iterator[Sentence]:
    """The sentences from number `first` on, each marked in its first unit.

    Args:
        before: numbers of the sentences before them, to which theirs are added.
    """
    numbers = [] if before is None else before
    for sentence in sentences:
        number = len(numbers)
        numbers.append(number)
        if number >= first:
            text = " ".join(word.written for unit in sentence for word in unit.words if word.written)
            start = SentenceStart(number, text or " ".join(unit.text for unit in sentence))
            yield (replace(sentence[0], sentence=start), *sentence[1:])
