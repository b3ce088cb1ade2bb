"""One trial, as a process: `python -m worker.tuning.trial LIFELINE`, a `TrialSpec` in, a `Result` out.

Whatever a library prints on standard output goes to standard error: the answer is alone on its own.
"""

from __future__ import annotations

import os
import sys
import time
from typing import NoReturn

import psutil
from setproctitle import setproctitle

from shm.lifeline import die_with_supervisor
from worker.acceleration.placing import place
from worker.acceleration.trial import trial as judge
from worker.engine import EngineError, EngineUnavailable
from worker.priority import place_process, place_thread
from worker.providers.records import NAMES
from worker.select import choose, kokoro_files
from worker.settings import WorkerSettings
from worker.tuning.measure import Speaking
from worker.tuning.records import Failed, Measured, Result, SegmentTimes, TextTimes, TrialSpec, decode_spec, encode


def main() -> NoReturn:
    """`LIFELINE`: the descriptor of a pipe whose end is the end of this process."""
    answer = os.dup(1)
    os.dup2(2, 1)
    setproctitle("kokoro-live: tuning trial")
    die_with_supervisor(int(sys.argv[1]))
    spec = decode_spec(sys.stdin.buffer.read())
    with os.fdopen(answer, "wb") as file:
        file.write(encode(attempt(spec)))
    os._exit(0)  # what native libraries do at their end is no part of the trial


def attempt(spec: TrialSpec) -> Result:
    """Load the engine and measure it; an engine that can't be had, or is another than was asked for, is a failure."""
    try:
        _settle(spec.settings)
        place_process(spec.settings)
        place_thread(spec.settings)
        started = time.perf_counter()
        engine = choose(spec.settings)
        engine.warm_up()
        load_seconds = time.perf_counter() - started
        asked = NAMES.get(spec.settings.provider, engine.info.provider)
        if engine.info.provider != asked:
            return Failed(f"{asked} was asked for, and {engine.info.provider} runs the model")
        speaking = Speaking(engine, enter_lane=lambda: place_thread(spec.settings))
        if spec.texts:  # so that memory has grown to what it needs
            speaking.alone(max(spec.texts, key=lambda text: sum(map(len, text))), 1, 0)
        alone: list[TextTimes] = []
        segments: list[SegmentTimes] = []
        for text in spec.texts:
            times, made = speaking.alone(text, spec.repeats, spec.firsts)
            alone.append(times)
            segments += made
        together = speaking.together(spec.texts) if spec.texts else None
    except (EngineUnavailable, EngineError) as error:
        return Failed(str(error))
    return Measured(
        engine=engine.info,
        load_seconds=load_seconds,
        rss=psutil.Process().memory_info().rss,
        texts=tuple(alone),
        together=together,
        segments=tuple(segments),
    )


def _settle(settings: WorkerSettings) -> None:
    """Have execution providers judged that the server would try in the background, so that it is known what runs.

    Raises:
        EngineUnavailable: one can't be judged.
    """
    files = kokoro_files(settings)
    for provider in place(files[0], settings).choice.untried:
        if judge(settings, provider, settings.compile_timeout) is None:
            raise EngineUnavailable(f"what was found of {provider} can't be kept in {settings.cache_dir}")


if __name__ == "__main__":
    main()
