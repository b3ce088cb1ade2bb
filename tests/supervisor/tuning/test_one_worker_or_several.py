"""More workers than one are chosen for a measured gain alone, and cost the rest of the search nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from supervisor.tuning.profile_file import Attempt
from supervisor.tuning.search import Found
from supervisor.tuning.trials import Step
from tests.supervisor.tuning.fake_servers import ONE, FakeServers
from tests.supervisor.tuning.fake_trials import EFFORT, FakeMachine, search

WITH_SERVERS = replace(EFFORT, server_pairs=3)


def searched(servers: FakeServers, machine: FakeMachine | None = None, **more: Any) -> Found:
    """With spinning that helps, so that there is something beside the workers to be found."""
    machine = machine or FakeMachine(slowness=lambda settings, spec: 0.8 if settings.spinning else 1.0)
    place = more.pop("place", servers.place())
    return search(machine, {"spinning": [{"spinning": True}]}, effort=WITH_SERVERS, place=place, **more)


def about_workers(found: Found) -> Attempt:
    (attempt,) = (each for each in found.attempts if each.stage == "workers")
    assert attempt.tried == "workers 2"
    return attempt


@pytest.mark.parametrize(
    ("several", "said"),
    [
        ({"gapless": 3}, "listeners without a gap 50.0% better"),
        ({"first_together": 0.4}, "first audio with several listeners 100.0% better"),
        ({"first": 0.2}, "first audio of a lone text 100.0% better"),
        ({"gapless": 3, "together": 2.9}, "listeners without a gap"),
        ({"gapless": 3, "real_time": 1.0}, "listeners without a gap"),
    ],
    ids=str,
)
def test_a_gain_without_a_loss_chooses_two(several: Mapping[str, Any], said: str) -> None:
    found = searched(FakeServers(lambda pair: several))
    assert found.chosen == {"spinning": True, "workers": 2}
    assert "spinning on: 25.0% better on the holdout; 2 workers: " in found.verdict and said in found.verdict
    assert about_workers(found).memory == pytest.approx(1.3)


@pytest.mark.parametrize(
    ("several", "why"),
    [
        ({}, "no gain of 5%"),
        ({"together": 4.0}, "no gain of 5%"),
        ({"real_time": 3.0}, "no gain of 5%"),
        ({"first_together": 0.4, "together": 2.8}, "loses speed with several listeners 0.93"),
        ({"gapless": 3, "first": 0.5}, "loses first audio of a lone text 0.80"),
        ({"first": 0.2, "gapless": 1}, "loses listeners without a gap 0.50"),
        ({"gapless": 3, "first_together": 1.0}, "loses first audio with several listeners 0.80"),
    ],
    ids=str,
)
def test_without_a_gain_or_with_a_loss_one_worker_stays(several: Mapping[str, Any], why: str) -> None:
    found = searched(FakeServers(lambda pair: several))
    assert found.chosen == {"spinning": True} and "workers" not in found.verdict
    assert why in about_workers(found).note


@pytest.mark.parametrize(("gain", "taken"), [(1.049, False), (1.051, True)])
def test_the_gain_is_to_be_five_percent(gain: float, taken: bool) -> None:
    found = searched(FakeServers(lambda pair: {"first_together": ONE.first_together / gain}))
    assert ("workers" in found.chosen) is taken


@pytest.mark.parametrize("worse", [1, 2, 3])
def test_one_pair_that_is_worse_is_enough_to_leave_it(worse: int) -> None:
    found = searched(FakeServers(lambda pair: {"first_together": 0.9 if pair == worse else 0.4}))
    assert "workers" not in found.chosen
    assert about_workers(found).first_together == pytest.approx(2.0), "the median"


def test_nobody_without_a_gap_is_no_division_by_zero() -> None:
    found = searched(FakeServers(lambda pair: {"gapless": 0}))
    assert about_workers(found).gapless == pytest.approx(0.25)


def test_all_ratios_are_kept() -> None:
    several = {"first": 0.5, "real_time": 1.0, "first_together": 0.4, "gapless": 3, "together": 6.0}
    kept = about_workers(searched(FakeServers(lambda pair: several)))
    ratios = (kept.first, kept.real_time, kept.first_together, kept.gapless, kept.together)
    assert ratios == pytest.approx((0.8, 0.5, 2.0, 1.5, 2.0)) and kept.score is None
    assert "without a gap 3, with one worker 2" in kept.note


def test_the_servers_are_asked_in_turn_and_the_first_answers_do_not_count() -> None:
    servers = FakeServers(lambda pair: {"first_together": 0.4 if pair else 5.0})
    assert "workers" in searched(servers).chosen
    assert servers.asked == [2, 1, 1, 2, 2, 1, 1, 2]
    assert servers.running == 0


@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_both_have_what_was_chosen_of_one_worker_and_its_costs(factor: float) -> None:
    servers = FakeServers()
    machine = FakeMachine(slowness=lambda settings, spec: factor if settings.spinning else 1.0)
    found = searched(servers, machine)
    chosen = {"spinning": True} if factor < 1 else {}
    assert servers.started == [(chosen, found.costs, 1), (chosen, found.costs, 2)]
    assert found.costs


def test_two_workers_may_be_all_that_is_chosen() -> None:
    found = searched(FakeServers(lambda pair: {"gapless": 3}), FakeMachine())
    assert found.chosen == {"workers": 2} and found.costs
    assert found.holdout_gain is None


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("when", ["cannot_start", "crashes"])
def test_a_server_that_fails_is_a_failed_attempt_and_not_the_end(workers: int, when: str) -> None:
    servers = FakeServers(lambda pair: {"gapless": 3}, **{when: {workers: "it ended with SIGSEGV"}})  # type: ignore[arg-type]
    found = searched(servers)
    assert found.chosen == {"spinning": True}
    assert about_workers(found).note == f"the server with workers {workers}: it ended with SIGSEGV"
    assert about_workers(found).memory is None and servers.running == 0


def test_where_memory_is_short_no_server_is_started_and_that_is_said() -> None:
    servers = FakeServers(lambda pair: {"gapless": 3})
    found = searched(servers, place=servers.place(available=1_900_000_000))
    assert not servers.started and "workers" not in found.chosen
    assert about_workers(found).note == "left out: both servers need 2.0 GB of memory, and 1.9 are free"
    assert "workers" in searched(servers, place=servers.place(available=2_100_000_000)).chosen


def test_two_workers_that_take_too_much_memory_are_not_taken() -> None:
    servers = FakeServers(lambda pair: {"gapless": 3}, memory={1: 100, 2: 160})
    found = searched(servers)
    assert "workers" not in found.chosen and "takes 1.60 times the memory" in about_workers(found).note
    assert "workers" in searched(servers, max_memory=1.7).chosen


@pytest.mark.parametrize(
    ("cores", "provider", "tried"),
    [
        (1, "CPUExecutionProvider", False),
        (2, "CPUExecutionProvider", True),
        (1, "CUDAExecutionProvider", True),
        (1, "OpenVINOExecutionProvider", False),
    ],
)
def test_there_must_be_something_to_divide(cores: int, provider: str, tried: bool) -> None:
    servers = FakeServers()
    searched(servers, FakeMachine(provider=provider), place=servers.place(cores=cores))
    assert bool(servers.started) is tried


@pytest.mark.parametrize("fails", [{}, {1: "it ended"}])
def test_the_bar_ends_full(fails: dict[int, str]) -> None:
    steps: list[Step] = []
    found = searched(FakeServers(cannot_start=fails), tell=steps.append)
    assert steps[-1] == Step("", found.trials, found.trials)
    assert any(step.doing == "starting a server, workers 1" for step in steps)
    if not fails:
        assert steps[-2].planned == found.trials, "it was known beforehand"
