"""Counts in files: they outlive whoever is killed, add up over the living and the dead, and are never half there."""

import errno
import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shm.atomic import replacing, write_shared, write_whole
from shm.metric_files import FILES, MetricFiles, metric_files

ROOT = Path(__file__).parents[2]

CHILD = """
import json, sys
from pathlib import Path
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from shm.metric_files import metric_files

files = metric_files(Path(sys.argv[2]), sys.argv[1])
registry = CollectorRegistry()
counter = Counter("done", "Done.", ("what",), registry=registry)
sizes = Histogram("size", "Sizes.", buckets=(1, 2), registry=registry)
now = Gauge("now", "Now.", registry=registry, multiprocess_mode="livesum")
print(json.dumps(files.slot if files else None), flush=True)
for line in sys.stdin:
    made = eval(json.loads(line))
    print(json.dumps(made), flush=True)
"""
"""Does what its standard input says, with these in reach, and answers with the value in JSON."""


class Process:
    def __init__(self, role: str, folder: Path, **options: Any) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD, role, str(folder)],
            cwd=ROOT,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        self.slot = self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read()
        return json.loads(line)

    def does(self, expression: str) -> Any:
        assert self.process.stdin
        print(json.dumps(expression), file=self.process.stdin, flush=True)
        return self._answer()

    def sees(self) -> dict[str, float]:
        """The values that a scrape of the folder would show, by name and labels."""
        shown = "[(s.name, sorted(s.labels.items()), s.value) for m in files.collect() for s in m.samples]"
        return {name + "".join(f"/{v}" for _, v in labels): value for name, labels, value in self.does(shown)}

    def end(self) -> str:
        """SIGKILL; what it had logged."""
        self.process.kill()
        _, errors = self.process.communicate()
        return errors


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    started: list[Process] = []
    yield started
    for process in started:
        process.end()


def test_two_of_one_role_have_slots_of_their_own_and_a_dead_ones_is_taken_up(
    tmp_path: Path, processes: list[Process]
) -> None:
    processes += [Process("worker", tmp_path), Process("worker", tmp_path), Process("front", tmp_path)]
    assert [process.slot for process in processes] == ["worker-0", "worker-1", "front-0"]
    processes[0].end()
    processes.append(Process("worker", tmp_path))
    assert processes[-1].slot == "worker-0"


def test_counters_go_on_where_the_dead_left_them_and_gauges_do_not(tmp_path: Path, processes: list[Process]) -> None:
    watcher = Process("supervisor", tmp_path)
    processes.append(watcher)
    for _ in range(3):
        worker = Process("worker", tmp_path)
        processes.append(worker)
        assert watcher.sees()["now"] == 0, "not what the one before it had"
        for expression in ("counter.labels('a').inc()", "sizes.observe(1.5)", "now.set(7)"):
            worker.does(expression)
        assert watcher.sees()["now"] == 7
        worker.end()
        assert watcher.sees()["now"] == 0, "the living: the watcher's own"
    found = watcher.sees()
    assert (found["done_total/a"], found["size_count"], found["size_sum"]) == (3, 3, 4.5)
    assert (found["size_bucket/1.0"], found["size_bucket/2.0"]) == (0, 3)
    assert len(list(tmp_path.glob("*.db"))) == 2 * len(FILES)


def test_one_that_waits_with_a_gauge_of_its_own_adds_to_the_others(tmp_path: Path, processes: list[Process]) -> None:
    processes += [Process("front", tmp_path), Process("front", tmp_path)]
    for process, value in zip(processes, (2, 3), strict=True):
        process.does(f"now.set({value})")
    assert processes[0].sees() == processes[1].sees()
    assert processes[0].sees()["now"] == 5


def test_nothing_that_was_shown_is_lost_or_half_whenever_the_writer_is_killed(
    tmp_path: Path, processes: list[Process]
) -> None:
    """The writer makes new entries as fast as it can, so that the kill comes in the middle of one."""
    watcher = Process("supervisor", tmp_path)
    processes.append(watcher)
    seen: dict[str, float] = {}
    for _ in range(8):
        worker = Process("worker", tmp_path)
        processes.append(worker)
        endless = "[counter.labels(f'{n % 97}').inc() for n in range(10**9)]"
        print(json.dumps(endless), file=worker.process.stdin, flush=True)
        for _ in range(8):
            now = watcher.sees()
            assert all(now.get(name, 0) >= value for name, value in seen.items() if name.startswith("done"))
            seen = now
        worker.end()
    counts = [value for name, value in watcher.sees().items() if name.startswith("done_total")]
    assert len(counts) <= 97 and sum(counts) > 0 and all(value == int(value) for value in counts)


USED = (200).to_bytes(4, "little") + bytes(4)
ITS_NAME_IS_7 = (32).to_bytes(4, "little") + bytes(4) + (4).to_bytes(4, "little") + b"7   " + bytes(16)


