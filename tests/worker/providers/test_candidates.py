"""CoreML's candidates, each of which may be slow, wrong, fail or hang: the fastest right one speaks, or the CPU."""

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import onnxruntime
import pytest

from tests.worker.providers import actors
from worker.engine import EngineUnavailable, ProviderUnavailable
from worker.models import sources
from worker.providers import choice, verdict
from worker.providers import trial as trials
from worker.providers.choice import ProviderDecision, decide_providers
from worker.providers.table import PROVIDERS
from worker.providers.verdict import ENOUGH_FASTER, Measurements
from worker.settings import WorkerSettings
from worker.targets import CPU, Assignment

COREML = PROVIDERS["coreml"].name
UNITS = ("ALL", "CPUAndNeuralEngine", "CPUAndGPU")
SPEEDS = (0.5, 1.0, 1.2, 3.0, 8.0)
RIGHT = {f"right, {speed:g} times": speed for speed in SPEEDS}
WRONG = ("noise", "no number", "another length", "fails to compile", "crashes", "gives all to the CPU")
LATE = "hangs"
KILLED = "killed from outside"
OUTCOMES = (*RIGHT, *WRONG, LATE, KILLED)

COMBINATIONS = random.Random(5).sample(sorted(product(OUTCOMES, repeat=3)), 40)


class Machine:
    """A Mac whose compute units do what the test says, in this process."""

    def __init__(self, outcomes: dict[str, str]) -> None:
        self.outcomes = outcomes
        self.tried: list[str] = []

    def measured(self, _measure: Any, seconds: float, timeout: float, provider: str, arguments: Any) -> Measurements:
        assert provider == COREML and seconds > 0
        unit = units_of(arguments[-1])
        self.tried.append(unit)
        outcome = self.outcomes[unit]
        ran = {"generator-70.half": {COREML: 1}}
        if outcome == KILLED:
            raise EngineUnavailable("the trial's process was killed, for want of memory perhaps")
        if outcome == LATE:
            return Measurements(provider=provider, failure="it wasn't ready", timeout=timeout)
        if outcome in ("fails to compile", "crashes", "another length"):
            return Measurements(provider=provider, failure=outcome)
        snr = {"noise": 12.0, "no number": float("nan")}.get(outcome, 45.0)
        if outcome == "gives all to the CPU":
            ran = {"generator-70.half": {CPU: 1361}}
        speed = RIGHT.get(outcome, 9.0)
        return Measurements(
            provider=provider, snr=(60.0, snr), cpu_seconds=(speed,) * 3, seconds=(1.0,) * 3, nodes_run=ran
        )


def units_of(placed: Assignment) -> str:
    return dict(placed.generator.options).get("MLComputeUnits", "")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerSettings]:
    monkeypatch.setattr(sources, "default_cache", lambda: tmp_path / "checksums.json")
    monkeypatch.setattr(choice, "sys", SimpleNamespace(platform="darwin"))
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [COREML, CPU])
    monkeypatch.setattr(verdict, "machine_name", lambda cores: "a Mac; macOS 15")
    monkeypatch.setattr(trials, "kokoro_files", lambda settings: (settings.model, settings.voices))
    model = tmp_path / "model.onnx"
    model.write_bytes(b"a model")
    yield WorkerSettings(model=model, voices=model, cache_dir=tmp_path / "cache")


def decided(settings: WorkerSettings) -> ProviderDecision:
    assert settings.model
    return decide_providers(settings.model, settings)


def run_trial(settings: WorkerSettings) -> bool:
    """False if the errand fails, and comes again later."""
    try:
        trials.trial(settings, COREML, 10.0, actors.never_ends)
    except EngineUnavailable:
        return False
    return True


@pytest.mark.parametrize("outcomes", COMBINATIONS, ids=" | ".join)
def test_the_fastest_right_one_is_taken_and_nothing_is_tried_before_its_time(
    outcomes: tuple[str, ...], settings: WorkerSettings
) -> None:
    check(outcomes, settings)


