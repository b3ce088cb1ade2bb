"""The choice of execution providers for a model: applies the chain and the trials' verdicts to this machine."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnxruntime
import onnxruntime as ort

from worker.acceleration.chain import Candidate, Choice, candidates_of, chain, choose
from worker.acceleration.verdict import Key, Verdict, load
from worker.engine import EngineUnavailable, ProviderUnavailable
from worker.models.checksums import cached_sha256_of
from worker.providers.options import BadOption, given_to, options_of
from worker.providers.targets import CPU, NAMES, Assignment, StageTarget
from worker.session import session_on
from worker.settings import WorkerSettings

# Probe of a provider's options: asks onnxruntime at the start, with a graph of one node, before anything is
# compiled.


def see_accepted(target: StageTarget, given: Collection[str]) -> None:
    """Check that the target's provider accepts the target's options with the keys in `given`. A provider that doesn't
    work without them either isn't reported here: the failure shows when the provider is used.

    Raises:
        BadOption: the provider works only without the given options.
    """
    try:
        session_on(target, _one_node(), ort.SessionOptions(), given)
    except ProviderUnavailable as error:
        ours = tuple(option for option in target.options if option[0] not in given)
        try:
            session_on(StageTarget(target.provider, ours), _one_node(), ort.SessionOptions())
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
            candidates.append(Candidate(provider, placed, verdict))
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
    short = next(name for name, long in NAMES.items() if long == provider)
    compiled = settings.cache_dir / short / f"{sha256[:32]}-{onnxruntime.__version__}"
    placed = candidates_of(provider, settings, compiled)
    return [(each, Key.of(provider, each, settings, sha256)) for each in placed]