@pytest.mark.parametrize("damage", [b"", b"\x10", USED, USED + b"\xff" * 300, USED + b"\x20" * 300, ITS_NAME_IS_7])
def test_a_file_that_cannot_be_read_is_left_out_and_the_rest_is_shown(
    tmp_path: Path, processes: list[Process], damage: bytes
) -> None:
    processes += [Process("front", tmp_path), Process("worker", tmp_path)]
    front, worker = processes
    front.does("counter.labels('front').inc()")
    worker.does("counter.labels('worker').inc()")
    worker.end()
    (tmp_path / "counter_worker-0.db").write_bytes(damage)
    for _ in range(2):
        found = front.sees()
        assert found["done_total/front"] == 1 and "done_total/worker" not in found
    assert front.end().count("left out of /metrics") == (1 if damage else 0), "said once; an empty one is being made"


def test_a_folder_that_is_none_is_one_line_and_counts_stay_in_memory(tmp_path: Path, processes: list[Process]) -> None:
    (tmp_path / "file").write_bytes(b"")
    processes.append(Process("front", tmp_path / "file" / "below"))
    front = processes[0]
    assert front.slot is None
    front.does("counter.labels('a').inc()")
    assert front.does("registry.get_sample_value('done_total', {'what': 'a'})") == 1
    (line,) = [line for line in front.end().splitlines() if line]
    assert "the front's metrics are kept in memory" in line and "Not a directory" in line


def test_a_full_disk_is_found_out_when_a_file_is_made_and_not_by_a_signal_later(
    tmp_path: Path, processes: list[Process]
) -> None:
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    processes.append(Process("worker", tmp_path, preexec_fn=full))
    worker = processes[0]
    assert worker.slot is None
    worker.does("counter.labels('a').inc()")
    assert "can't be used: File too large" in worker.end()


def test_what_a_server_counts_never_outgrows_the_files(tmp_path: Path, processes: list[Process]) -> None:
    """A file that grows is sparse, and a mapped page that the disk has no room for is a SIGBUS."""
    processes.append(Process("front", tmp_path))
    made = processes[0].does(
        """[__import__("frontend.monitoring.metrics"), exec('''
from frontend.monitoring.metrics import Metrics
from worker.loop.process import WorkerMetrics
from supervisor.processes.metrics import SupervisorMetrics
metrics = Metrics()
WorkerMetrics()
SupervisorMetrics(None)
for route in range(40):
    for status in range(25):
        metrics.request_finished("/v1/some/long/route/name/" + str(route), 400 + status, 1.0)
''')] and None"""
    )
    assert made is None
    assert {file.name: file.stat().st_size for file in tmp_path.glob("*.db")} == {
        f"{kind}_front-0.db": size for kind, size in FILES.items()
    }


def test_without_a_folder_there_are_no_files() -> None:
    assert metric_files(None, "front") is None


def test_the_lock_is_not_inherited(tmp_path: Path, processes: list[Process]) -> None:
    processes.append(Process("front", tmp_path))
    left = processes[0].does("__import__('subprocess').Popen(['sleep', '60'], stdout=-3, stderr=-3).pid")
    try:
        processes[0].end()
        processes.append(Process("front", tmp_path))
        assert processes[1].slot == "front-0"
    finally:
        os.kill(left, 9)


def test_the_thirty_third_of_a_role_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: list[Process]
) -> None:
    monkeypatch.setattr("shm.metric_files.MAX_SLOTS", 1)
    processes.append(Process("front", tmp_path))
    with pytest.raises(OSError, match="1 processes of the role front live already"):
        MetricFiles(tmp_path, "front")


def test_the_file_and_then_its_name_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    synced = []
    sync = os.fsync

    def noted(file: int) -> None:
        synced.append(("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file", path.exists()))
        sync(file)

    monkeypatch.setattr(os, "fsync", noted)
    write_whole(path, b"x")
    assert synced == [("file", False), ("folder", True)] and path.read_bytes() == b"x"


def test_an_error_leaves_the_former_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"former")
    with pytest.raises(ValueError, match="no"), replacing(path) as draft:
        draft.write_bytes(b"half")
        raise ValueError("no")
    assert [each.name for each in tmp_path.iterdir()] == ["file"] and path.read_bytes() == b"former"


def test_of_two_errors_the_first_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(ValueError, match="no"), replacing(tmp_path / "file"):
        raise ValueError("no")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    for write in (write_whole, write_shared):
        with pytest.raises(OSError, match="full"):
            write(tmp_path / "file", b"x")


def test_a_file_that_has_its_name_needs_nothing_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: pytest.fail("a call that may fail after all is done"))
    write_whole(tmp_path / "file", b"x")
