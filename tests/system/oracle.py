"""The expected sound of a text on the miniature model: the plan made here, the samples computed, not synthesised.

The plan and the joins are the product's, so that every sample can be foretold. Their result is read back
without them (`tests.system.reading`): an oracle that has lost a word, a sample or a pause fails the test that asks it.
"""

import functools
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frontend.streams.joins import Joiner
from tests.frontend.segments import segments_of
from tests.miniature import expected, make_miniature, make_voices, tokens_of, vocabulary
from tests.system.reading import check
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.words.segment import Notation

NOTATION = Notation("phonemes", frozenset(vocabulary), 510)

_PIPELINE = TextPipeline(G2P())


@functools.lru_cache(maxsize=32)
def samples_of(text: str, speed: float = 1.0, *, numbered: bool = False) -> NDArray[np.int16]:
    """Every sample of a text, in order, from a server with `--no-adapt-plans`; not to be written to.

    Args:
        numbered: its sentences are, as the player asks for them.

    Raises:
        AssertionError: the product's plan and joins don't say the text.
    """
    joiner = Joiner()
    joined: list[NDArray[np.int16]] = []
    for segment in segments_of(_PIPELINE, text, "en-us", NOTATION, speed, numbered=numbered):
        pace = speed * segment.rate
        joined += joiner.push(expected(tokens_of(segment.script), pace))
        joiner.end(segment.cut, pace, segment.pause)
    samples = np.concatenate([*joined, *joiner.finish()])
    check(text, samples, speed)
    samples.setflags(write=False)
    return samples


def sentence_starts(text: str) -> list[int]:
    """The sample of `samples_of` at which each sentence of a numbered text begins."""
    joiner, starts = Joiner(), []
    for segment in segments_of(_PIPELINE, text, "en-us", NOTATION, numbered=True):
        joiner.push(expected(tokens_of(segment.script), segment.rate))
        assert joiner.placed
        if segment.units[0].sentence:
            starts.append(joiner.placed[1])
        joiner.end(segment.cut, segment.rate, segment.pause)
    return starts


def miniature_arguments(folder: Path, cost: int = 0) -> tuple[str, ...]:
    """Flags with which a server speaks with the miniature model, cut as `samples_of` cuts; all of it is made."""
    model = make_miniature(folder / "miniature.onnx", cost=cost)
    voices = make_voices(folder / "voices.bin")
    return (
        "--engine",
        "kokoro",
        "--model",
        str(model),
        "--voices",
        str(voices),
        "--no-adapt-plans",
        "--cache-bytes",
        "0",
    )


def sentences(count: int) -> str:
    """A text of so many different sentences."""
    return " ".join(
        f"Sentence number {n} has its own words, and number {n * 7} follows it." for n in range(1, count + 1)
    )
