"""The engine's part of `/status`: the engine in use, its execution providers, and the reasons for those."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import UNSET, UnsetType

from frontend.monitoring.status.processes import scheduling
from frontend.monitoring.status.report import LoadedFile, Provider, SpeakingEngine, Stage
from shm.engine_info import EngineInfo, Priority, StageInfo, TrialInfo
from shm.situation import Situation


def speaking(engine: EngineInfo, situation: Situation) -> SpeakingEngine:
    """The engine in use, with the provider chain as trials and refusals have left it."""
    return SpeakingEngine(
        name=engine.name,
        provider=engine.provider,
        model=engine.model,
        inference_threads=engine.concurrency,
        stands_in=engine.stands_in,
        sha256=engine.model_sha256 or UNSET,
        voices_sha256=engine.voices_sha256 or UNSET,
        threads=engine.threads or UNSET,
        first_block_seconds=engine.first_block or UNSET,
        scheduling=scheduling(_priority(engine, situation)),
        files=[LoadedFile(file.name, file.bytes, file.sha256 or UNSET) for file in engine.files],
        providers=_chain(engine, situation),
        stages=[_stage(stage) for stage in engine.stages],
    )


def _priority(engine: EngineInfo, situation: Situation) -> Priority | None:
    """Priority of the first worker's stages on its provider: a worker that was moved runs elsewhere than it was loaded
    for."""
    workers = (process for process in situation.processes if process.role == "worker" and process.state == "running")
    return next((w.priority for w in workers if w.priority and w.provider == engine.provider), engine.priority)


def _chain(engine: EngineInfo, situation: Situation) -> list[Provider]:
    """The providers of the chain, each with the reason why it was taken or not, once for each of its trials."""
    units = next((stage.options.get("MLComputeUnits", "") for stage in engine.stages if stage.name == "generator"), "")
    found: list[Provider] = []
    taken = False
    for name, trial in _tried(engine):
        if name == engine.provider and (trial.compute_units == units if trial else not taken):
            taken = True
            provider = Provider(name, "taken", trial.reason if trial else _instead(found))
        elif name == engine.provider and trial:
            provider = Provider(name, "refused", trial.reason)
        elif name in situation.provider_failures:
            provider = Provider(name, "refused", situation.provider_failures[name])
        elif trial and not taken:
            provider = Provider(name, "refused", trial.reason)
        elif name in engine.untried:
            provider = _untried(name, situation)
        elif taken:
            provider = Provider(name, "not tried", "one before it works")
        else:
            continue
        found.append(_with_figures(provider, trial) if trial else provider)
    return found


def _tried(engine: EngineInfo) -> Iterator[tuple[str, TrialInfo | None]]:
    for name in engine.providers:
        trials = [trial for trial in engine.trials if trial.provider == name]
        yield from ((name, trial) for trial in trials)
        if not trials or name in engine.untried:
            yield name, None


def _instead(before: list[Provider]) -> str:
    if not before:
        return "it is the first of the chain"
    if any(provider.state == "refused" for provider in before):
        return "each one before it was refused, or waits for its trial"
    return "it speaks until those before it have been tried"


def _untried(name: str, situation: Situation) -> Provider:
    if any(process.role == "trial" for process in situation.processes):
        return Provider(name, "being tried", "it is compiled and compared with the CPU, which speaks meanwhile")
    return Provider(name, "not tried", "no trial of it has been won since this worker began; the log says more")


def _with_figures(provider: Provider, trial: TrialInfo) -> Provider:
    provider.compute_units = trial.compute_units or UNSET
    provider.right = trial.right
    provider.faster = trial.faster
    provider.tried_at = datetime.fromtimestamp(trial.when, UTC).isoformat(timespec="seconds")
    provider.snr_db = _rounded(trial.snr)
    provider.times_as_fast_as_cpu = _rounded(trial.ratio)
    provider.compile_seconds = _rounded(trial.compile_seconds)
    return provider


def _stage(stage: StageInfo) -> Stage:
    return Stage(
        name=stage.name,
        provider=stage.provider,
        options=stage.options or UNSET,
        window_frames=stage.window or UNSET,
        nodes=UNSET if stage.nodes is None else stage.nodes,
    )


def _rounded(figure: float | None) -> float | UnsetType:
    return UNSET if figure is None else round(figure, 3)
