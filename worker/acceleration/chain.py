"""The chain: the execution providers that could run the model here, in order and ending with the CPU, and each one's
stages.

An accelerator is used once a trial (`worker.acceleration`) has shown that it is right, and faster unless the settings
name it. Until then the CPU speaks.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import onnxruntime

from worker.engine import ProviderUnavailable
from worker.machine.machine import cores
from worker.providers.options import OpenVINOOptions, options_of
from worker.providers.targets import CPU, NAMES, Assignment, StageTarget
from worker.settings import WorkerSettings
from worker.split.segment import GENERATOR_CONTEXT
from worker.split.windows import SHORTEST, WindowShape

COREML, CUDA, TENSORRT = (NAMES[name] for name in ("coreml", "cuda", "tensorrt"))


class Judged(Protocol):
    """The part of a trial's verdict that the choice depends on."""

    @property
    def reason(self) -> str: ...

    def favours(self, asked_by_name: bool) -> bool: ...


@dataclass(frozen=True, slots=True)
class Choice:
    """The execution providers to use now, and better ones that wait for a trial."""

    assignment: Assignment
    untried: tuple[str, ...] = ()
    """Providers that may be better than the chosen one, and wait for their trial."""


def chain(settings: WorkerSettings, available: Collection[str], platform: str = "") -> tuple[str, ...]:
    """The providers to try, in order.

    A provider that the settings name is included even if onnxruntime doesn't offer it, so that its absence is reported.
    TensorRT and OpenVINO are never used unless named: TensorRT compiles for minutes, and OpenVINO wasn't faster in
    measurements.

    Args:
        settings: the settings.
        available: the providers that onnxruntime offers.
        platform: `sys.platform` of another machine than this one; empty for this one.
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
    """Stages and options to run with a provider.

    A stage that can't be given a static window stays on the CPU if the provider needs one. The sine source stays on the
    CPU with every provider: it is little work, and its phase has to be exact, but CoreML's modulo miscomputes it.

    Args:
        provider: onnxruntime's name of the provider.
        settings: the settings.
        compiled: a folder for this model and this onnxruntime only; its path names both, because CoreML finds its
            compiled models by path.
        version: onnxruntime's version; empty for the installed one.

    Raises:
        BadOption: an option that the user gave isn't the provider's.
    """
    options = options_of(provider, settings.provider_options, settings.provider, version or onnxruntime.__version__)
    if isinstance(options, OpenVINOOptions) and not options.num_of_threads:
        options = OpenVINOOptions(**_filled(options, num_of_threads=str(settings.threads or cores())))
    pairs = options.with_cache(compiled).as_options(version or onnxruntime.__version__)
    anywhere = StageTarget(provider, pairs)
    if provider == CPU:
        return Assignment()
    if provider == CUDA:
        return Assignment(anywhere, StageTarget(), anywhere, anywhere, anywhere)
    if settings.vocoder == "whole":
        return Assignment()
    return Assignment(generator=StageTarget(provider, pairs, window_frames(settings)))


def _filled(options: OpenVINOOptions, **more: str) -> dict[str, str]:
    return dict(options.as_options(onnxruntime.__version__)) | more


def window_frames(settings: WorkerSettings) -> int:
    """Length, in frames at 80 Hz, of a static window that any window of a segment fits into, with its context on both
    sides. The number is even, because the decoder makes two frames at a time."""
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
        settings: the settings.
        available: the providers that onnxruntime offers.
        without: providers that have failed here.
        verdicts: the trials' verdicts, by provider.
        candidates: the stages of each provider of the chain.
        platform: as for `chain`.

    Raises:
        ProviderUnavailable: onnxruntime doesn't offer the provider that the settings name, or it lost its trial.
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
