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
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
import multiprocess
import numpy as np
import psutil
from setproctitle import setproctitle

from shm.audio import Pcm
from shm.lifeline import DONE, FAILED, NOTHING_NEW, die_with_supervisor, leave_ending_to_supervisor
from worker.engine import EngineError, EngineUnavailable, Utterance
from worker.machine import place_process
from worker.models.choice import kokoro_files
from worker.pcm import snr
from worker.providers.choice import keyed_candidates
from worker.providers.table import is_asked
from worker.providers.verdict import Measurements, Verdict, judge, load, store
from worker.session import profiling
from worker.settings import WorkerSettings
from worker.targets import Assignment, StageTarget

log = logging.getLogger(__name__)

NICENESS = 10
"""Niceness of both processes: the worker that speaks has the processors first."""


def run(settings: WorkerSettings, provider: str, measuring: Callable[..., None]) -> NoReturn:
    """Try `provider` (onnxruntime's name), keep the verdict, and exit with a status of `shm.lifeline`."""
    setproctitle("kokoro-live: trial")
    # The supervisor ends a trial at `compile_timeout`, so the verdict has to be stored before that.
    spent = time.time() - psutil.Process().create_time()
    seconds = settings.compile_timeout - spent - min(5.0, 0.1 * settings.compile_timeout)
    try:
        place_process(settings)  # the CPU run to compare with gets the worker's processors
        os.nice(NICENESS)
        changed: list[Verdict] = []
        verdicts = trial(settings, provider, seconds, measuring, changed)
    except EngineUnavailable as error:
        log.warning("%s could not be tried: %s", provider, error)
        sys.exit(FAILED)
    if verdicts and changed:
        sys.exit(DONE)
    # The machine may have been busy: the next start obeys a verdict on one that took too long, this server retries.
    failed = verdicts is None or any(verdict.timeout is not None for verdict in verdicts)
    sys.exit(FAILED if failed else NOTHING_NEW)


def trial(
    settings: WorkerSettings,
    provider: str,
    seconds: float,
    measuring: Callable[..., None],
    changed: list[Verdict] | None = None,
) -> list[Verdict] | None:
    """Verdicts on a provider's candidates, each from measurements in another process; None if one can't be stored,
    because then no worker would find it. Candidates that were measured before are left out, unless they took too long
    or their verdict is stale.

    Args:
        seconds: time for each candidate.
        changed: is given the verdicts after which a candidate is used that wasn't, or the reverse.
        measuring: the measuring process's function. It is given a lifeline, a pipe's end for its `Measurements`, the
            model's files, the settings, the provider and the assignment to try.

    Raises:
        EngineUnavailable: there is no model for the trial, the CPU can't speak with it, or a process was killed from
            outside and no other candidate has won. Verdicts on the other candidates are stored all the same.
    """
    files = kokoro_files(settings)
    verdicts: list[Verdict] = []
    problem: EngineUnavailable | None = None
    for placed, key in keyed_candidates(provider, files[0], settings):
        before = load(settings.cache_dir, key)
        stale = before is not None and before.is_stale(settings.verdict_seconds)
        if before and before.timeout is None and not stale:
            continue
        name = " ".join(filter(None, (provider, dict(placed.generator.options).get("MLComputeUnits"))))
        log.info("trying %s, for at most %.0f s", name, seconds)
        arguments = (files, settings, provider, placed)
        try:
            verdict = judge(_measured(measuring, seconds, settings.compile_timeout, provider, arguments))
        except EngineUnavailable as error:
            problem = error
            continue
        log.log(logging.INFO if verdict.timeout is None else logging.WARNING, "%s: %s", name, verdict.reason)
        if not store(settings.cache_dir, key, verdict):
            return None
        verdicts.append(verdict)
        asked = is_asked(provider, settings.provider)
        if changed is not None and verdict.favours(asked) != (before is not None and before.favours(asked)):
            changed.append(verdict)
    if problem and not _any_in_favour(verdicts, settings, provider):
        raise problem
    return verdicts


def _any_in_favour(verdicts: Sequence[Verdict], settings: WorkerSettings, provider: str) -> bool:
    return any(verdict.favours(is_asked(provider, settings.provider)) for verdict in verdicts)


def _measured(
    measuring: Callable[..., None], seconds: float, timeout: float, provider: str, arguments: tuple[Any, ...]
) -> Measurements:
    """Measurements from another process, which is killed after `seconds`.

    Raises:
        EngineUnavailable: the CPU can't speak, or the process was killed from outside.
    """
    context = multiprocess.get_context("spawn")
    lifeline_end, lifeline = context.Pipe(duplex=False)
    answer, answer_end = context.Pipe(duplex=False)
    process = context.Process(target=measuring, args=(lifeline_end, answer_end, *arguments), name="trial")
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


