"""A measured engine's process may crash, hang, chatter or be left: that is told of, and nothing stays of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from supervisor.tuning.comparison import CannotMeasure, measured_engine
from tests.split_model import make_split_model, make_split_voices, stages_of
from worker.settings import WorkerSettings
from worker.tuning.messages import Round

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
from supervisor.tuning.comparison import measured_engine
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
