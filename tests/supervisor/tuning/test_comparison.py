"""A way to divide the cores is chosen for a gain that every round shows, and for nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from supervisor.commands.tune import ROUNDS, CannotMeasure, ComparisonResult, compare, measured_engine, ways
from supervisor.settings.profile import Way
from tests.split_model import make_split_model, make_split_voices, stages_of
from worker.settings import WorkerSettings
from worker.tuning.messages import Round

ONE, OTHER = Way(threads=1, concurrency=8), Way(threads=4, concurrency=2)

Measurements = list[Round | str]
"""One for each round; a text: it fails so."""


class Machine:
    """Engines by their threads; the default has 0. Each needs one more measurement, to load."""

    def __init__(self, **engines: Measurements) -> None:
        self.engines = {int(name.strip("t")): rounds for name, rounds in engines.items()}
        self.loaded: set[int] = set()
        self.order: list[int] = []

    @contextmanager
    def __call__(self, settings: WorkerSettings) -> Iterator[Engine]:
        threads = settings.threads
        assert threads not in self.loaded
        self.loaded.add(threads)
        try:
            yield Engine(self, threads, iter(self.engines[threads]))
        finally:
            self.loaded.remove(threads)


class Engine:
    def __init__(self, machine: Machine, threads: int, rounds: Iterator[Round | str]) -> None:
        self.machine, self.threads, self.rounds = machine, threads, rounds
        self.loads = True

    def measure(self) -> Round:
        self.machine.order.append(self.threads)
        if self.loads:
            self.loads = False
            return Round(9.0, 0.1, 0.1)
        result = next(self.rounds)
        if isinstance(result, str):
            raise CannotMeasure(result)
        return result


def alike(first: float = 1.0, alone: float = 1.0, together: float = 1.0) -> Measurements:
    return [Round(first, alone, together)] * ROUNDS * 2


def found(machine: Machine, *tried: Way) -> ComparisonResult:
    return compare(machine, WorkerSettings(), tried or (ONE,), lambda step: None)


@pytest.mark.parametrize(
    ("measured", "chosen", "note"),
    [
        (alike(first=0.5), True, ""),
        (alike(together=1.2), True, ""),
        (alike(first=0.97, together=1.03), False, "gains less than 5%"),
        (alike(first=0.5, together=0.9), False, "worse: throughput 0.90"),
        (alike(first=2.0, together=2.0), False, "worse: first audio 0.50"),
        (alike(first=0.5, alone=0.5), False, "worse: one at a time 0.50"),
        ([Round(0.5, 1, 1)] * (ROUNDS - 1) + [Round(1.1, 1, 1)], False, "not better in every round"),
    ],
)
def test_a_way_is_chosen_for_a_gain_without_a_loss(measured: Measurements, chosen: bool, note: str) -> None:
    result = found(Machine(t0=alike(), t1=measured))
    assert (result.chosen, result.attempts[0].note) == (ONE if chosen else None, note)
    assert ("defaults stay" in result.verdict) is not chosen


def test_the_best_of_several_is_chosen() -> None:
    result = found(Machine(t0=alike(), t1=alike(first=0.8), t4=alike(first=0.5, together=1.1)), ONE, OTHER)
    assert result.chosen == OTHER and [each.way for each in result.attempts] == [ONE, OTHER]
    assert "first audio 2.00, speed 1.10" in result.verdict


def test_both_speak_in_turn_and_take_turns_in_being_first() -> None:
    """A machine that becomes busier in the middle slows both alike."""
    machine = Machine(t0=alike(), t1=alike())
    found(machine)
    assert machine.order[:6] == [0, 1, 0, 1, 1, 0] and not machine.loaded


def test_a_way_that_fails_is_passed_over_and_told_of() -> None:
    machine = Machine(t0=alike(), t1=["its process ended with SIGSEGV"], t4=alike(first=0.5))
    result = found(machine, ONE, OTHER)
    assert result.chosen == OTHER and result.attempts[0].note == "its process ended with SIGSEGV"


def test_a_default_that_fails_is_no_fault_of_the_way_that_is_measured() -> None:
    with pytest.raises(CannotMeasure, match="no memory"):
        found(Machine(t0=["no memory"], t1=alike()))


def test_ways_divide_all_cores() -> None:
    assert ways(1) == []
    assert [(way.threads, way.concurrency) for way in ways(2)] == [(1, 2), (2, 1)]
    assert [(way.threads, way.concurrency) for way in ways(6)] == [(1, 6), (2, 3), (4, 1), (6, 1)]
    assert [(way.threads, way.concurrency) for way in ways(8)] == [(1, 8), (2, 4), (4, 2), (8, 1)]


# A measured engine's process may crash, hang, chatter or be left: that is told of, and nothing stays of it.

ROOT = Path(__file__).parents[3]


def measure(code: str, timeout: float = 60.0) -> Round:
    """The first measurement of a process that runs this instead of an engine."""
    with measured_engine(WorkerSettings(), timeout, (sys.executable, "-c", textwrap.dedent(code))) as engine:
        return engine.measure()


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
def test_a_process_that_is_killed_is_told_of_with_its_signal(number: signal.Signals) -> None:
    with pytest.raises(CannotMeasure, match=number.name):
        measure(f"import os; os.kill(os.getpid(), {int(number)})")


def test_a_process_that_fails_is_told_of_with_its_last_words() -> None:
    with pytest.raises(CannotMeasure, match="status 1: MemoryError: of 40 GB"):
        measure("raise MemoryError('of 40 GB')")


def test_nothing_stays_open() -> None:
    def failing() -> int:
        with pytest.raises(CannotMeasure):
            measure("pass")
        return int(psutil.Process().num_fds())

    assert failing() == failing()


def test_a_process_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    code = f"""
        import signal, subprocess, sys
        subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()", {str(tmp_path)!r}])
        signal.pause()
    """
    with pytest.raises(CannotMeasure, match="no answer within 1 s"):
        measure(code, timeout=1.0)
    left = [each for each in psutil.process_iter(["cmdline"]) if str(tmp_path) in (each.info["cmdline"] or ())]
    _, alive = psutil.wait_procs(left, timeout=10)
    assert all(each.status() == psutil.STATUS_ZOMBIE for each in alive)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_engine_outlives_the_comparison(tmp_path: Path, number: signal.Signals) -> None:
    told = tmp_path / "pid"
    os.mkfifo(told)
    sleeper = f"""
