"""Stand-ins for a trial's measuring process, and whole trials to be started as processes.

Each process imports the engine only if it speaks or starts a trial: that takes half a second of a core.
"""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shm.lifeline import become_child
from worker.providers.table import PROVIDERS, Provider

if TYPE_CHECKING:
    from worker.settings import WorkerSettings
    from worker.targets import Assignment

AZURE = "AzureExecutionProvider"
"""A provider that every wheel has, without kernels: onnxruntime takes it, and runs everything on the CPU."""


FEW = 24
"""Phonemes that the small model speaks in several windows."""


def named(provider: str, name: str) -> Provider:
    """The provider's row under another of onnxruntime's names."""
    return replace(PROVIDERS[provider], name=name)


def pretend_azure_is_cuda() -> None:
    PROVIDERS["cuda"] = named("cuda", AZURE)


def crashes(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGABRT)


def is_killed(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def crashes_late(
    lifeline: Any, answer: Any, files: Any, settings: WorkerSettings, provider: str, placed: Assignment
) -> None:
    """Crash in the provider's first run, with everything loaded."""
    from worker.engines.kokoro import KokoroEngine

    load = KokoroEngine.begin

    def begin(engine: Any, utterance: Any) -> Any:
        if engine.info.provider != "CPUExecutionProvider":
            os.kill(os.getpid(), signal.SIGSEGV)
        return load(engine, utterance)

    KokoroEngine.begin = begin  # type: ignore[method-assign]
    is_quick(lifeline, answer, files, settings, provider, placed)


def fails(*_: Any) -> None:
    raise SystemExit("not the provider's fault")


def never_ends(*_: Any) -> None:
    threading.Event().wait()


def tells_and_never_ends(lifeline: Any, _answer: Any, _files: Any, settings: WorkerSettings, *_: Any) -> None:
    """Holds a FIFO open as long as it lives."""
    from shm.lifeline import die_with_supervisor

    die_with_supervisor(os.dup(lifeline.fileno()))
    with (settings.cache_dir / "alive").open("w") as alive:
        alive.write("alive\n")
        alive.flush()
        threading.Event().wait()


def has_no_sound_cpu(_lifeline: Any, answer: Any, *_: Any) -> None:
    answer.send("the CPU can't speak")


def writes_processors(_lifeline: Any, answer: Any, _files: Any, settings: WorkerSettings, *_: Any) -> None:
    settings.cache_dir.mkdir(parents=True, exist_ok=True)
    (settings.cache_dir / "processors").write_text(str(os.sched_getaffinity(0)))
    answer.send("nothing more was wanted")


def is_quick(*arguments: Any) -> None:
    """The real measurement, with a few words and two rounds."""
    from worker.engines.kokoro import measure_provider
    from worker.providers import trial

    trial.ROUNDS, trial.SENTENCES = 2, (trial.SENTENCES[1][:FEW],)
    measure_provider(*arguments)


def is_placed(
    lifeline: Any, answer: Any, files: Any, settings: WorkerSettings, provider: str, placed: Assignment
) -> None:
    """The real measurement, but the profile says that the provider ran something."""
    from worker.session import NodeProfiles

    NodeProfiles.end = lambda self: {f"generator-{placed.generator.window}": {provider: 771}}  # type: ignore[method-assign]
    is_quick(lifeline, answer, files, settings, provider, placed)


def by_units(
    _lifeline: Any, answer: Any, _files: Any, _settings: WorkerSettings, provider: str, placed: Assignment
) -> None:
    """Hangs, crashes or is right, by CoreML's compute units."""
    from worker.providers.verdict import Measurements

    units = dict(placed.generator.options)["MLComputeUnits"]
    if units == "ALL":
        never_ends()
    if units == "CPUAndNeuralEngine":
        crashes()
    ran = {"generator-70.half": {provider: 1}}
    answer.send(Measurements(provider=provider, snr=(45.0,), cpu_seconds=(4.0,), seconds=(1.0,), nodes_run=ran))


def run_trial(lifeline: Any, settings: WorkerSettings) -> None:
    """A whole trial, as the supervisor starts it."""
    from worker.providers import trial

    pretend_azure_is_cuda()
    become_child(os.dup(lifeline.fileno()))
    trial.run(settings, AZURE, crashes)


def run_endless_trial(lifeline: Any, settings: WorkerSettings) -> None:
    from worker.providers import trial

    pretend_azure_is_cuda()
    become_child(os.dup(lifeline.fileno()))
    trial.run(settings, AZURE, never_ends)


def run_tied_trial(lifeline: Any, settings: WorkerSettings) -> None:
    from worker.providers import trial

    pretend_azure_is_cuda()
    become_child(os.dup(lifeline.fileno()))
    trial.run(settings, AZURE, writes_processors)


def trial_that_never_ends(settings: WorkerSettings) -> None:
    from worker.providers import trial

    pretend_azure_is_cuda()
    trial.trial(settings, AZURE, 600.0, tells_and_never_ends)


def status_of(process: Any) -> int:
    process.join()
    status: int = process.exitcode
    process.close()
    return status


def fifo(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    os.mkfifo(folder / "alive")
    return folder / "alive"
