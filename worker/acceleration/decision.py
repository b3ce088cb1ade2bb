"""The choice of execution providers for a model: applies the chain and the trials' verdicts to this machine."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnxruntime

from worker.acceleration.chain import Candidate, Choice, candidates_of, chain, choose
from worker.acceleration.probe import see_accepted
from worker.acceleration.verdict import Key, Verdict, load
from worker.engine import EngineUnavailable
from worker.models.checksum_cache import cached_sha256_of
from worker.providers.options import given_to, options_of
from worker.providers.targets import CPU, NAMES, Assignment
from worker.settings import WorkerSettings


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