@pytest.mark.slow
@pytest.mark.parametrize("first", OUTCOMES)
def test_the_fastest_right_one_is_taken_of_all_outcomes(first: str, settings: WorkerSettings) -> None:
    for number, others in enumerate(product(OUTCOMES, repeat=2)):
        check((first, *others), replace(settings, cache_dir=settings.cache_dir / str(number)))


def check(outcomes: tuple[str, ...], settings: WorkerSettings) -> None:
    with pytest.MonkeyPatch.context() as patch:
        check_with(patch, outcomes, settings)


def check_with(monkeypatch: pytest.MonkeyPatch, outcomes: tuple[str, ...], settings: WorkerSettings) -> None:
    machine = Machine(dict(zip(UNITS, outcomes, strict=True)))
    monkeypatch.setattr(trials, "_measured", machine.measured)
    assert decided(settings).choice.untried == (COREML,) * 3
    ended = run_trial(settings)
    assert machine.tried == list(UNITS)
    speeds = {unit: RIGHT[outcome] for unit, outcome in machine.outcomes.items() if outcome in RIGHT}
    fast = {unit: speed for unit, speed in speeds.items() if speed >= ENOUGH_FASTER}
    unjudged = (COREML,) * outcomes.count(KILLED)

    assert ended is (bool(fast) or KILLED not in outcomes), "what has won is used at once"
    found = decided(settings).choice
    assert found.untried == unjudged
    taken = found.assignment
    assert speeds[units_of(taken)] == max(fast.values()) if fast else taken == Assignment()
    assert {units_of(tried) for _, tried, _ in decided(settings).verdicts} == {
        unit for unit, outcome in machine.outcomes.items() if outcome != KILLED
    }

    asked = replace(settings, provider="coreml")
    if speeds:
        assert speeds[units_of(decided(asked).choice.assignment)] == max(speeds.values())
    elif not unjudged:
        with pytest.raises(ProviderUnavailable):
            decided(asked)

    machine.tried.clear()
    run_trial(settings)
    assert machine.tried == [unit for unit in UNITS if machine.outcomes[unit] in (LATE, KILLED)]
    patient = replace(settings, compile_timeout=settings.compile_timeout + 1)
    assert decided(patient).choice.untried == (COREML,) * (outcomes.count(LATE) + len(unjudged))
    monkeypatch.setattr(verdict, "machine_name", lambda cores: "a Mac; macOS 16")
    assert decided(settings).choice.untried == (COREML,) * 3, "another system is another machine"


def test_compute_units_that_the_user_names_are_the_only_ones(
    settings: WorkerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.providers.choice.see_accepted", lambda *_: None)
    machine = Machine(dict.fromkeys(UNITS, "right, 8 times"))
    monkeypatch.setattr(trials, "_measured", machine.measured)
    named = replace(settings, provider="coreml", provider_options=("MLComputeUnits=CPUAndGPU",))
    assert decided(named).choice.untried == (COREML,)
    run_trial(named)
    assert machine.tried == ["CPUAndGPU"] and units_of(decided(named).choice.assignment) == "CPUAndGPU"


def test_one_that_hangs_while_it_compiles_costs_the_others_nothing(
    settings: WorkerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ALL hangs, the Neural Engine crashes, and the GPU is right; each runs in a real process."""
    real = trials._measured

    def measured(measure: Any, seconds: float, timeout: float, provider: str, arguments: Any) -> Measurements:
        hangs = units_of(arguments[-1]) == "ALL"
        return real(measure, 0.5 if hangs else seconds, timeout, provider, arguments)

    monkeypatch.setattr(trials, "_measured", measured)
    verdicts = trials.trial(settings, COREML, 100.0, actors.by_units)
    assert verdicts and [each.reason for each in verdicts] == [
        "it wasn't ready within 0.5 s",
        "its trial crashed (SIGABRT)",
        "4.00 times as fast as the CPU, 45.0 dB SNR against it",
    ]
    assert units_of(decided(settings).choice.assignment) == "CPUAndGPU"
