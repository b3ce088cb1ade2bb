"""The listeners that a core carries: the largest number of whom all hear everything."""

from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import listeners_per_core
from benchmarks.listeners_per_core import MOST, carried, heard_by, needs
from benchmarks.measuring.options import Options
from benchmarks.streams import Level
from worker.settings import WorkerSettings


@pytest.mark.parametrize("first", [0, 1, 4, 5, 6, 30])
def test_the_largest_number_is_found_from_wherever_the_search_begins(first: int) -> None:
    assert carried(lambda count: count <= 5, first) == 5


def test_a_machine_that_carries_nobody_or_any_number_ends_the_search() -> None:
    assert carried(lambda count: False, 3) == 0
    assert carried(lambda count: True, 3) == MOST


@pytest.mark.parametrize(("clean", "all_heard"), [((4, 4, 4), True), ((4, 4, 3), False)])
def test_a_number_counts_only_if_everybody_is_served_in_every_run(
    clean: tuple[int, ...], all_heard: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = iter(clean)
    monkeypatch.setattr(listeners_per_core, "crowd", lambda *_, **__: [])
    monkeypatch.setattr(
        listeners_per_core, "level", lambda count, _: Level(count, [], next(runs), 0, 0.0, rejected=0, broken=0)
    )
    server: Any = SimpleNamespace(name="kokoro-live")
    assert heard_by(server, 4, 60, Options(WorkerSettings(), say=lambda _: None)) is all_heard


def test_crowds_need_cores_with_a_reserve_of_three_tenths() -> None:
    rows = {row[0]: row[1:] for row in needs(2.0).rows}
    assert rows == {20: [15, 5], 200: [143, 48], 2000: [1429, 477]}
