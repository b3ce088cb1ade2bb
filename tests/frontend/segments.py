"""A text's segments as a request's plan has them, for tests that need no request."""

from collections.abc import Iterator

from frontend.planning.planner import Limits, plan
from frontend.planning.profile import GUESS, CostProfile
from frontend.planning.reader import numbered_sentences
from text.markup.marked import Marked
from text.pipeline import TextPipeline
from text.words.segment import Notation, Segment


def segments_of(
    pipeline: TextPipeline,
    text: str | Marked,
    language: str,
    notation: Notation,
    speed: float = 1.0,
    profile: CostProfile = GUESS,
    numbered: bool = False,
) -> Iterator[Segment]:
    """The text's plan, lazily: each of its words in one of its segments. `numbered`: each sentence begins a segment."""
    sentences = pipeline.sentences(text, language, notation)
    return plan(numbered_sentences(sentences) if numbered else sentences, profile, speed, notation, Limits())
