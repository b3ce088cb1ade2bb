"""Which execution providers could run the model here: a chain, which ends at the CPU, and what each would run.

An accelerator is taken once a trial (`worker.acceleration`) has shown that it is right, and faster unless it was asked
for by name. Until then the CPU speaks.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import onnxruntime

from worker.engine import ProviderUnavailable
from worker.machine import cores
from worker.providers.options import OpenVINOOptions, options_of
from worker.providers.records import CPU, NAMES, Assignment, StageRecord
from worker.settings import WorkerSettings
from worker.split.segment import GENERATOR_CONTEXT
from worker.split.windows import SHORTEST, WindowShape

COREML, CUDA, TENSORRT, OPENVINO = (NAMES[name] for name in ("coreml", "cuda", "tensorrt", "openvino"))


class Judged(Protocol):
    """What a trial has found, as far as the choice depends on it."""

    @property
    def reason(self) -> str: ...

    def favours(self, asked_by_name: bool) -> bool: ...


@dataclass(frozen=True, slots=True)
class Choice:
    """What runs the model now, and what could."""

    assignment: Assignment
    untried: tuple[str, ...] = ()
    """Providers that may be better than the one chosen, and wait for their trial."""


def chain(settings: WorkerSettings, available: Collection[str], platform: str = "") -> tuple[str, ...]:
    """The providers to be tried, in order. `platform`: another than this one, as `sys.platform` has it.

    One that is asked for is tried whether onnxruntime offers it or not, so that its absence is reported. TensorRT and
    OpenVINO are never taken unasked: the one compiles for minutes, the other wasn't faster where it was measured.
    """
    best = COREML if (platform or sys.platform) == "darwin" else CUDA
    others = tuple(provider for provider in (best,) if provider in available)
    match settings.provider:
        case "auto":
            return (*others, CPU)
        case "tensorrt":
            return (TENSORRT, *others, CPU)
        case name:
            return tuple(dict.fromkeys((NAMES[name], CPU)))


def candidate(provider: str, settings: WorkerSettings, compiled: Path, version: str = "") -> Assignment:
    """What each stage would run on with that provider, and its options. `compiled`: a folder that is this model's and
    this onnxruntime's alone; its path names both, because CoreML looks what it has compiled up by path.

    What no static window can be made of stays on the CPU with those that need one; and everywhere the sine source, 1 %
    of the work, whose phase has to be exact: CoreML's modulo miscomputes it.

    Raises:
        BadOption: an option that was given isn't the provider's.
    """
    options = options_of(provider, settings.provider_options, settings.provider, version or onnxruntime.__version__)
    if isinstance(options, OpenVINOOptions) and not options.num_of_threads:
        options = OpenVINOOptions(**_filled(options, num_of_threads=str(settings.threads or cores())))
    pairs = options.with_cache(compiled).as_options(version or onnxruntime.__version__)
    anywhere = StageRecord(provider, pairs)
    if provider == CPU:
        return Assignment()
    if provider == CUDA:
        return Assignment(anywhere, StageRecord(), anywhere, anywhere, anywhere)
    if settings.vocoder == "whole":
        return Assignment()
    return Assignment(generator=StageRecord(provider, pairs, window_frames(settings)))


def _filled(options: OpenVINOOptions, **more: str) -> dict[str, str]:
    return dict(options.as_options(onnxruntime.__version__)) | more


def window_frames(settings: WorkerSettings) -> int:
    """Frames at 80 Hz of a static window that any window of a segment fits into, with its context on both sides: an
    even number, because the front makes two at a time."""
    frames = WindowShape.of(settings).longest + SHORTEST - 1 + 2 * GENERATOR_CONTEXT
    return frames + frames % 2


def choose(
    settings: WorkerSettings,
    available: Collection[str],
    without: Collection[str],
    verdicts: Mapping[str, Judged],
    candidates: Mapping[str, Assignment],
    platform: str = "",
) -> Choice:
    """The chain's first provider with a verdict in its favour, or else the CPU.

    Args:
        settings: what is asked for.
        available: what onnxruntime has.
        without: what was found not to work.
        verdicts: of trials, by provider.
        candidates: what each of the chain would run.
        platform: as for `chain`.

    Raises:
        ProviderUnavailable: onnxruntime doesn't have the one that was asked for, or its trial was lost.
    """
    untried: list[str] = []
    for provider in chain(settings, available, platform):
        asked = NAMES.get(settings.provider) == provider
        if provider in without or provider == CPU:
            continue
        if provider not in available:
            raise ProviderUnavailable(provider, f"this onnxruntime has only {', '.join(available)}")
        if candidates[provider] == Assignment():
            if asked:
                raise ProviderUnavailable(provider, "it runs static windows, and --vocoder whole has none")
            continue
        verdict = verdicts.get(provider)
        if verdict is None:
            untried.append(provider)
        elif verdict.favours(asked):
            return Choice(candidates[provider], tuple(untried))
        elif asked:
            raise ProviderUnavailable(provider, verdict.reason)
    return Choice(Assignment(), tuple(untried))
