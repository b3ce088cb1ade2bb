"""A trial's process may crash, hang, chatter or be left: it costs that trial, and nothing stays of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from supervisor.tuning.runner import SubprocessRunner
from tests.split_model import make_split_model, make_split_voices
from worker.settings import WorkerSettings
from worker.tuning.records import Failed, Measured, TrialSpec

ROOT = Path(__file__).parents[3]
SPEC = TrialSpec(settings=WorkerSettings())


def trial(code: str, timeout: float = 60.0) -> Failed | Measured:
    """What the runner makes of a process that runs this in place of a trial."""
    return SubprocessRunner(timeout, (sys.executable, "-c", textwrap.dedent(code)))(SPEC)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
def test_a_process_that_is_killed_is_a_failure_with_its_signal(number: signal.Signals) -> None:
    result = trial(f"import os; os.kill(os.getpid(), {int(number)})")
    assert isinstance(result, Failed) and number.name in result.reason


def test_a_process_that_fails_is_told_of_with_its_last_words() -> None:
    result = trial("raise MemoryError('of 40 GB')")
    assert isinstance(result, Failed) and "status 1: MemoryError: of 40 GB" in result.reason


def test_an_answer_that_is_none_is_a_failure() -> None:
    assert isinstance(trial("print('all is well')"), Failed)


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are counted in /proc")
def test_nothing_stays_open() -> None:
    trial("pass")
    before = len(list(Path("/proc/self/fd").iterdir()))
    trial("pass")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_process_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    code = f"""
        import signal, subprocess, sys
        subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()", {str(tmp_path)!r}])
        signal.pause()
    """
    assert trial(code, timeout=1.0) == Failed("it took longer than 1 s")
    left = [each for each in psutil.process_iter(["cmdline"]) if str(tmp_path) in (each.info["cmdline"] or ())]
    _, alive = psutil.wait_procs(left, timeout=10)
    assert all(each.status() == psutil.STATUS_ZOMBIE for each in alive)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_trial_outlives_its_search(tmp_path: Path, number: signal.Signals) -> None:
    """The search is ended while its trial sleeps: by Ctrl-C, from outside, or so that it can do nothing itself."""
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
from supervisor.tuning.runner import SubprocessRunner
from worker.settings import WorkerSettings
from worker.tuning.records import TrialSpec
SubprocessRunner(600, (sys.executable, "-c", {sleeper!r}))(TrialSpec(settings=WorkerSettings()))
"""
    search = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL)
    found = psutil.Process(int(told.read_text()))
    search.send_signal(number)
    assert search.wait(60)
    psutil.wait_procs([found], timeout=60)
    assert not found.is_running() or found.status() == psutil.STATUS_ZOMBIE


def test_a_real_trial_of_a_model_and_of_a_file_that_is_none(tmp_path: Path) -> None:
    model = make_split_model(tmp_path / "small.onnx")
    voices = make_split_voices(tmp_path / "voices.bin")
    settings = WorkerSettings(
        engine="kokoro", model=model, voices=voices, cache_dir=tmp_path / "cache", concurrency=2, first_window=0.2
    )
    run = SubprocessRunner(60)
    result = run(TrialSpec(settings=settings, texts=(("həlˈO wˈɜɹld.", "həlˈO."),), repeats=2, firsts=1))
    assert isinstance(result, Measured), result
    assert result.engine.first_block == pytest.approx(0.2) and result.engine.concurrency == 2
    assert result.together and result.load_seconds > 0 and result.rss > 10e6
    (text,) = result.texts
    assert 0 < text.first < text.whole and text.audio > 0
    assert [segment.tokens for segment in result.segments] == [13, 6] * 2
    assert all(segment.prosody_seconds > 0 for segment in result.segments)

    if sys.platform == "linux":
        cpu = min(os.sched_getaffinity(0))
        tied = run(TrialSpec(settings=replace(settings, worker_cpus=str(cpu), concurrency=0)))
        assert isinstance(tied, Measured) and tied.engine.concurrency == 1, "it isn't where the worker would be"

    model.write_bytes(b"no model at all")
    broken = run(TrialSpec(settings=settings))
    assert isinstance(broken, Failed) and "small.onnx" in broken.reason
