"""The cores that each of several workers has."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from shm.messages import Load
from worker.machine.placement import MachineShare, divide, sharers, within
from worker.settings import WorkerSettings

needs_affinity = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux ties threads to cores")


@pytest.mark.parametrize("count", range(1, 20))
@pytest.mark.parametrize("slots", range(1, 9))
def test_every_core_is_someones_and_nobody_has_many_more(count: int, slots: int) -> None:
    cpus = [3 * n for n in range(count)]
    shares = [divide(cpus, slot, slots) for slot in range(slots)]
    assert all(shares)
    if slots <= count:
        assert [cpu for share in shares for cpu in share] == cpus
        assert max(map(len, shares)) - min(map(len, shares)) <= 1
    else:
        assert {cpu for share in shares for cpu in share} == set(cpus)


def test_beside_an_accelerator_the_others_divide_the_cores() -> None:
    assert [sharers(slot, 3, accelerated=True) for slot in range(3)] == [(0, 1), (0, 2), (1, 2)]
    assert [sharers(slot, 2, accelerated=False) for slot in range(2)] == [(0, 2), (1, 2)]


def test_where_cores_cannot_be_divided_threads_are() -> None:
    assert (within(WorkerSettings(), 4).threads, within(WorkerSettings(), 4).concurrency) == (4, 1)
    own = within(WorkerSettings(threads=2, concurrency=3), 4)
    assert (own.threads, own.concurrency) == (2, 3), "who says how many gets them"


def test_all_but_the_first_run_on_the_cpu() -> None:
    asked = WorkerSettings(provider="cuda", provider_options=("device_id=1",))
    first, second = (MachineShare().take(asked, Load(slot=slot, slots=2, accelerated=True)) for slot in (0, 1))
    assert first.provider == "cuda" and first.provider_options == ("device_id=1",)
    assert (second.provider, second.provider_options) == ("cpu", ())
    assert MachineShare().take(asked, Load()) is asked, "one worker has all, as it was asked for"


@needs_affinity
@pytest.mark.parametrize("slot", [0, 1])
def test_all_threads_of_a_process_go_to_its_share_and_may_go_to_another(slot: int) -> None:
    """A pool that a library has started before, and a thread that is started after."""
    code = (
        "import json, os, threading\n"
        "pool = threading.Thread(target=threading.Event().wait, daemon=True)\n"
        "pool.start()\n"
        "from shm.messages import Load\n"
        "from worker.machine.placement import MachineShare\n"
        "from worker.settings import WorkerSettings\n"
        "place = MachineShare()\n"
        "place.take(WorkerSettings(provider='cpu'), Load(slot=1, slots=2))\n"
        f"place.take(WorkerSettings(provider='cpu'), Load(slot={slot}, slots=2))\n"
        "later = threading.Thread(target=threading.Event().wait, daemon=True)\n"
        "later.start()\n"
        "tasks = map(int, os.listdir('/proc/self/task'))\n"
        "print(json.dumps([sorted(os.sched_getaffinity(task)) for task in tasks]))\n"
    )
    usable = sorted(os.sched_getaffinity(0))
    found = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)
    assert len(found) >= 3
    assert all(cpus == found[0] for cpus in found)
    assert set(found[0]) <= set(usable)
    assert len(found[0]) in (len(usable) // 2, len(usable) - len(usable) // 2) or len(usable) == 1
