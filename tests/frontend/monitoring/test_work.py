"""Processor seconds and energy for each second of speech: counted by process and stage, shared out by time."""

import os
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from frontend.monitoring.processes import SELDOM, Packages, WorkAccount


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
