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
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import multiprocess
import psutil
from setproctitle import setproctitle

from shm.lifeline import DONE, FAILED, NOTHING_NEW
from worker.acceleration.decision import keyed_candidates
from worker.acceleration.verdict import Verdict, load, store
from worker.engine import EngineUnavailable
from worker.machine.placement import place_process
from worker.models.choice import kokoro_files
from worker.providers.targets import NAMES
from worker.settings import WorkerSettings
from worker.trials import measuring
from worker.trials.judge import Measurements, judge

log = logging.getLogger(__name__)

NICENESS = 10
"""Niceness of both processes: the worker that speaks has the processors first."""


def run(settings: WorkerSettings, provider: str, measure: Callable[..., None] = measuring.run) -> NoReturn:
    """Try `provider` (onnxruntime's name), keep the verdict, and exit with a status of `shm.lifeline`."""
    setproctitle("kokoro-live: trial")
    # The supervisor ends a trial at `compile_timeout`, so the verdict has to be stored before that.
    spent = time.time() - psutil.Process().create_time()
    seconds = settings.compile_timeout - spent - min(5.0, 0.1 * settings.compile_timeout)
    try:
        place_process(settings)  # the CPU run to compare with gets the worker's processors
        os.nice(NICENESS)
        verdicts = trial(settings, provider, seconds, measure)
    except EngineUnavailable as error:
        log.warning("%s could not be tried: %s", provider, error)
        sys.exit(FAILED)
    if _any_in_favour(verdicts or (), settings, provider):
        sys.exit(DONE)
    # The machine may have been busy: the next start obeys a verdict on one that took too long, this server retries.
    failed = verdicts is None or any(verdict.timeout is not None for verdict in verdicts)
    sys.exit(FAILED if failed else NOTHING_NEW)


def trial(
    settings: WorkerSettings, provider: str, seconds: float, measure: Callable[..., None] = measuring.run
) -> list[Verdict] | None:
    """Verdicts on a provider's candidates, each from measurements in another process; None if one can't be stored,
    because then no worker would find it. Candidates that were measured before are left out, unless they took too long.

    Args:
        seconds: time for each candidate.

    Raises:
        EngineUnavailable: there is no model for the trial, the CPU can't speak with it, or a process was killed from
            outside and no other candidate has won. Verdicts on the other candidates are stored all the same.
    """
    files = kokoro_files(settings)
    verdicts: list[Verdict] = []
    problem: EngineUnavailable | None = None
    for placed, key in keyed_candidates(provider, files[0], settings):
        before = load(settings.cache_dir, key)
        if before and before.timeout is None:
            continue
        name = " ".join(filter(None, (provider, dict(placed.generator.options).get("MLComputeUnits"))))
        log.info("trying %s, for at most %.0f s", name, seconds)
        arguments = (files, settings, provider, placed)
        try:
            verdict = judge(_measured(measure, seconds, settings.compile_timeout, provider, arguments))
        except EngineUnavailable as error:
            problem = error
            continue
        log.log(logging.INFO if verdict.timeout is None else logging.WARNING, "%s: %s", name, verdict.reason)
        if not store(settings.cache_dir, key, verdict):
            return None
        verdicts.append(verdict)
    if problem and not _any_in_favour(verdicts, settings, provider):
        raise problem
    return verdicts


def _any_in_favour(verdicts: Sequence[Verdict], settings: WorkerSettings, provider: str) -> bool:
    return any(verdict.favours(NAMES.get(settings.provider) == provider) for verdict in verdicts)


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
