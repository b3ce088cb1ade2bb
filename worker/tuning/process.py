"""The process that measures an engine: `python -m worker.tuning.process LIFELINE`.

The process's input is `WorkerSettings` as a line of JSON, and an empty line for each `Round` requested.
`MeasurementFailed` is the last answer. Libraries' output goes to standard error, so that standard output holds answers
only.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import NoReturn

from setproctitle import setproctitle

from shm.lifeline import die_with_supervisor
from worker.acceleration.decision import decide_providers
from worker.engine import EngineError, EngineUnavailable
from worker.kokoro import SAMPLE_SENTENCES
from worker.machine.priority import place_process, place_thread
from worker.models.model_choice import kokoro_files
from worker.select import choose
from worker.settings import WorkerSettings
from worker.trials.trial import trial
from worker.tuning.measure import EngineMeasurement
from worker.tuning.messages import MeasurementFailed, Result, decode_settings, encode

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
        place_thread(settings)
        engine = choose(settings)
        engine.warm_up()
        script = "".join(filter(engine.info.vocabulary.__contains__, SENTENCE)) or SENTENCE
        speaking = EngineMeasurement(engine, script, enter_inference=lambda: place_thread(settings))
        for _ in asked:
            yield speaking.measure()
    except (EngineUnavailable, EngineError) as error:
        yield MeasurementFailed(str(error))


def _try_providers(settings: WorkerSettings) -> None:
    """Run the trials that the server would run in the background, so that the measured engine uses the server's own
    choice of provider.

    Raises:
        EngineUnavailable: a verdict can't be stored.
    """
    files = kokoro_files(settings)
    for provider in dict.fromkeys(decide_providers(files[0], settings).choice.untried):
        if trial(settings, provider, settings.compile_timeout) is None:
            raise EngineUnavailable(f"the verdict on {provider} can't be stored in {settings.cache_dir}")


if __name__ == "__main__":
    main()
