"""Measurements of a trial, made in a process of their own: a provider that hangs or crashes there disturbs no other
process."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from setproctitle import setproctitle

from shm.audio import Pcm
from shm.lifeline import die_with_supervisor, leave_ending_to_supervisor
from worker.engine import EngineError, EngineUnavailable, Utterance
from worker.engines.kokoro import SAMPLE_SENTENCES, KokoroEngine
from worker.pcm import snr
from worker.providers.nodes_run import profiling
from worker.providers.targets import Assignment, StageTarget
from worker.settings import WorkerSettings
from worker.trials.judge import Measurements

if TYPE_CHECKING:
    from multiprocess.connection import Connection

SENTENCES = SAMPLE_SENTENCES[:2]
"""Sentences of a trial: about 5 s of speech in a dozen windows, of all lengths that windows have."""

ROUNDS = 5
"""Number of timed rounds, each by the CPU and then by the provider."""


def run(
    lifeline: Connection,
    answer: Connection,
    files: tuple[Path, Path],
    settings: WorkerSettings,
    provider: str,
    placed: Assignment,
) -> None:
    """Measure, send the `Measurements` through `answer`, and end. If not even the CPU can speak, send the reason."""
    setproctitle("kokoro-live: trial")
    die_with_supervisor(os.dup(lifeline.fileno()))
    leave_ending_to_supervisor()
    # The worker that speaks has already logged the warnings about this model.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        measured = measure(provider, lambda assigned: KokoroEngine(*files, settings, assigned=assigned), placed)
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