import os, signal, sys
from shm.lifeline import die_with_supervisor
die_with_supervisor(int(sys.argv[1]))
open({str(told)!r}, "w").write(str(os.getpid()))
signal.pause()
"""
    code = f"""
import sys
from supervisor.commands.tune import measured_engine
from worker.settings import WorkerSettings
with measured_engine(WorkerSettings(), 600, (sys.executable, "-c", {sleeper!r})) as engine:
    engine.measure()
"""
    search = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL)
    found = psutil.Process(int(told.read_text()))
    search.send_signal(number)
    assert search.wait(60)
    _, alive = psutil.wait_procs([found], timeout=60)
    assert all(each.status() == psutil.STATUS_ZOMBIE for each in alive)


@pytest.mark.slow
def test_a_real_engine_is_measured_until_it_is_broken(tmp_path: Path) -> None:
    model, voices = make_split_model(tmp_path / "small.onnx"), make_split_voices(tmp_path / "voices.bin")
    stages_of(model, tmp_path / "cache")
    settings = WorkerSettings(model=model, voices=voices, cache_dir=tmp_path / "cache", threads=1, concurrency=2)
    with measured_engine(settings, 60) as engine:
        for each in (engine.measure(), engine.measure()):
            assert each.first > 0 and each.alone > 0 and each.together > 0
    model.write_bytes(b"no model at all")
    with measured_engine(settings, 60) as engine, pytest.raises(CannotMeasure, match=r"small\.onnx"):
        engine.measure()
