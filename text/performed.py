"""Sentences of a text that several performers speak: each part is read in its performer's language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from text.markup.marked import Bookmark, Marked
from text.pipeline import TextPipeline
from text.sentences.sentences import ends_sentence
from text.words.performer import Performer
from text.words.segment import Continuation, Cut, Notation, Sentence


@dataclass(frozen=True, slots=True)
class PerformedText:
    """A stretch of text and its performer."""

    marked: Marked
    performer: Performer
    then: Continuation
    """The boundary to the next stretch."""


def performed_parts(marked: Marked, performer: Performer, pause: float = 0.0) -> list[PerformedText]:
    """The parts of a text, of which `performer` speaks those that name no other voice.

    A part that ends within a sentence ("she said," before a quotation) ends like a clause, the text itself always like
    a sentence.

    Args:
        pause: seconds of silence after the text; 0: as long as after any sentence.
    """
    found = [
        PerformedText(part, each or performer, Continuation(Cut.SENTENCE if ends_sentence(part.text) else Cut.CLAUSE))
        for each, part in marked.parts()
    ]
    found[-1] = replace(found[-1], then=Continuation(Cut.SENTENCE, pause or None))
    return found


def performed_sentences(
    parts: Sequence[PerformedText],
    pipeline: TextPipeline,
    notation: Notation,
    speed: float,
    then: Continuation | None = None,
) -> Iterator[Sentence]:
    """Sentences of all parts in order, with their performers. No sentence belongs to two performers.

    Args:
        then: the boundary to a text that is spoken after the last part; None: the speech ends with it.
    """
    soundless: tuple[Bookmark, ...] = ()
    for place, part in enumerate(parts, 1):
        performer = part.performer
        boundary = part.then if place < len(parts) else then
        marked = replace(part.marked, annotations=soundless + part.marked.annotations)
        soundless = tuple(Bookmark(0, each.name) for each in marked.annotations if isinstance(each, Bookmark))
        for sentence in pipeline.sentences(marked, performer.language, notation, speed, boundary):
            soundless = ()
            yield tuple(replace(unit, performer=performer, rate=unit.rate * performer.rate) for unit in sentence)
