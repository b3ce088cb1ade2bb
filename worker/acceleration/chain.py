"""The chain: the execution providers that could run the model here, in order and ending with the CPU, and each one's
stages.

An accelerator is used once a trial (`worker.acceleration`) has shown that it is right, and faster unless the settings
name it. Until then the CPU speaks.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import onnxruntime

from worker.engine import ProviderUnavailable
from worker.machine.machine import cores
from worker.providers.options import OpenVINOOptions, given_to, options_of
from worker.providers.targets import CPU, NAMES, Assignment, StageTarget
from worker.settings import WorkerSettings
from worker.split.segments.segment import GENERATOR_CONTEXT
from worker.split.segments.windows import SHORTEST, WindowShape

COREML, CUDA, TENSORRT = (NAMES[name] for name in ("coreml", "cuda", "tensorrt"))


class Judged(Protocol):
    """The part of a trial's verdict that the choice depends on."""

    @property
    def reason(self) -> str: ...

    @property
    def ratio(self) -> float | None: ...

    def favours(self, asked_by_name: bool) -> bool: ...


@dataclass(frozen=True, slots=True)
class Choice:
    """The execution providers to use now, and better ones that wait for a trial."""

    assignment: Assignment
    untried: tuple[str, ...] = ()
    """Providers that may be better than the chosen one and wait for their trial, once for each untried candidate."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Stages that may run with an accelerator, and the verdict of their trial."""

    provider: str
    assignment: Assignment
    verdict: Judged | None = None
    """None before the trial."""


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


def candidates_of(provider: str, settings: WorkerSettings, compiled: Path, version: str = "") -> list[Assignment]:
    """Stages to run with a provider, each with the provider's options: one assignment for each set of options that is
    worth a trial.

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
    version = version or onnxruntime.__version__
    options = options_of(provider, settings.provider_options, settings.provider, version)
    if isinstance(options, OpenVINOOptions) and not options.num_of_threads:
        options = OpenVINOOptions(**_filled(options, num_of_threads=str(settings.threads or cores())))
    given = given_to(provider, settings.provider_options, settings.provider)
    return [
        _assigned(provider, settings, each.with_cache(compiled).as_options(version), options.half)
        for each in options.variants(given)
    ]


def _assigned(provider: str, settings: WorkerSettings, options: tuple[tuple[str, str], ...], half: bool) -> Assignment:
    anywhere = StageTarget(provider, options)
    if provider == CPU:
        return Assignment()
    if provider == CUDA:
        return Assignment(anywhere, StageTarget(), anywhere, anywhere, anywhere)
    if settings.vocoder == "whole":
        return Assignment()
    return Assignment(generator=StageTarget(provider, options, window_frames(settings), half))


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
    candidates: Sequence[Candidate],
    platform: str = "",
) -> Choice:
    """The chain's first provider with a verdict in its favour, with its fastest candidate, or else the CPU.

    Args:
        settings: the settings.
        available: the providers that onnxruntime offers.
        without: providers that have failed here.
        candidates: at least one for each provider of the chain that is available and not in `without`.
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
        its = [candidate for candidate in candidates if candidate.provider == provider]
        if its[0].assignment == Assignment():
            if asked:
                raise ProviderUnavailable(provider, "it runs static windows, and --vocoder whole has none")
            continue
        judged = [(each.verdict, each.assignment) for each in its if each.verdict]
        untried += [provider] * (len(its) - len(judged))
        favoured = [(verdict, assignment) for verdict, assignment in judged if verdict.favours(asked)]
        if favoured:
            return Choice(max(favoured, key=lambda each: each[0].ratio or 0.0)[1], tuple(untried))
        if asked and len(judged) == len(its):
            raise ProviderUnavailable(provider, "; ".join(dict.fromkeys(verdict.reason for verdict, _ in judged)))
    return Choice(Assignment(), tuple(untried))
