"""Requests in /status: the queue, first sounds and traces of the last hour, processor seconds and energy."""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from frontend.contract.stages import Stages
from frontend.monitoring.metrics import LATEST, SLOWEST, RecentFirstSounds, RecentTraces
from frontend.monitoring.processes import SELDOM, Packages, WorkAccount
from frontend.monitoring.report import FirstSounds
from frontend.monitoring.status_handler import stream_status
from frontend.planning.costs import CostModel
from shm.messages import BlockTimes
from tests.frontend.desk import Desk, heard, listen
from tests.frontend.scheduling.test_admission import measured, opened
from tests.frontend.scripted_worker import DEADLINE


async def test_a_stream_says_what_it_waits_for_and_when_its_first_sound_is_expected(desk: Desk) -> None:
    worker = desk.worker(1)
    await measured(desk, worker, 0.5)
    first = await opened(desk, "the first of two", client="a")
    second = await opened(desk, "the second of two", client="b")
    snapshot = desk.scheduler.snapshot()
    one, two = (stream_status(each, "", snapshot.first_sounds.get(each.number)) for each in (first, second))
    assert (one.state, one.planned[0].worker) == ("making", 1)
    costs = next(iter(snapshot.costs.values()))
    assert isinstance(costs, CostModel)
    own = [costs.first_audio(each.segments[0].segment.tokens, 1.0, 1) for each in (first, second)]
    assert one.first_sound_in_seconds == pytest.approx(own[0], abs=0.01)
    assert two.first_sound_in_seconds == pytest.approx(sum(own), abs=0.01), "it waits for the one before it"
    assert "first of two" not in repr(one)
    first.close()
    second.close()


async def test_a_stream_without_a_worker_names_the_reason(desk: Desk) -> None:
    worker = desk.worker(1)
    stream = await opened(desk, "some text", client="a")
    await worker.has(1)
    links = desk.scheduler._shared.links
    desk.kill(worker)
    async with asyncio.timeout(DEADLINE):
        while links.current:  # noqa: ASYNC110 - the loss is told to no test
            await asyncio.sleep(0)
    shown = stream_status(stream, "the worker is being restarted", None)
    assert (shown.state, shown.planned[0].stage) == ("waiting", "waits")
    assert shown.why == "no worker can speak: the worker is being restarted"
    stream.close()


async def test_a_stream_that_sounds_has_the_time_of_its_first_block(desk: Desk) -> None:
    worker = desk.worker(1)
    await measured(desk, worker, 0.5)
    stream = await opened(desk, "more", client="a")
    listener = listen(stream)
    order = await worker.has(2)
    worker.speak(order)
    await heard(listener)
    shown = stream_status(stream, "", None)
    assert (shown.state, shown.planned) == ("made", [])
    assert shown.first_sound_seconds is not None and shown.first_sound_seconds >= 0


def test_first_sounds_are_kept_by_minute_for_an_hour() -> None:
    clock = iter((0.0, 3000.0, 3001.0, 3002.0, 3599.0, 3610.0))
    kept = RecentFirstSounds(lambda: next(clock))
    for seconds in (9.0, 0.2, 0.4, 0.3, 1.0):
        kept.add(seconds)
    assert kept.by_minute() == [FirstSounds(10, 3, 0.3, 0.4), FirstSounds(0, 1, 1.0, 1.0)]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def answered(traces: RecentTraces, clock: Clock, name: str, seconds: float) -> None:
    stages = Stages()
    stages.request_id = name
    traces.add(stages, clock.now - seconds, seconds)


def test_the_slowest_of_an_hour_and_the_latest_are_kept() -> None:
    clock = Clock()
    traces = RecentTraces(clock)
    answered(traces, clock, "slow", 9.0)
    for minute in range(1, 60):
        clock.now = 60.0 * minute
        for number in range(5):
            answered(traces, clock, f"{minute}.{number}", 0.1 + minute / 100 + number / 1000)
    assert [trace.request_id for trace in traces.slowest] == ["slow", "59.4", "59.3", "59.2", "58.4"]
    assert len(traces.slowest) == SLOWEST and len(traces.latest) == LATEST
    assert [trace.request_id for trace in traces.latest] == ["59.4", "59.3", "59.2"]
    clock.now = 3600.0
    assert traces.slowest[0].request_id == "59.4", "an hour later it is forgotten"
    clock.now = 9000.0
    assert traces.slowest == []
    assert traces.latest[0].seconds_ago == 9000 - 59 * 60


def test_a_trace_has_the_places_in_the_order_of_their_times_and_the_worker_s_blocks() -> None:
    stages = Stages()
    stages.reach("dispatched", 10.5)
    stages.block(0, 100, BlockTimes(11.0, 12.0, 0.0, 0.0, 13.0, 14.0))
    stages.block(0, 200, BlockTimes(11.0, 15.0, 0.0, 0.0, 16.0, 17.0))
    stages.reach("connected", 9.5)
    traces = RecentTraces(Clock())
    traces.add(stages, 10.0, 4.0)
    (trace,) = traces.slowest
    assert list(trace.places.items()) == [
        ("connected", -0.5),
        ("dispatched", 0.5),
        ("taken", 1.0),
        ("begun", 2.0),
        ("made", 3.0),
        ("written", 4.0),
    ]
    first, second = trace.blocks
    assert (first.samples, first.begun, first.made, first.written) == (100, 2.0, 3.0, 4.0)
    assert (second.samples, second.begun, second.made, second.written) == (200, 5.0, 6.0, 7.0)


