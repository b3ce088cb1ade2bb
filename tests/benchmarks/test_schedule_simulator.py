"""The scheduling simulator: work is conserved, and what is known to be better is better."""

import pytest

from benchmarks.simulation.schedule_loads import LOADS, short_behind_long
from benchmarks.simulation.schedule_policies import (
    AdmittedByDemand,
    Costs,
    EarliestDeadlineFirst,
    FirstComeFirstServed,
    Request,
    RoundRobin,
)
from benchmarks.simulation.schedule_simulator import blocks_of, policies, simulate

WHOLE, WINDOWED = Costs(), Costs(block=0.5)


@pytest.mark.parametrize("costs", [WHOLE, WINDOWED])
@pytest.mark.parametrize("name", sorted(LOADS))
def test_every_policy_does_the_same_work_where_nobody_is_sent_away(name: str, costs: Costs) -> None:
    """Every scheduler makes all audio, and each second of it costs the same."""
    load = LOADS[name](3)
    audio = sum(request.tokens for request in load) * costs.audio_per_token
    for policy in (FirstComeFirstServed(), RoundRobin(), EarliestDeadlineFirst()):
        found = simulate(load, policy, costs)
        assert found.rejected == 0
        assert found.audio == pytest.approx(audio)
        assert found.busy == pytest.approx(audio * costs.real_time_factor)


def test_the_nearest_deadline_serves_a_short_request_behind_a_long_one() -> None:
    """First come, first served lets it wait for the long one; by deadline it waits for one block."""
    load = short_behind_long(0)
    fifo = simulate(load, FirstComeFirstServed(), WINDOWED)
    edf = simulate(load, EarliestDeadlineFirst(), WINDOWED)
    assert fifo.first_audio_p95 is not None and edf.first_audio_p95 is not None
    assert edf.first_audio_p95 < fifo.first_audio_p95 / 5
    assert edf.underruns == 0


def test_admission_keeps_those_who_are_taken_from_gaps() -> None:
    """Where twice as many come as can be served, the rejected ones are the price."""
    load = LOADS["overload"](1)
    taken, everybody = (simulate(load, policy, WINDOWED) for policy in (AdmittedByDemand(WINDOWED), RoundRobin()))
    assert 0 < taken.rejected < len(load)
    assert taken.underruns < everybody.underruns / 10


def test_a_listener_alone_hears_no_gap_and_waits_for_its_first_block() -> None:
    (found,) = {simulate([Request(5.0, 400, "one")], policy, WINDOWED).first_audio_p50 for policy in policies(WINDOWED)}
    assert found == pytest.approx(0.5 * WINDOWED.real_time_factor)


def test_a_stream_is_made_no_further_ahead_than_its_ring_holds() -> None:
    """Somebody who comes when a long stream's ring is full finds the engine idle, whatever the policy."""
    load = [Request(0.0, 3000, "long"), Request(60.0, 12, "short")]
    found = simulate(load, FirstComeFirstServed(), WINDOWED)
    assert found.first_audio_p95 is not None
    assert found.first_audio_p95 < 1


@pytest.mark.parametrize("tokens", [1, 39, 40, 41, 140, 141, 9000])
@pytest.mark.parametrize("costs", [WHOLE, WINDOWED])
def test_blocks_hold_all_of_a_text(tokens: int, costs: Costs) -> None:
    blocks = blocks_of(tokens, costs)
    assert sum(blocks) == pytest.approx(tokens * costs.audio_per_token)
    assert all(block > 0 for block in blocks)
    if costs.block:
        assert max(blocks) <= costs.block * 1.5
