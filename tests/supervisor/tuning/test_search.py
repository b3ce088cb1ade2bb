"""The search on machines whose costs are known: what it chooses, what it leaves, and what a crash costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from supervisor.tuning.candidates import groups, splits
from supervisor.tuning.search import CannotTune
from supervisor.tuning.texts import HOLDOUT
from supervisor.tuning.trials import Step
from tests.supervisor.tuning.fake_trials import EFFORT, FakeMachine, search
from worker.settings import WorkerSettings
from worker.tuning.records import Text, TrialSpec

SPINNING = {"spinning": [{"spinning": True}]}


def on_training(spec: TrialSpec) -> bool:
    return spec.texts[:1] == ((EFFORT.training[0],),)


def spins(factor: float) -> FakeMachine:
    """Spinning makes all work that many times as long."""
    return FakeMachine(slowness=lambda settings, spec: factor if settings.spinning else 1.0)


def test_what_is_better_by_enough_is_chosen_and_its_costs_are_kept() -> None:
    found = search(spins(0.8), SPINNING)
    assert found.chosen == {"spinning": True}
    assert found.holdout_gain == pytest.approx(0.25, abs=0.001)
    (profile,) = found.costs.values()
    assert profile["per_token"] == pytest.approx(0.8 * 0.002)


@pytest.mark.parametrize(("factor", "taken"), [(1 / 1.049, False), (1 / 1.051, True)])
def test_the_default_stays_unless_the_gain_is_five_percent(factor: float, taken: bool) -> None:
    found = search(spins(factor), SPINNING)
    assert bool(found.chosen) is taken
    assert found.holdout_gain == pytest.approx(1 / factor - 1, abs=0.001)
    assert ("the defaults stay" in found.verdict) is not taken
    assert f"{1 / factor - 1:.1%} better" in found.verdict


def test_what_is_better_on_the_training_texts_alone_is_not_taken() -> None:
    machine = FakeMachine(slowness=lambda s, spec: 0.5 if s.spinning and on_training(spec) else 1.0)
    found = search(machine, SPINNING)
    assert not found.chosen and found.holdout_gain == pytest.approx(0)


def test_what_wins_one_pair_and_loses_another_is_not_taken() -> None:
    judged: list[bool] = []

    def slowness(settings: WorkerSettings, spec: TrialSpec) -> float:
        if not settings.spinning:
            return 1.0
        if on_training(spec):
            return 0.5
        judged.append(True)
        return 0.3 if len(judged) == 1 else 1.05

    found = search(FakeMachine(slowness=slowness), SPINNING)
    assert not found.chosen and "not in each pair" in found.verdict


def test_the_holdout_is_spoken_by_both_in_turn() -> None:
    machine = spins(0.8)
    search(machine, SPINNING)
    assert [spec.settings.spinning for spec in machine.specs[-4:]] == [False, True, True, False]
    assert not any(on_training(spec) for spec in machine.specs[-4:])


@pytest.mark.parametrize("pace", [0.9, 1.1])
def test_a_machine_that_changes_its_pace_meanwhile_speaks_for_nothing(pace: float) -> None:
    """Each trial is slower, or faster, than the one before it; spinning changes nothing, and comes to no judgement."""
    count = 0

    def slowness(settings: WorkerSettings, spec: TrialSpec) -> float:
        nonlocal count
        count += 1
        return 0.5 * pace**count

    found = search(FakeMachine(slowness=slowness), SPINNING)
    assert not found.chosen and found.holdout_gain is None


def test_a_provider_that_crashes_costs_one_trial() -> None:
    machine = FakeMachine(
        slowness=lambda settings, spec: 0.7 if settings.spinning else 1.0,
        fails=lambda settings: "its process ended with SIGSEGV" if settings.provider == "cuda" else "",
    )
    found = search(machine, {"provider": [{"provider": "cuda"}], **SPINNING})
    assert found.chosen == {"spinning": True}
    assert [each.note for each in found.attempts if each.stage == "provider"] == ["its process ended with SIGSEGV"]
    assert sum(spec.settings.provider == "cuda" for spec in machine.specs) == 1
    assert len(machine.specs) == found.trials


def test_what_fails_on_the_holdout_is_not_taken() -> None:
    trials = 0

    def fails(settings: WorkerSettings) -> str:
        nonlocal trials
        trials += settings.spinning
        return "it took longer than 1 s" if settings.spinning and trials > 1 else ""

    machine = FakeMachine(slowness=lambda settings, spec: 0.7 if settings.spinning else 1.0, fails=fails)
    found = search(machine, SPINNING)
    assert not found.chosen and "it took longer than 1 s" in found.verdict


def test_nothing_is_tuned_where_the_default_fails() -> None:
    with pytest.raises(CannotTune, match="no memory"):
        search(FakeMachine(fails=lambda settings: "no memory"), SPINNING)


def test_nothing_is_judged_where_the_default_fails_later() -> None:
    trials = 0

    def fails(settings: WorkerSettings) -> str:
        nonlocal trials
        trials += not settings.spinning
        return "no memory" if trials > 3 and not settings.spinning else ""

    with pytest.raises(CannotTune, match="no memory"):
        search(FakeMachine(slowness=lambda s, spec: 0.5 if s.spinning else 1.0, fails=fails), SPINNING)


def test_what_takes_too_much_memory_is_not_taken_unless_that_is_allowed() -> None:
    machine = FakeMachine(
        slowness=lambda settings, spec: 0.5 if settings.spinning else 1.0,
        rss=lambda settings: 160 if settings.spinning else 100,
    )
    found = search(machine, SPINNING)
    assert not found.chosen and "1.60 times the memory" in found.attempts[0].note
    assert search(machine, SPINNING, max_memory=2.0).chosen


def test_memory_is_compared_with_the_default_s_however_much_was_chosen_before() -> None:
    machine = FakeMachine(
        slowness=lambda settings, spec: (0.5 if settings.spinning else 1.0) * (0.5 if settings.memory_pattern else 1.0),
        rss=lambda settings: 100 + 40 * settings.spinning + 40 * settings.memory_pattern,
    )
    found = search(machine, {**SPINNING, "memory pattern": [{"memory_pattern": True}]})
    assert found.chosen == {"spinning": True}


def test_what_was_chosen_stands_when_the_next_is_tried() -> None:
    machine = FakeMachine(
        slowness=lambda settings, spec: (0.8 if settings.threads == 1 else 1.0) * (0.8 if settings.spinning else 1.0)
    )
    found = search(machine, {"threads": [{"threads": 1}, {"threads": 2}], **SPINNING})
    assert found.chosen == {"threads": 1, "spinning": True}
    assert all(spec.settings.threads == 1 for spec in machine.specs if spec.settings.spinning)


def test_costs_are_kept_of_the_defaults_too() -> None:
    found = search(spins(1.5), SPINNING)
    assert not found.chosen and found.holdout_gain is None
    (profile,) = found.costs.values()
    assert profile["per_token"] == pytest.approx(0.002)


def test_the_default_is_judged_as_it_would_be_cut_without_tuning() -> None:
    """Work is so much cheaper with spinning that one would cut otherwise."""

    def judged(factor: float) -> dict[bool, tuple[Text, ...]]:
        machine = spins(factor)
        machine.per_token = 0.02
        search(machine, SPINNING, effort=replace(EFFORT, holdout=HOLDOUT))
        return {spec.settings.spinning: spec.texts for spec in machine.specs}

    better, worse = judged(0.2), judged(1.5)
    assert better[False] == worse[False] != better[True]


def test_another_model_is_loaded_before_it_is_measured() -> None:
    """What is made once of a model takes memory, which isn't the model's."""
    loaded: set[object] = set()

    def rss(settings: WorkerSettings) -> int:
        first = settings.model not in loaded
        loaded.add(settings.model)
        return 200 if first else 100

    machine = FakeMachine(slowness=lambda settings, spec: 0.5 if settings.model else 1.0, rss=rss)
    other = Path("variant.onnx")
    steps: list[Step] = []
    found = search(machine, {"model": [{"model": other}]}, tell=steps.append)
    assert found.chosen == {"model": other}
    assert steps[-1].planned == len(machine.specs)


def test_the_knobs_are_turned_by_simulation_and_verified_by_trials() -> None:
    """Windows cost nothing but their length here, so the first one is best as short as it may be."""
    found = search(FakeMachine(per_window=0.0), {}, knob_trials=60)
    assert found.chosen["first_window"] == 0.15
    knobs = [each for each in found.attempts if each.stage == "knobs"]
    assert knobs and all(each.score is not None and "predicted" in each.note for each in knobs)
    assert found.holdout_gain is not None and found.holdout_gain >= 0.05


def test_the_same_measurements_give_the_same_result() -> None:
    assert search(FakeMachine(), {}, knob_trials=40) == search(FakeMachine(), {}, knob_trials=40)


def test_the_shortest_segment_is_not_tried_shorter_than_the_user_allows() -> None:
    """Prosody is dear here, so the shorter the first segment, the better."""
    machine = FakeMachine(per_token=0.006)
    windows = ("first_window", "window_growth", "window")
    assert search(machine, {}, knob_trials=30, fixed=windows).chosen.get("min_first_tokens", 30) >= 30
    found = search(machine, {}, knob_trials=30, fixed=windows, shortest=10)
    assert found.chosen.keys() == {"min_first_tokens"} and 10 <= found.chosen["min_first_tokens"] < 30


def test_a_given_setting_is_left_as_it_is() -> None:
    found = {
        name: list(alternatives)
        for name, alternatives in groups(
            cores=4,
            models=[],
            providers=["cuda"],
            fixed={"provider", "concurrency"},
            defaults={"spinning": False, "memory_arena": True, "memory_pattern": False},
        ).items()
    }
    assert found == {
        "spinning": [{"spinning": True}],
        "memory arena": [{"memory_arena": False}],
        "memory pattern": [{"memory_pattern": True}],
    }


@pytest.mark.parametrize("cores", [1, 2, 3, 4, 6, 8, 12, 64])
def test_cores_are_shared_out_without_a_rest_to_speak_of(cores: int) -> None:
    found = splits(cores)
    assert len(found) <= 4 and len(set(found)) == len(found)
    assert all(threads * lanes <= cores < (threads + 1) * (lanes + 1) for threads, lanes in found)
    assert found == [] if cores == 1 else {(1, cores), (cores, 1)} <= set(found)


def test_it_is_told_what_is_tried() -> None:
    steps: list[Step] = []
    machine = spins(0.8)
    search(machine, SPINNING, tell=steps.append)
    assert [step.made for step in steps] == list(range(len(machine.specs) + 1))
    assert steps[-1].doing == ""
    assert "spinning on" in [step.doing for step in steps]
    assert steps[-1].planned == len(machine.specs)
