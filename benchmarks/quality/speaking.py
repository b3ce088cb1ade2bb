"""Speaks texts one way, with the server's own parts: text pipeline, planner, engine, joins."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.quality.corpus import Item
from benchmarks.quality.ways import Plan, Way
from frontend.planning.planner import Limits, plan
from frontend.planning.profile import CostProfile, guess
from frontend.streams.joins import Joiner
from shm.audio import Pcm
from text.g2p import G2P
from text.markup.marked import MarkupKind
from text.markup.parse import parse_markup
from text.pipeline import TextPipeline
from text.words.segment import Cut, Notation, Segment
from worker.engine import Utterance
from worker.engines.kokoro import KokoroEngine
from worker.voices.kokoro_voices import kokoro_voice


@dataclass
class Spoken:
    """A text's sound, and where it was put together."""

    samples: Pcm
    cuts: list[tuple[Cut, int, int]] = field(default_factory=list)
    """Between segments: the kind of cut, where the one before it ends to sound, and where the next one lies."""
    windows: list[int] = field(default_factory=list)
    """Samples at which two windows of one segment meet."""


@cache
def _pipeline() -> TextPipeline:
    """One for all ways: its dictionaries take longer to load than a short text to speak."""
    return TextPipeline(G2P())


class Speaker:
    """One way of speaking."""

    def __init__(self, way: Way, voices: Path, threads: int = 0, cache: Path | None = None) -> None:
        """
        Raises:
            EngineUnavailable: the model can't be loaded, or not be spoken this way.
        """
        self._engine = KokoroEngine(way.model, voices, way.settings(threads, cache))
        self._engine.warm_up()
        self._notation = Notation.of(self._engine.info)
        self._pipeline = _pipeline()
        self._plan = way.plan

    def speak(self, item: Item) -> Spoken:
        """
        Raises:
            EngineError: the model can't speak this.
        """
        joiner = Joiner()
        parts: list[Pcm] = []
        found = Spoken(np.zeros(0, np.int16))
        before: Cut | None = None
        for segment in self.segments(item):
            for offset, samples in self._blocks(item, segment):
                given = joiner.position
                parts += joiner.push(samples)
                if joiner.placed is None:
                    continue
                if before is not None:
                    found.cuts.append((before, given, joiner.placed[1]))
                    before = None
                if offset > joiner.placed[0]:
                    found.windows.append(joiner.placed[1] + offset - joiner.placed[0])
            joiner.end(segment.cut, segment.rate, segment.pause)
            before = segment.cut
        found.samples = np.concatenate([*parts, *joiner.finish()])
        return found

    def segments(self, item: Item) -> Iterator[Segment]:
        """The segments of a text, in which pauses and IPA may be marked."""
        language = kokoro_voice(item.voice).language
        text = parse_markup(MarkupKind.BASIC, item.text, language, self._notation)
        sentences = self._pipeline.sentences(text, language, self._notation)
        limits, profile = _planning(self._plan, self._notation.max_tokens)
        return plan(sentences, profile, 1.0, self._notation, limits)

    def _blocks(self, item: Item, segment: Segment) -> Iterator[tuple[int, Pcm]]:
        voice = ((item.voice, 1.0),)
        seed = zlib.crc32(segment.script.encode())
        for block in self._engine.begin(
            Utterance(segment.script, kokoro_voice(item.voice).language, voice, segment.rate, seed)
        ):
            yield block.offset, block.samples


FIRST_BLOCK = 0.3
"""Seconds of sound in a windowed engine's first block: the default of `WorkerSettings.first_window`."""


def _planning(asked: Plan, most: int) -> tuple[Limits, CostProfile]:
    match asked:
        case "one segment":
            # A minimum that no two parts of a text of 500 tokens can both have.
            return Limits(max_tokens=most, max_segment_seconds=1e6, min_first_tokens=most // 2), guess(FIRST_BLOCK)
        case "windowed engine's plan":
            return Limits(), guess(FIRST_BLOCK)
        case _:
            return Limits(), guess()