if TYPE_CHECKING:
    from multiprocess.connection import Connection

SAMPLE_SENTENCES = (
    "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˌOvəɹ ðə lˈAzi dˈɔɡ, ænd ɹˈʌnz əwˈA.",
    "wˌʌt tˈIm ɪz ɪt?",
    "ʃi sˈɛd ðæt ðə wˈɛðəɹ wʊd bi fˈIn bI ðə vˈɛɹi ˈɛnd ʌv ðə wˈik.",
    "jˈɛs, ˈI θˈɪŋk sˌO; lˈɛts bəɡˈɪn.",
    "ə ʧˈɜɹʧ bˈɛl ɹˈæŋ ɪn ðə dˈɪstᵊns, ænd ˈɛvɹiwˌʌn ɪn ðə skwˈɛɹ lˈʊkt ˈʌp.",
    "hˌW mˈʌʧ dˈʌz ðə jˈuʒuəl vˈYʤ kˈɔst?",
)
"""Sentences for trying an engine: they have all of Kokoro's American phonemes."""

SENTENCES = SAMPLE_SENTENCES[:2]
"""Sentences of a trial: about 5 s of speech in a dozen windows, of all lengths that windows have."""

ROUNDS = 5
"""Number of timed rounds, each by the CPU and then by the provider."""


def tell_measurements(
    lifeline: Connection,
    answer: Connection,
    provider: str,
    load: Callable[[Assignment], Any],
    placed: Assignment,
) -> None:
    """Measure, send the `Measurements` through `answer`, and end: the measuring process. If not even the CPU can speak,
    send the reason. The other arguments are those of `measure`."""
    setproctitle("kokoro-live: trial")
    die_with_supervisor(os.dup(lifeline.fileno()))
    leave_ending_to_supervisor()
    # The worker that speaks has already logged the warnings about this model.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        measured = measure(provider, load, placed)
    except (EngineError, EngineUnavailable) as error:
        answer.send(str(error))
    else:
        answer.send(measured)


def measure(provider: str, load: Callable[[Assignment], Any], placed: Assignment) -> Measurements:
    """Compare a provider with the CPU on the same sentences.

    Args:
        provider: onnxruntime's name of the provider.
        load: makes an engine for an assignment.
        placed: the assignment to try.

    Raises:
        EngineError, EngineUnavailable: the CPU can't speak the sentences.
    """
    cpu = load(Assignment())
    cpu.warm_up()
    reference = [_spoken(cpu, sentence) for sentence in SENTENCES]
    measured = Measurements(provider=provider)
    try:
        if placed.generator.window:
            # The CPU may compute in 8-bit integers, whose rounding errors are larger than half precision's.
            in_floats = load(Assignment(generator=StageTarget(window=placed.generator.window)))
            reference = [_spoken(in_floats, sentence) for sentence in SENTENCES]
            del in_floats
        started = time.monotonic()
        with profiling() as profiles:
            other = load(placed)
            other.warm_up()
            sound = [_spoken(other, sentence) for sentence in SENTENCES]
            measured = msgspec.structs.replace(
                measured, compile_seconds=time.monotonic() - started, nodes_run=profiles.end()
            )
        measured = msgspec.structs.replace(measured, snr=_compared(reference, sound))
        pairs = [(_seconds(cpu), _seconds(other)) for _ in range(ROUNDS)]
    except Exception as error:  # the provider's library may raise anything; the CPU has already spoken
        return msgspec.structs.replace(measured, failure=f"{type(error).__name__}: {error}")
    return msgspec.structs.replace(
        measured, cpu_seconds=tuple(mine for mine, _ in pairs), seconds=tuple(its for _, its in pairs)
    )


def _compared(reference: Sequence[Pcm], sound: Sequence[Pcm]) -> tuple[float, ...]:
    """Signal-to-noise ratios of the sentences, in dB.

    Raises:
        EngineError: a sentence has another length than the CPU's.
    """
    for mine, its in zip(reference, sound, strict=True):
        if len(mine) != len(its):
            raise EngineError(f"of a sentence it made {len(its)} samples, and the CPU {len(mine)}")
    return tuple(snr(mine, its) for mine, its in zip(reference, sound, strict=True))


def _spoken(engine: Any, sentence: str) -> Pcm:
    """Samples of a sentence, without the phonemes that the model doesn't know.

    Raises:
        EngineError: the sentence can't be spoken, or its samples aren't finite numbers.
    """
    known = "".join(filter(engine.info.vocabulary.__contains__, sentence))
    voice = engine.info.default_voice
    return np.concatenate([b.samples for b in engine.begin(Utterance(known, "en-us", ((voice, 1.0),), 1.0, seed=1))])


def _seconds(engine: Any) -> float:
    started = time.monotonic()
    for sentence in SENTENCES:
        _spoken(engine, sentence)
    return time.monotonic() - started
