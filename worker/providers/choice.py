"""The choice of execution providers: the chain of those that could run the model here, in order and ending with the
CPU, each one's stages, and the verdicts of their trials.

An accelerator is used once a trial has shown that it is right, and faster unless the settings name it. Until then the
CPU speaks.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnxruntime

from worker.engine import BadOption, EngineUnavailable, ProviderUnavailable
from worker.machine import cores
from worker.models.sources import cached_sha256_of
from worker.providers.table import PROVIDERS, Provider, cached_in, given_to, is_asked, options_of, provider_of
from worker.providers.verdict import Key, Verdict, load
from worker.session import session_on
from worker.settings import WorkerSettings
from worker.split.segments.segment import GENERATOR_CONTEXT
from worker.split.segments.windows import SHORTEST, WindowShape
from worker.targets import CPU, Assignment, StageTarget


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
    verdict: Verdict | None = None
    """None before the trial."""
    stale: bool = False
    """True if the trial is to be made again; its verdict holds until then."""


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
    best = PROVIDERS["coreml" if (platform or sys.platform) == "darwin" else "cuda"].name
    others = tuple(provider for provider in (best,) if provider in available)
    match settings.provider:
        case "auto":
            return (*others, CPU)
        case "tensorrt":
            return (PROVIDERS["tensorrt"].name, *others, CPU)
        case name:
            return tuple(dict.fromkeys((PROVIDERS[name].name, CPU)))


def candidates_of(provider: str, settings: WorkerSettings, compiled: Path, version: str = "") -> list[Assignment]:
    """Stages to run with a provider, each with the provider's options: one assignment for each set of options that is
    worth a trial.

    An accelerator has the generator, in static windows: nine tenths of the work. Shapes that change cost more than it
    gains (`docs/decisions/providers.md`), and the sine source's phase has to be exact, which CoreML's modulo isn't.

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
    row = provider_of(provider)
    options = options_of(provider, settings.provider_options, settings.provider, version)
    if row.threads:
        options = {row.threads: str(settings.threads or cores())} | options
    options = cached_in(str(compiled), options, row, version)
    key, others = row.tried_also
    if key in given_to(provider, settings.provider_options, settings.provider):
        others = ()
    tried = [options, *(options | {key: value} for value in others)]
    return [_assigned(row, settings, tuple(sorted(each.items()))) for each in tried]


def _assigned(row: Provider, settings: WorkerSettings, options: tuple[tuple[str, str], ...]) -> Assignment:
    if row.name == CPU:
        return Assignment()
    if settings.vocoder == "whole":
        return Assignment()
    return Assignment(generator=StageTarget(row.name, options, window_frames(settings), row.half))


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
        asked = is_asked(provider, settings.provider)
        if provider in without or provider == CPU:
            continue
        if provider not in available:
            package = provider_of(provider).package
            raise ProviderUnavailable(provider, f"this onnxruntime has only {', '.join(available)}; {package} has it")
        its = [candidate for candidate in candidates if candidate.provider == provider]
        if its[0].assignment == Assignment():
            if asked:
                raise ProviderUnavailable(provider, "it runs static windows, and --vocoder whole has none")
            continue
        judged = [(each.verdict, each.assignment) for each in its if each.verdict]
        untried += [provider] * sum(each.stale or each.verdict is None for each in its)
        favoured = [(verdict, assignment) for verdict, assignment in judged if verdict.favours(asked)]
        if favoured:
            return Choice(max(favoured, key=lambda each: each[0].ratio or 0.0)[1], tuple(untried))
        if asked and provider not in untried:
            raise ProviderUnavailable(provider, "; ".join(dict.fromkeys(verdict.reason for verdict, _ in judged)))
    return Choice(Assignment(), tuple(untried))


# Probe of a provider's options: asks onnxruntime at the start, with a graph of one node, before anything is
# compiled.