def test_a_long_stream_keeps_its_first_blocks_only() -> None:
    stages = Stages()
    for number in range(1000):
        stages.block(number, 100, BlockTimes())
    assert [block.segment for block in stages.blocks] == list(range(8))


def rows(account: WorkAccount) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = msgspec.to_builtins(account.report())
    return found


def powercap(folder: Path, *joules: float, most: float = 1000.0) -> None:
    """Packages as Linux shows them, one with a part of its own and a second one."""
    for number, each in enumerate(joules):
        for zone in (f"intel-rapl:{number}", f"intel-rapl:{number}:0"):
            (folder / zone).mkdir(parents=True, exist_ok=True)
            (folder / zone / "energy_uj").write_text(f"{round(each * 1e6)}\n")
            (folder / zone / "max_energy_range_uj").write_text(f"{round(most * 1e6) - 1}\n")


class Machine:
    """An imitated machine of two busy processors, its clock, and two workers, a front and a supervisor."""

    def __init__(self, folder: Path) -> None:
        self.now = 100.0
        self.spent: dict[int, float] = {1: 50.0, 2: 5.0, 3: 7.0, 4: 0.0}
        self.busy = 1000.0
        roles = {1: "worker", 2: "worker", 3: "front", 4: "supervisor"}
        self.account = WorkAccount(
            lambda: {pid: role for pid, role in roles.items() if pid in self.spent},
            Packages(folder),
            lambda pid: self.spent.get(pid),
            lambda: self.busy,
            lambda: self.now,
        )
        self.account.look()


def test_what_each_kind_of_process_and_each_stage_spent_for_a_second_of_speech(tmp_path: Path) -> None:
    powercap(tmp_path, 10.0, 990.0)
    machine = Machine(tmp_path)
    assert rows(machine.account) == [], "nothing was made yet"
    machine.spent |= {1: 53.0, 2: 6.0, 3: 7.5}
    machine.busy += 8.0
    powercap(tmp_path, 30.0, 10.0)  # 20 J, and over the end of its range 20 J
    machine.account.made(audio=10.0, engine=4.0, prosody=1.0)
    assert rows(machine.account) == [
        {"process": "front", "processor_seconds": 0.05, "joules": 0.25},
        {"process": "supervisor", "processor_seconds": 0.0},
        {"process": "worker", "stage": "prosody", "processor_seconds": 0.1, "joules": 0.5},
        {"process": "worker", "stage": "vocoder", "processor_seconds": 0.3, "joules": 1.5},
    ]
    assert set(machine.account.readings()) == {
        ("processor_seconds_per_audio_second", ("front", ""), 0.05),
        ("processor_seconds_per_audio_second", ("supervisor", ""), 0.0),
        ("processor_seconds_per_audio_second", ("worker", "prosody"), 0.1),
        ("processor_seconds_per_audio_second", ("worker", "vocoder"), 0.3),
        ("joules_per_audio_second", ("front", ""), 0.25),
        ("joules_per_audio_second", ("worker", "prosody"), 0.5),
        ("joules_per_audio_second", ("worker", "vocoder"), 1.5),
    }


def test_a_process_that_ended_keeps_what_it_had_spent_and_a_new_one_begins_with_nothing(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.spent[1] = 51.0
    machine.account.made(1.0, 1.0, 0.0)
    machine.now += SELDOM
    machine.spent[1] = 52.0
    machine.account.made(1.0, 1.0, 0.0)
    del machine.spent[1]
    assert [row["processor_seconds"] for row in rows(machine.account) if row["process"] == "worker"] == [1.0]
    machine.spent[1] = 90.0  # another process with this number, or one that was out of sight
    assert [row["processor_seconds"] for row in rows(machine.account) if row["process"] == "worker"] == [1.0]
    assert all("stage" not in row for row in rows(machine.account)), "an engine that doesn't tell its stages apart"


@pytest.mark.parametrize("unreadable", ["absent", "no number", "gone"])
def test_a_machine_that_tells_no_energy_has_none(tmp_path: Path, unreadable: str) -> None:
    if unreadable != "absent":
        powercap(tmp_path, 1.0)
    machine = Machine(tmp_path)
    file = tmp_path / "intel-rapl:0" / "energy_uj"
    if unreadable == "no number":
        file.write_text("")
    elif unreadable == "gone":
        file.unlink()
    machine.busy += 1.0
    machine.spent[1] += 1.0
    machine.account.made(2.0, 1.0, 0.5)
    assert all("joules" not in row for row in rows(machine.account))
    assert sum(row["processor_seconds"] for row in rows(machine.account)) == 0.5


def test_a_real_process_is_counted() -> None:
    account = WorkAccount(lambda: {os.getpid(): "front"})
    account.look()
    until = time.process_time() + 0.5
    while time.process_time() < until:
        pass
    account.made(1.0, 0.5, 0.0)
    (row,) = rows(account)
    assert row["process"] == "front" and 0.4 < row["processor_seconds"] < 2.0
