"""`/status` on execution providers: which stage runs where, what trials found, and what is being tried."""

import time
from typing import Any

import msgspec
import pytest
from msgspec import structs

from frontend.monitoring.processes import speaking
from shm.engine_info import Priority, StageInfo, TrialInfo
from shm.situation import ProcessReport, Situation
from tests.frontend.http_fakes import ENGINE

CPU, COREML, CUDA = "CPUExecutionProvider", "CoreMLExecutionProvider", "CUDAExecutionProvider"
QUIET = Situation("running", "", {})
TRYING = structs.replace(QUIET, processes=(ProcessReport(role="trial", state="running", pid=1),))
WON = TrialInfo(
    provider=COREML,
    when=0.0,
    stale_from=86_400.0,
    right=True,
    faster=True,
    reason="4 times",
    snr=51.23456,
    ratio=4.0,
    compile_seconds=90.0,
)
LOST = TrialInfo(provider=COREML, when=0.0, right=False, faster=False, reason="its trial crashed (SIGSEGV)")


def shown(situation: Situation = QUIET, **engine: Any) -> dict[str, Any]:
    told = structs.replace(ENGINE, providers=(COREML, CPU), **engine)
    found: dict[str, Any] = msgspec.to_builtins(speaking(told, situation))
    return found


def providers(situation: Situation = QUIET, **engine: Any) -> list[tuple[str, str]]:
    return [(each["state"], each["reason"]) for each in shown(situation, **engine)["providers"]]


def test_while_a_trial_goes_on_the_cpu_speaks_until_it_has_ended() -> None:
    first, cpu = providers(TRYING, untried=(COREML,))
    assert first == ("being tried", "it is compiled and compared with the CPU, which speaks meanwhile")
    assert cpu == ("taken", "it speaks until those before it have been tried")


def test_without_a_trial_process_nothing_is_being_tried() -> None:
    assert providers(QUIET, untried=(COREML,))[0][0] == "not tried"


def test_a_provider_that_won_has_its_figures() -> None:
    found = shown(provider=COREML, trials=(WON,))["providers"]
    assert found[0].pop("verdict_age_seconds") == pytest.approx(time.time(), abs=60)
    assert found[0] == {
        "name": COREML,
        "state": "taken",
        "reason": "4 times",
        "right": True,
        "faster": True,
        "tried_at": "1970-01-01T00:00:00+00:00",
        "next_trial_from": "1970-01-02T00:00:00+00:00",
        "snr_db": 51.235,
        "times_as_fast_as_cpu": 4.0,
        "compile_seconds": 90.0,
    }
    assert found[1] == {"name": CPU, "state": "not tried", "reason": "one before it works"}


def test_one_that_lost_has_the_reason_and_no_figure_that_was_not_measured() -> None:
    lost, cpu = shown(trials=(LOST,))["providers"]
    assert (lost["state"], lost["reason"], lost["right"]) == ("refused", "its trial crashed (SIGSEGV)", False)
    assert not {"snr_db", "times_as_fast_as_cpu", "compile_seconds"} & lost.keys()
    assert (cpu["state"], cpu["reason"]) == ("taken", "each one before it was refused, or waits for its trial")


def test_each_trial_of_coremls_compute_units_has_its_row() -> None:
    """One lost, one won and is taken, one was right and slower than that, and a fourth is due."""
    units = [
        structs.replace(LOST, compute_units="ALL"),
        structs.replace(WON, compute_units="CPUAndNeuralEngine"),
        structs.replace(WON, compute_units="CPUAndGPU", ratio=2.0),
    ]
    stages = (
        StageInfo(name="generator", provider=COREML, options={"MLComputeUnits": "CPUAndNeuralEngine"}, window=70),
    )
    found = shown(TRYING, provider=COREML, trials=units, stages=stages, untried=(COREML,))["providers"]
    assert [(each["name"], each.get("compute_units"), each["state"]) for each in found] == [
        (COREML, "ALL", "refused"),
        (COREML, "CPUAndNeuralEngine", "taken"),
        (COREML, "CPUAndGPU", "refused"),
        (COREML, None, "being tried"),
        (CPU, None, "not tried"),
    ]
    waiting = shown(QUIET, trials=units[:1], untried=(COREML, COREML))["providers"]
    assert [each["state"] for each in waiting] == ["refused", "not tried", "taken"]


def test_one_that_was_given_up_says_why_whatever_its_trial_said() -> None:
    failed = structs.replace(QUIET, provider_failures={COREML: "it raised"})
    assert providers(failed, trials=(WON,))[0] == ("refused", "it raised")


def test_stages_have_what_is_known_of_them() -> None:
    stages = (
        StageInfo(name="source", provider=CPU),
        StageInfo(
            name="generator",
            provider=COREML,
            options={"ModelFormat": "MLProgram"},
            window=76,
            nodes={COREML: 1, CPU: 4},
        ),
    )
    source, generator = shown(provider=COREML, stages=stages)["stages"]
    assert source == {"name": "source", "provider": CPU}
    assert generator == {
        "name": "generator",
        "provider": COREML,
        "options": {"ModelFormat": "MLProgram"},
        "window_frames": 76,
        "nodes": {COREML: 1, CPU: 4},
    }


def test_processors_are_those_of_a_worker_that_has_moved() -> None:
    """The figures that the engine reported when it loaded are older."""
    loaded = Priority(5, (0, 1))
    others = [
        ProcessReport(role="worker", state="backoff", provider=CPU, priority=Priority(1, (0,))),
        ProcessReport(role="standby", state="running", provider=CPU, priority=Priority(2, (0,))),
        ProcessReport(role="worker", state="running", provider="native", priority=Priority(3, (0,))),
    ]
    moved = ProcessReport(role="worker", state="running", provider=CPU, priority=Priority(5, (1,)))
    situation = structs.replace(QUIET, processes=(*others, moved))
    assert shown(situation, priority=loaded)["scheduling"] == {"nice": 5, "processors": [1]}
    situation = structs.replace(QUIET, processes=tuple(others))
    assert shown(situation, priority=loaded)["scheduling"] == {"nice": 5, "processors": [0, 1]}
    assert "scheduling" not in shown()
