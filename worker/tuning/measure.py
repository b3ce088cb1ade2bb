"""Measurement of an engine: its time to first audio and speed alone, and its throughput with all inference threads."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from statistics import median

import numpy as np

from shm.audio import AUDIBLE, SAMPLE_RATE, Pcm
from shm.messages import Voice
from worker.engine import Engine, EngineError, Utterance
from worker.kokoro import DEFAULT_VOICE
from worker.tuning.messages import Round

Clock = Callable[[], float]

FIRSTS = 3
"""Number of first sounds measured in one round. In windows each takes a fraction of a second; the median counts."""


class EngineMeasurement:
    """Measures one engine that nothing else uses."""

    def __init__(
        self,
        engine: Engine,
        script: str,
        clock: Clock = time.perf_counter,
        enter_inference: Callable[[], None] = lambda: None,
        firsts: int = FIRSTS,
    ) -> None:
        """
        Args:
            engine: the engine.
            script: the sentence to speak, in the engine's notation.
            clock: returns seconds.
            enter_inference: called once in each inference thread that speaks concurrently with others.
            firsts: number of first sounds in one round, of which the median counts.
        """
        self._engine = engine
        self._script = script
        self._clock = clock
        self._enter_inference = enter_inference
        self._firsts = firsts
        names = engine.info.voices
        self._voice: Voice = ((DEFAULT_VOICE if DEFAULT_VOICE in names else names[0], 1.0),)

    def measure(self) -> Round:
        """One round of measurements.

        Raises:
            EngineError, ProviderUnavailable: the engine failed, or made no audible sample of the sentence.
        """
        first = median(self._first() for _ in range(self._firsts))
        started = self._clock()
        samples = self._speak()
        alone = samples / SAMPLE_RATE / (self._clock() - started)
        return Round(first, alone, self._together())

    def _first(self) -> float:
        started = self._clock()
        with closing(self._engine.begin(self._utterance())) as blocks:
            for block in blocks:
                if _audible(block.samples):
                    return self._clock() - started
        raise EngineError("the engine gives silence")

    def _speak(self) -> int:
        return sum(len(block.samples) for block in self._engine.begin(self._utterance()))

    def _together(self) -> float:
        threads = self._engine.concurrency
        with ThreadPoolExecutor(threads, initializer=self._enter_inference) as pool:
            started = self._clock()
            samples = sum(pool.map(lambda _: self._speak(), range(threads)))
            return samples / SAMPLE_RATE / (self._clock() - started)

    def _utterance(self) -> Utterance:
        return Utterance(self._script, "en-us", self._voice, 1.0)


def _audible(samples: Pcm) -> bool:
    return bool(np.any((samples > AUDIBLE) | (samples < -AUDIBLE)))
