"""What an engine costs: how soon and how fast it speaks alone, and how much it speaks with all its lanes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from shm.audio import SAMPLE_RATE
from shm.messages import Voice
from worker.engine import Engine, Utterance
from worker.kokoro import DEFAULT_VOICE
from worker.tuning.records import SegmentTimes, Text, TextTimes, silence

Clock = Callable[[], float]


class Speaking:
    """Measures one engine. Nothing else may be using it."""

    def __init__(
        self, engine: Engine, clock: Clock = time.perf_counter, enter_lane: Callable[[], None] = lambda: None
    ) -> None:
        """
        Args:
            clock: seconds.
            enter_lane: called once in each thread that speaks beside others.
        """
        self._engine = engine
        self._clock = clock
        self._enter_lane = enter_lane
        names = engine.info.voices
        self._voice: Voice = ((DEFAULT_VOICE if DEFAULT_VOICE in names else names[0], 1.0),)

    def alone(self, text: Text, repeats: int, firsts: int) -> tuple[TextTimes, list[SegmentTimes]]:
        """A text by itself, and its segments.

        Raises:
            EngineError, ProviderUnavailable: from the engine.
        """
        runs = [[self._segment(script) for script in text] for _ in range(repeats)]
        blocks = [tuple(block for segment in run for block in segment.blocks) for run in runs]
        sooner = [self._first(text[0]) for _ in range(firsts)]
        times = TextTimes(
            first=median([run[0][1] for run in blocks] + sooner),
            whole=median(sum(seconds for _, seconds in run) for run in blocks),
            silence=median(map(silence, blocks)),
            audio=sum(samples for samples, _ in blocks[0]) / SAMPLE_RATE,
        )
        return times, [segment for run in runs for segment in run]

    def together(self, texts: Sequence[Text]) -> float:
        """Seconds of audio per second, each lane speaking all the texts, each beginning with another one.

        Raises:
            EngineError, ProviderUnavailable: from the engine.
        """

        def lane(number: int) -> int:
            turned = [texts[(place + number) % len(texts)] for place in range(len(texts))]
            return sum(self._segment(script).samples for text in turned for script in text)

        with ThreadPoolExecutor(self._engine.concurrency, initializer=self._enter_lane) as lanes:
            started = self._clock()
            samples = sum(lanes.map(lane, range(self._engine.concurrency)))
            return samples / SAMPLE_RATE / (self._clock() - started)

    def _segment(self, script: str) -> SegmentTimes:
        prosody = 0.0
        blocks = []
        before = self._clock()
        for block in self._engine.begin(self._utterance(script)):
            now = self._clock()
            blocks.append((len(block.samples), now - before))
            before = now
            prosody += block.prosody_seconds
        return SegmentTimes(tokens=len(script), prosody_seconds=prosody, blocks=tuple(blocks))

    def _first(self, script: str) -> float:
        started = self._clock()
        blocks = self._engine.begin(self._utterance(script))
        next(blocks)
        taken = self._clock() - started
        blocks.close()
        return taken

    def _utterance(self, script: str) -> Utterance:
        return Utterance(script, "en-us", self._voice, 1.0)