def see_accepted(target: StageTarget, given: Collection[str]) -> None:
    """Check that the target's provider accepts the target's options with the keys in `given`. A provider that doesn't
    work without them either isn't reported here: the failure shows when the provider is used.

    Raises:
        BadOption: the provider works only without the given options.
    """
    try:
        session_on(target, _one_node(), onnxruntime.SessionOptions(), given)
    except ProviderUnavailable as error:
        ours = tuple(option for option in target.options if option[0] not in given)
        try:
            session_on(StageTarget(target.provider, ours), _one_node(), onnxruntime.SessionOptions())
        except ProviderUnavailable:
            return
        theirs = ", ".join(f"{key}={value}" for key, value in target.options if key in given)
        raise BadOption(f"{target.provider} works without {theirs}, but not with that: {error}") from error


def _one_node() -> bytes:
    # Memory that a worker on the CPU never needs (`python -m benchmarks.late_loading`).
    from onnx import TensorProto, helper

    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "one", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    written: bytes = model.SerializeToString()
    return written


@dataclass(frozen=True, slots=True)
class ProviderDecision:
    """A choice of execution providers, and the chain and verdicts that led to it."""

    choice: Choice
    chain: tuple[str, ...]
    verdicts: Sequence[tuple[str, Assignment, Verdict]] = ()
    """Verdicts of finished trials, each with the provider and the assignment that it is about."""


def first(settings: WorkerSettings, without: Collection[str] = ()) -> str:
    """First provider of the chain that isn't in `without`; `decide_providers` examines it first."""
    providers = chain(settings, onnxruntime.get_available_providers())
    return next((provider for provider in providers if provider not in without), CPU)


def decide_providers(model: Path, settings: WorkerSettings, without: Collection[str] = ()) -> ProviderDecision:
    """Choose execution providers for the model's stages. No provider in `without` is chosen.

    Raises:
        BadOption: an option that the user gave isn't the provider's, or isn't accepted.
        EngineUnavailable: the model can't be read.
        ProviderUnavailable: the provider that the settings name isn't there, or lost its trial.
    """
    available = onnxruntime.get_available_providers()
    providers = chain(settings, available)
    # Options are checked first, so that a wrong one is reported whatever else is wrong.
    options_of(providers[0], settings.provider_options, settings.provider, onnxruntime.__version__)
    candidates: list[Candidate] = []
    verdicts: list[tuple[str, Assignment, Verdict]] = []
    for provider in providers:
        if provider == CPU or provider in without or provider not in available or not model.is_file():
            continue
        given = given_to(provider, settings.provider_options, settings.provider)
        for placed, key in keyed_candidates(provider, model, settings):
            if given:
                see_accepted(next(target for _, target in placed.stages() if target.provider == provider), given)
            verdict = load(settings.cache_dir, key)
            if verdict and verdict.had_less(settings.compile_timeout):
                verdict = None
            stale = verdict is not None and verdict.is_stale(settings.verdict_seconds)
            candidates.append(Candidate(provider, placed, verdict, stale))
            verdicts += [(provider, placed, verdict)] if verdict else []
    if not model.is_file():
        return ProviderDecision(Choice(Assignment()), providers)
    return ProviderDecision(choose(settings, available, without, candidates), providers, verdicts)


def keyed_candidates(provider: str, model: Path, settings: WorkerSettings) -> list[tuple[Assignment, Key]]:
    """The assignments to try with that provider, each with the key under which its verdict is kept.

    Raises:
        BadOption: an option that the user gave isn't the provider's.
        EngineUnavailable: the model can't be read.
    """
    try:
        sha256 = cached_sha256_of(model)
    except OSError as error:
        raise EngineUnavailable(f"{model} can't be read: {error.strerror}") from error
    short = next(setting for setting, row in PROVIDERS.items() if row.name == provider)
    compiled = settings.cache_dir / short / f"{sha256[:32]}-{onnxruntime.__version__}"
    placed = candidates_of(provider, settings, compiled)
    return [(each, Key.of(provider, each, settings, sha256)) for each in placed]
