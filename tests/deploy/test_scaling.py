"""When pods come and go: metrics that were recorded of a server, through the autoscaler's own formula."""

import itertools
import json

import pytest

from benchmarks.simulation.autoscaler import SYNC, Autoscaler, quantity, replay
from benchmarks.simulation.demand_levels import DAY, MANIFEST, QUEUE, RATIO, RECORD, REFUSED, Level, metrics_of

LEVELS: list[Level] = json.loads(RECORD.read_text())["levels"]
END = DAY[-1][0] + 1200


def pods_at(history: list[tuple[float, int]], seconds: float) -> int:
    return [pods for since, pods in history if since <= seconds][-1]


@pytest.fixture
def scaler() -> Autoscaler:
    return Autoscaler.of(MANIFEST.read_text())


def test_the_manifest_scales_on_what_was_recorded(scaler: Autoscaler) -> None:
    assert scaler.targets == {RATIO: 0.7, REFUSED: 0.1}
    assert LEVELS[0][RATIO] == 0.0
    assert LEVELS[-1][RATIO] > 0.7, "the last level is more than one pod can serve"


def test_pods_come_with_the_listeners_and_go_after_them(scaler: Autoscaler) -> None:
    history = replay(scaler, END, metrics_of(LEVELS, DAY))
    quiet, busy, evening, night = (pods_at(history, seconds) for seconds in (599, 2399, 5399, END))
    assert quiet == 1
    assert busy == scaler.most
    assert evening < busy
    assert night == 1
    come = next(since for since, pods in history if pods > 1)
    assert 600 <= come <= 600 + 60 or 1200 <= come <= 1200 + 60, "within a minute of the listeners that need it"
    gone = next(since for since, pods in history if pods < busy and since > 3000)
    assert gone >= 3000 + scaler.down_window - SYNC, "listeners who come back within five minutes find their pod"


def test_pods_go_one_at_a_time(scaler: Autoscaler) -> None:
    history = replay(scaler, END, metrics_of(LEVELS, DAY))
    pods = [count for _, count in history]
    assert all(after >= before - 1 for before, after in itertools.pairwise(pods))


def test_a_queue_says_nothing_about_a_full_pod() -> None:
    """The depth of the queue, at the 16 segments a pod of an earlier manifest: a pod admits too few readers for it."""
    blind = Autoscaler(1, 4, {QUEUE: 16.0})
    history = replay(blind, END, metrics_of(LEVELS, DAY))
    assert history == [(0.0, 1)]


def steady(value: float) -> dict[str, float]:
    return {"m": value}


def test_the_formula_s_tolerance_window_and_policies() -> None:
    tolerant = Autoscaler(1, 10, {"m": 1.0})
    assert tolerant.decide(0, 4, steady(1.09)) == 4, "a tenth more is no reason"
    assert tolerant.decide(15, 4, steady(1.5)) == 6
    assert tolerant.decide(30, 6, steady(0.1)) == 6, "six were wanted within the last five minutes"
    assert tolerant.decide(400, 6, steady(0.1)) == 1
    limited = Autoscaler(1, 10, {"m": 1.0}, 0.0, ({"type": "Pods", "value": 1, "periodSeconds": 60},))
    assert limited.decide(0, 1, steady(9.0)) == 2
    assert limited.decide(15, 2, steady(9.0)) == 2, "one a minute"
    assert limited.decide(75, 2, steady(9.0)) == 3


def test_quantities_of_kubernetes() -> None:
    assert (quantity("700m"), quantity("16"), quantity(2)) == (0.7, 16.0, 2.0)
