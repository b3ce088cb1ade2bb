"""The process that measures an engine: `python -m worker.tuning.process LIFELINE`.

The process's input is `WorkerSettings` as a line of JSON, and an empty line for each `Round` requested.
`MeasurementFailed` is the last answer. Libraries' output goes to standard error, so that standard output holds answers
only.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from statistics import median
from typing import NoReturn

import numpy as np
from setproctitle import setproctitle

from shm.audio import AUDIBLE, Pcm
from shm.lifeline import die_with_supervisor
from shm.messages import Voice
from worker.engine import Engine, EngineError, EngineUnavailable, Utterance
from worker.engines.kokoro import measure_provider
from worker.machine import place_process
from worker.models.choice import kokoro_files
from worker.providers.choice import decide_providers
from worker.providers.trial import SAMPLE_SENTENCES, trial
from worker.select import choose
from worker.settings import WorkerSettings
from worker.tuning.messages import MeasurementFailed, Result, Round, decode_settings, encode

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
        firsts: int = FIRSTS,
    ) -> None:
        """
        Args:
            script: the sentence to speak, in the engine's notation.
            firsts: number of first sounds in one round, of which the median counts.
        """
        self._engine = engine
        self._script = script
        self._clock = clock
        self._firsts = firsts
        self._voice: Voice = ((engine.info.default_voice, 1.0),)

    def measure(self) -> Round:
        """One round of measurements.

        Raises:
            EngineError, ProviderUnavailable: the engine failed, or made no audible sample of the sentence.
        """
        first = median(self._first() for _ in range(self._firsts))
        started = self._clock()
        samples = self._speak()
        alone = samples / self._engine.info.sample_rate / (self._clock() - started)
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
        with ThreadPoolExecutor(threads) as pool:
            started = self._clock()
            samples = sum(pool.map(lambda _: self._speak(), range(threads)))
            return samples / self._engine.info.sample_rate / (self._clock() - started)

    def _utterance(self) -> Utterance:
        return Utterance(self._script, "en-us", self._voice, 1.0)


def _audible(samples: Pcm) -> bool:
    return bool(np.any((samples > AUDIBLE) | (samples < -AUDIBLE)))


SENTENCE = SAMPLE_SENTENCES[0]
"""Sentence of the measurements: long enough for several windows, short enough for five rounds of each configuration."""


def main() -> NoReturn:
    """Run the process. The argument `LIFELINE` is the descriptor of a pipe whose end ends this process."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    setproctitle("kokoro-live: tuning")
    die_with_supervisor(int(sys.argv[1]))
    lines = iter(sys.stdin.buffer.readline, b"")
    for result in results(decode_settings(next(lines)), lines):
        answers.write(encode(result))
        answers.flush()
    os._exit(0)  # a native library that crashes at exit would look like a failed measurement


def results(settings: WorkerSettings, asked: Iterable[object]) -> Iterator[Result]:
    """Load the engine, then measure it once for each item of `asked`. A failure is the last result."""
    try:
        _try_providers(settings)
        place_process(settings)
        engine = choose(settings)
        engine.warm_up()
        script = "".join(filter(engine.info.vocabulary.__contains__, SENTENCE)) or SENTENCE
        speaking = EngineMeasurement(engine, script)
        for _ in asked:
            yield speaking.measure()
    except (EngineUnavailable, EngineError) as error:
        yield MeasurementFailed(str(error))


def _try_providers(settings: WorkerSettings) -> None:
    """Run the trials that the server would run in the background, so that the measured engine uses the server's own
    choice of provider."""
    files = kokoro_files(settings)
    for provider in dict.fromkeys(decide_providers(files[0], settings).choice.untried):
        if trial(settings, provider, settings.compile_timeout, measure_provider) is None:
            raise EngineUnavailable(f"the verdict on {provider} can't be stored in {settings.cache_dir}")


if __name__ == "__main__":
    main()
