"""A way to divide the cores is chosen for a gain that every round shows, and for nothing else."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec
import psutil
import pytest

from supervisor.commands.tune import ROUNDS, CannotMeasure, ComparisonResult, compare, measured_engine, ways
from supervisor.settings import profile as profile_module
from supervisor.settings.composition import Settings, parse_settings
from supervisor.settings.profile import Applied, Case, Way, ago, profile_file, status_of, tuned_settings
from tests.split_model import make_split_model, make_split_voices, stages_of
from tests.supervisor.profiles import make_profile
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


DAY = 86_400.0
WAY = Way(threads=4, concurrency=2)


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    (tmp_path / "model.onnx").write_bytes(b"weights")
    return ["--model", str(tmp_path / "model.onnx"), "--cache-dir", str(tmp_path / "cache")]


def apply(arguments: list[str], now: float | None = None) -> Applied:
    return tuned_settings(parse_settings(arguments), lambda: now or time.time())


def threads(applied: Applied) -> tuple[int, int]:
    return applied.settings.worker.threads, applied.settings.worker.concurrency


def test_without_a_profile_the_defaults_stay_and_the_log_says_nothing_at_its_usual_level(arguments: list[str]) -> None:
    applied = apply(arguments)
    assert threads(applied) == (0, 0) and applied.level == logging.DEBUG
    assert "kokoro-live tune" in status_of(applied).reason


def test_the_chosen_way_is_applied_and_its_age_is_said(arguments: list[str]) -> None:
    make_profile(arguments, WAY)
    applied = apply(arguments, time.time() + 3 * DAY)
    assert threads(applied) == (4, 2)
    assert applied.note == "tuned 3 days ago: threads 4, concurrency 2" and applied.level == logging.INFO
    told = status_of(applied)
    assert (told.chosen, told.verdict, told.reason) == ({"threads": "4", "concurrency": "2"}, "it was better", "")


def test_a_profile_whose_defaults_stay_changes_nothing_and_is_in_use(arguments: list[str]) -> None:
    make_profile(arguments, None)
    applied = apply(arguments)
    assert threads(applied) == (0, 0) and "the defaults stay" in applied.note and applied.profile


@pytest.mark.parametrize("setting", ["threads", "concurrency"])
@pytest.mark.parametrize("source", ["flag", "variable", "file"])
def test_an_explicit_setting_wins_over_the_whole_way(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, source: str, setting: str
) -> None:
    """A profile's concurrency with other threads is a way that nobody measured."""
    make_profile(arguments, WAY)
    more: list[str] = []
    if source == "flag":
        more = [f"--{setting}", "0"]
    elif source == "variable":
        monkeypatch.setenv(f"KOKORO_LIVE_{setting.upper()}", "0")
    else:
        config = Path(arguments[1]).with_name("config.toml")
        config.write_text(f"{setting} = 0\n")
        more = ["--config", str(config)]
    applied = apply([*arguments, *more])
    assert threads(applied) == (0, 0) and f"--{setting} is given" in applied.note
    assert applied.level == logging.INFO


@pytest.mark.parametrize(
    ("more", "named"), [(["--window", "0.9"], "--window"), (["--workers", "2"], "--workers"), ([], "the model")]
)
def test_a_stale_profile_is_said_with_what_has_changed(arguments: list[str], more: list[str], named: str) -> None:
    make_profile(arguments, WAY)
    if not more:
        Path(arguments[1]).write_bytes(b"other weights")
    applied = apply([*arguments, *more])
    assert threads(applied) == (0, 0) and applied.level == logging.WARNING
    assert "stale" in applied.note and f"another value of {named};" in applied.note


@pytest.mark.parametrize(
    ("function", "named"), [("machine_name", "the machine or its system"), ("_runtimes", "onnxruntime")]
)
def test_a_profile_of_another_machine_or_runtime_is_stale(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, function: str, named: str
) -> None:
    make_profile(arguments, WAY)
    monkeypatch.setattr(profile_module, function, lambda: "another")
    assert f"another value of {named};" in apply(arguments).note


def test_settings_that_cost_nothing_leave_a_profile_fresh(arguments: list[str]) -> None:
    make_profile(arguments, WAY)
    assert threads(apply([*arguments, "--port", "9000", "--log-level", "debug"])) == (4, 2)


def test_no_tuned_applies_nothing(arguments: list[str]) -> None:
    make_profile(arguments, WAY)
    applied = apply([*arguments, "--no-tuned"])
    assert threads(applied) == (0, 0) and "--no-tuned" in status_of(applied).reason


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"x": 1}'], ids=repr)
def test_a_damaged_file_is_one_line_and_no_error(arguments: list[str], content: bytes) -> None:
    make_profile(arguments, WAY)
    file = profile_file(apply(arguments).settings)
    file.write_bytes(content)
    applied = apply(arguments)
    assert threads(applied) == (0, 0) and applied.level == logging.WARNING
    assert str(file) in applied.note and "\n" not in applied.note


def test_a_way_that_no_worker_would_take_is_one_line_and_no_error(arguments: list[str]) -> None:
    make_profile(arguments, Way(threads=-1, concurrency=2))
    applied = apply(arguments)
    assert threads(applied) == (0, 0) and "threads must be" in applied.note and applied.level == logging.WARNING


def test_a_given_value_that_makes_no_sense_is_an_error_all_the_same(arguments: list[str]) -> None:
    make_profile(arguments, WAY)
    with pytest.raises(click.UsageError, match="window"):
        apply([*arguments, "--window", "99"])


@pytest.mark.parametrize("more", [["--engine", "espeak"], ["--model", "gone.onnx"]])
def test_where_kokoro_does_not_speak_a_profile_is_not_applied(arguments: list[str], more: list[str]) -> None:
    make_profile(arguments, WAY)
    applied = apply([*arguments, *more])
    assert applied.profile is None and applied.level == logging.INFO


def test_the_case_names_the_runtime_and_the_model(arguments: list[str]) -> None:
    case = Case.of(Settings.of(parse_settings(arguments).params))
    assert case.onnxruntime.startswith("onnxruntime") and len(case.model_sha256) == 64
    assert case.differences(msgspec.structs.replace(case, format=1)) == ["kokoro-live"]
    assert not case.differences(case)


@pytest.mark.parametrize(
    ("seconds", "said"), [(-5, "0 minutes"), (119 * 60, "119 minutes"), (3 * 3600, "3 hours"), (3 * DAY, "3 days")]
)
def test_ages_are_told_in_the_largest_unit_of_which_there_are_two(seconds: float, said: str) -> None:
    assert ago(seconds) == said


def test_serving_never_imports_the_measurement() -> None:
    code = "import sys, supervisor.commands.serve; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert "supervisor.settings.profile" in out.split()
    assert not {"supervisor.commands.tune"} & set(out.split())
