"""Processors whose int8 arithmetic saturates."""

import ctypes
import json
import os
import subprocess
import sys

import psutil
import pytest

from shm.messages import Load
from worker.engine import EngineUnavailable
from worker.machine import (
    QOS_CLASSES,
    MachineShare,
    cpu_flags,
    divide,
    place_process,
    products_saturate,
    read_back,
    return_free_memory,
    sharers,
    within,
)
from worker.settings import WorkerSettings, processors


@pytest.mark.parametrize(
    ("machine", "flags", "saturates"),
    [
        ("x86_64", {"sse4_2", "avx2"}, True),
        ("x86_64", {"avx2", "avx512f", "avx512bw"}, True),
        ("x86_64", {"avx2", "avx512f", "avx512_vnni"}, False),
        ("x86_64", {"avx2", "avx_vnni"}, False),
        ("AMD64", {"avx2"}, True),
        ("x86_64", None, True),
        ("arm64", None, False),
        ("aarch64", {"asimd", "asimddp"}, False),
    ],
)
def test_x86_without_vnni_saturates(machine, flags, saturates):
    assert products_saturate(machine, None if flags is None else frozenset(flags)) is saturates


def test_flags_are_those_of_the_processor(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(
        "processor\t: 0\nmodel name\t: AMD flags: none\nflags\t\t: fpu avx2 avx512_vnni\n\nprocessor\t: 1\n"
    )
    assert cpu_flags(cpuinfo) == {"fpu", "avx2", "avx512_vnni"}
    assert cpu_flags(tmp_path / "none") is None


linux = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no processor affinity here")


@pytest.mark.parametrize(
    ("text", "numbers"), [("0", {0}), ("0-2", {0, 1, 2}), ("0-1,3", {0, 1, 3}), (" 2 , 4-4 ", {2, 4})]
)
def test_processors_are_written_as_in_taskset(text: str, numbers: set[int]) -> None:
    assert processors(text) == numbers


@pytest.mark.parametrize("text", ["", "a", "3-1", "1-", "-1", "1,,2", "0x1"])
def test_what_is_no_set_of_processors_is_refused_with_the_settings(text: str) -> None:
    with pytest.raises(ValueError, match="0-3,6"):
        processors(text)
    if text:
        with pytest.raises(ValueError, match="0-3,6"):
            WorkerSettings(worker_cpus=text)


def in_a_process_of_its_own(code: str) -> str:
    """The output of a fresh process, so that the scheduling of the test's own stays as it was."""
    prelude = "from worker.machine import *; from worker.settings import WorkerSettings as S; "
    asked = subprocess.run([sys.executable, "-c", prelude + code], capture_output=True, text=True, check=True)
    return asked.stdout.strip()


@linux
def test_processors_and_niceness_are_set_and_read_back_and_hold_for_threads() -> None:
    last = max(os.sched_getaffinity(0))
    nice = min(19, os.getpriority(os.PRIO_PROCESS, 0) + 3)
    said = in_a_process_of_its_own(
        f"place_process(S(worker_cpus='{last}', worker_nice={nice})); import threading; r = []; "
        "t = threading.Thread(target=lambda: r.append(read_back())); t.start(); t.join(); "
        "print(r[0].processors, r[0].nice, r[0] == read_back())"
    )
    assert said == f"({last},) {nice} True"


@linux
def test_the_engine_counts_the_cores_that_are_left_to_it() -> None:
    last = max(os.sched_getaffinity(0))
    said = in_a_process_of_its_own(
        f"from worker.machine import cores; place_process(S(worker_cpus='{last}')); print(cores())"
    )
    assert said == "1"


@linux
def test_a_thread_that_has_just_ended_is_no_error() -> None:
    said = in_a_process_of_its_own(
        "import worker.machine as p; real = p._threads; p._threads = lambda: [2**22 - 1, *real()]; "
        "place_process(S(worker_cpus=str(min(os.sched_getaffinity(0))), worker_nice=19)); print(read_back().nice)"
    )
    assert said == "19"


@linux
def test_a_processor_that_is_not_there_is_an_error_that_names_those_that_are() -> None:
    with pytest.raises(EngineUnavailable, match=rf"\(4095\); it may use .*{max(os.sched_getaffinity(0))}"):
        place_process(WorkerSettings(worker_cpus="4095"))


def test_what_the_system_forbids_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(*_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", forbid)
    with pytest.raises(EngineUnavailable, match="privileged"):
        place_process(WorkerSettings(worker_nice=-5))


class FakeMac:
    """The call of macOS's thread library."""

    def qos_class_self(self) -> int:
        return QOS_CLASSES["utility"]


def test_a_threads_quality_of_service_is_read_back() -> None:
    assert read_back(FakeMac()).qos == "utility"
    if sys.platform != "darwin":
        assert read_back().qos == ""


# The cores that each of several workers has.


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


@linux
@pytest.mark.parametrize("slot", [0, 1])
def test_all_threads_of_a_process_go_to_its_share_and_may_go_to_another(slot: int) -> None:
    """A pool that a library has started before, and a thread that is started after."""
    code = (
        "import json, os, threading\n"
        "pool = threading.Thread(target=threading.Event().wait, daemon=True)\n"
        "pool.start()\n"
        "from shm.messages import Load\n"
        "from worker.machine import MachineShare\n"
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


def test_a_worker_that_speaks_from_kept_stages_needs_no_onnx() -> None:
    """onnx takes 11 MB of each worker; it writes graphs, and kept stages are only read."""
    code = (
        "import sys\n"
        "from worker import select\n"
        "from worker.loop import process\n"
        "from worker.settings import WorkerSettings\n"
        "select.import_engines(WorkerSettings(engine='kokoro'))\n"
        "assert 'worker.engines.kokoro' in sys.modules\n"
        "found = {'onnx', 'ml_dtypes', 'google.protobuf', 'aiohttp'} & set(sys.modules)\n"
        "assert not found, found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="this C library has no malloc_trim")
def test_free_pages_below_a_used_block_are_returned() -> None:
    """1. 64 MB are taken in small blocks. 2. All are freed except the last, which keeps the heap's end in place.
    3. Their pages leave the process.
    """
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    blocks = [library.malloc(32_768) for _ in range(2048)]
    for block in blocks:
        ctypes.memset(block, 1, 32_768)
    for block in blocks[:-1]:
        library.free(ctypes.c_void_p(block))
    before = psutil.Process().memory_info().rss
    return_free_memory()
    after = psutil.Process().memory_info().rss
    library.free(ctypes.c_void_p(blocks[-1]))
    assert before - after > 50e6
