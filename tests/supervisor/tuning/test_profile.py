"""The use that `serve` makes of a profile: its values where nothing was given, and never an error."""

import logging
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from supervisor.settings import profile as profile_module
from supervisor.settings.composition import Settings, parse_settings
from supervisor.settings.profile import Applied, Case, Way, ago, profile_file, status_of, tuned_settings
from tests.supervisor.clean_environment import clean_environment
from tests.supervisor.profiles import make_profile

DAY = 86_400.0
ROOT = Path(__file__).parents[3]
WAY = Way(threads=4, concurrency=2)


@pytest.fixture(autouse=True)
def environment(tmp_path_factory, monkeypatch):
    with clean_environment(tmp_path_factory.mktemp("home"), monkeypatch):
        yield


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
    with pytest.raises(ValueError, match="window"):
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
