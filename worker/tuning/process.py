"""A measured engine's process: `python -m worker.tuning.process LIFELINE`.

Its input is `WorkerSettings` as a line of JSON, and an empty line for each `Round` that is wanted. `Failed` is the last
answer. Output of libraries goes to standard error, so that answers stay alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import NoReturn

from setproctitle import setproctitle

from shm.lifeline import die_with_supervisor
from worker.acceleration.placing import place
from worker.acceleration.trial import trial
from worker.engine import EngineError, EngineUnavailable
from worker.kokoro import SAMPLE_SENTENCES
from worker.model_choice import kokoro_files
from worker.priority import place_process, place_thread
from worker.select import choose
from worker.settings import WorkerSettings
from worker.tuning.measure import Speaking
from worker.tuning.records import Failed, Record, decode_settings, encode

SENTENCE = SAMPLE_SENTENCES[0]
"""The sentence that is spoken: long enough for several windows, short enough for five rounds of each way."""


def main() -> NoReturn:
    """`LIFELINE`: the descriptor of a pipe whose end is the end of this process."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    setproctitle("kokoro-live: tuning")
    die_with_supervisor(int(sys.argv[1]))
    lines = iter(sys.stdin.buffer.readline, b"")
    for record in records(decode_settings(next(lines)), lines):
        answers.write(encode(record))
        answers.flush()
    os._exit(0)  # native libraries that crash at their end would be told of as a failed measurement


def records(settings: WorkerSettings, asked: Iterable[object]) -> Iterator[Record]:
    """Load the engine, then measure it once for each item of `asked`."""
    try:
        _try_providers(settings)
        place_process(settings)
        place_thread(settings)
        engine = choose(settings)
        engine.warm_up()
        script = "".join(filter(engine.info.vocabulary.__contains__, SENTENCE)) or SENTENCE
        speaking = Speaking(engine, script, enter_lane=lambda: place_thread(settings))
        for _ in asked:
            yield speaking.measure()
    except (EngineUnavailable, EngineError) as error:
        yield Failed(str(error))


def _try_providers(settings: WorkerSettings) -> None:
    """Have execution providers judged that the server would try in the background, so that its own choice is measured.

    Raises:
        EngineUnavailable: a verdict can't be stored.
    """
    files = kokoro_files(settings)
    for provider in place(files[0], settings).choice.untried:
        if trial(settings, provider, settings.compile_timeout) is None:
            raise EngineUnavailable(f"the verdict on {provider} can't be stored in {settings.cache_dir}")


if __name__ == "__main__":
    main()
