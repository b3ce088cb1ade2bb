"""Trial of an execution provider, while another one speaks: one process measures, and a second one waits for it.

The waiting process waits at most as long as `compile_timeout` says. It survives a crash or a hang of the provider, and
records that in the verdict, so that a crash costs one trial, and not one trial at each start. A trial that ends because
its server ends leaves no verdict, and is run again.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

import multiprocess
import psutil
from setproctitle import setproctitle

from shm.errand_status import DONE, FAILED, NOTHING_NEW
from worker.acceleration.decision import candidate_of
from worker.acceleration.verdict import Verdict, store
from worker.engine import EngineUnavailable
from worker.machine.priority import place_process
from worker.models.model_choice import kokoro_files
from worker.providers.targets import NAMES
from worker.settings import WorkerSettings
from worker.trials import measuring
from worker.trials.judge import Measurements, judge

log = logging.getLogger(__name__)

NICENESS = 10
"""Niceness of both processes: the worker that speaks has the processors first."""


def run(settings: WorkerSettings, provider: str, measure: Callable[..., None] = measuring.run) -> NoReturn:
    """Try `provider` (onnxruntime's name), keep the verdict, and exit with a status of `shm.errand_status`."""
    setproctitle("kokoro-live: trial")
    # The supervisor ends a trial at `compile_timeout`, so the verdict has to be stored before that.
    spent = time.time() - psutil.Process().create_time()
    seconds = settings.compile_timeout - spent - min(5.0, 0.1 * settings.compile_timeout)
    try:
        place_process(settings)  # the CPU run to compare with gets the worker's processors
        os.nice(NICENESS)
        verdict = trial(settings, provider, seconds, measure)
    except EngineUnavailable as error:
        log.warning("%s could not be tried: %s", provider, error)
        sys.exit(FAILED)
    if verdict is None:
        sys.exit(FAILED)
    if verdict.timeout is not None:
        log.warning("%s: %s", provider, verdict.reason)
        sys.exit(FAILED)  # the machine may have been busy: the next start obeys the verdict, this server retries
    in_favour = verdict.favours(NAMES.get(settings.provider) == provider)
    log.info("%s: %s", provider, verdict.reason)
    sys.exit(DONE if in_favour else NOTHING_NEW)


def trial(
    settings: WorkerSettings, provider: str, seconds: float, measure: Callable[..., None] = measuring.run
) -> Verdict | None:
    """Verdict on a provider, from measurements in another process; None if it can't be stored, because then no worker
    would find it.

    Raises:
        EngineUnavailable: there is no model for the trial, or the CPU can't speak with it.
    """
    files = kokoro_files(settings)
    placed, key = candidate_of(provider, files[0], settings)
    log.info("trying %s, for at most %.0f s", provider, seconds)
    arguments = (files, settings, provider, placed)
    verdict = judge(_measured(measure, seconds, settings.compile_timeout, provider, arguments))
    return verdict if store(settings.cache_dir, key, verdict) else None


def _measured(
    measure: Callable[..., None], seconds: float, timeout: float, provider: str, arguments: tuple[Any, ...]
) -> Measurements:
    """Measurements from another process, which is killed after `seconds`.

    Raises:
        EngineUnavailable: the CPU can't speak, or the process was killed from outside.
    """
    context = multiprocess.get_context("spawn")
    lifeline_end, lifeline = context.Pipe(duplex=False)
    answer, answer_end = context.Pipe(duplex=False)
    process = context.Process(target=measure, args=(lifeline_end, answer_end, *arguments), name="trial")
    process.start()
    lifeline_end.close()
    answer_end.close()
    try:
        if not answer.poll(max(0.0, seconds)):
            failure = f"it wasn't ready within {max(0.0, seconds):.3g} s"
            return Measurements(provider=provider, failure=failure, timeout=timeout)
        said = answer.recv()
        if isinstance(said, str):
            raise EngineUnavailable(said)
        assert isinstance(said, Measurements)
        return said
    except EOFError:
        process.join()
        if process.exitcode == -signal.SIGKILL:  # a process never sends SIGKILL to itself
            raise EngineUnavailable("the trial's process was killed, for want of memory perhaps") from None
        if process.exitcode >= 0:  # a provider's errors are caught in that process: the CPU or this code failed
            raise EngineUnavailable(f"the trial's process failed with status {process.exitcode}") from None
        return Measurements(provider=provider, failure=f"its trial crashed ({signal.Signals(-process.exitcode).name})")
    finally:
        process.kill()
        process.join()
        process.close()
        lifeline.close()
        answer.close()
