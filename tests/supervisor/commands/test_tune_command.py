"""`kokoro-live tune`: what it tries, keeps, shows and forgets."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from supervisor.commands import tune as tune_module
from supervisor.commands.checks.finding import Circumstances, Verdict
from supervisor.commands.checks.tuning import tuning
from supervisor.commands.serve import serve
from supervisor.tuning import knobs
from supervisor.tuning.application import tuned_settings
from supervisor.tuning.profile_file import DAY
from tests.supervisor.clean_environment import clean_environment
from tests.supervisor.commands.tune_command import folder, found, tune
from tests.supervisor.tuning.fake_servers import FakeServers
from tests.supervisor.tuning.fake_trials import FakeMachine
from worker.quantization import variants
from worker.tuning.records import Failed, TrialSpec


@pytest.fixture(autouse=True)
def environment(tmp_path_factory, monkeypatch):
    with clean_environment(tmp_path_factory.mktemp("home"), monkeypatch):
        monkeypatch.setenv("COLUMNS", "200")
        yield


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    """Speaks faster when idle threads spin."""
    made = FakeMachine(slowness=lambda settings, spec: 0.8 if settings.spinning else 1.0)
    monkeypatch.setattr(tune_module, "runner", lambda settings: made)
    return made


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "models" / "model.onnx"
    file.parent.mkdir()
    file.write_bytes(b"weights")
    (file.parent / "voices.bin").write_bytes(b"voices")
    return file


def test_a_search_is_kept_and_told(machine: FakeMachine, model: Path) -> None:
    result = tune(model, "--trials", 0, "--quick")
    assert result.exit_code == 0, result.output
    assert "spinning on: 25.0% better on the holdout" in result.stdout
    assert "trial 1: loading" in result.stderr and "spinning on" in result.stderr
    profile = found(tune(model, "--show", "--json"))
    assert profile.chosen.values()["spinning"] is True
    assert profile.trials == len(machine.specs) and profile.lifetime == 7 * DAY
    assert {each.stage for each in profile.attempts} >= {"spinning", "memory arena", "holdout"}
    assert all(spec.settings.engine == "kokoro" for spec in machine.specs)


def test_a_fresh_result_means_no_trials(machine: FakeMachine, model: Path) -> None:
    tune(model, "--trials", 0, "--quick")
    made = len(machine.specs)
    result = tune(model, "--quick")
    assert result.exit_code == 0 and "nothing was tried" in result.stderr and "spinning on" in result.stdout
    assert len(machine.specs) == made
    assert tune(model, "--trials", 0, "--quick", "--again").exit_code == 0
    assert len(machine.specs) == 2 * made


def test_other_bounds_mean_another_search(machine: FakeMachine, model: Path) -> None:
    """What was found within a wider bound is no answer within a narrower one."""
    tune(model, "--trials", 0, "--quick", "--max-memory", 2)
    made = len(machine.specs)
    tune(model, "--trials", 0, "--quick")
    assert len(machine.specs) == 2 * made
    tune(model, "--trials", 0, "--quick", "--max-memory", 1.5)
    assert len(machine.specs) == 2 * made


def test_a_quick_result_is_no_answer_to_a_thorough_search_and_the_other_way_it_is(
    machine: FakeMachine, model: Path
) -> None:
    one = ("--trials", 0, "--workers", 1)
    tune(model, *one, "--quick")
    quick = len(machine.specs)
    assert tune(model, *one).exit_code == 0
    thorough = len(machine.specs)
    assert thorough > quick
    tune(model, *one, "--quick")
    assert len(machine.specs) == thorough


def test_beside_another_search_there_is_none(machine: FakeMachine, model: Path) -> None:
    with folder(model).searching():
        result = tune(model, "--trials", 0, "--quick")
    assert result.exit_code == 1 and "another `kokoro-live tune` goes on" in result.stderr and not machine.specs


def test_where_nothing_can_be_kept_nothing_is_tried(machine: FakeMachine, model: Path) -> None:
    (model.parents[1] / "cache").write_text("a file in the folder's place")
    result = tune(model, "--trials", 0, "--quick")
    assert result.exit_code == 1 and "nothing can be kept" in result.stderr and not machine.specs


def test_it_tunes_what_serve_would_run(machine: FakeMachine, model: Path) -> None:
    """A manifest decides which model files are right; a worker may be tied to some processors."""
    config = model.parent / "config.toml"
    config.write_text(f'manifest = "{model.parent / "own.json"}"\nworkers = 1\nworker_cpus = "0-3"\n')
    profile = found(tune(model, "--trials", 0, "--quick", "--config", config, "--json"))
    assert {spec.settings.manifest for spec in machine.specs} == {model.parent / "own.json"}
    assert "threads 4, concurrency 1" in [each.tried for each in profile.attempts]
    assert profile.key.options == {"worker_cpus": "0-3"}


def test_an_old_result_means_another_search(machine: FakeMachine, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tune(model, "--trials", 0, "--quick", "--ttl", "24h")
    made = len(machine.specs)
    later = time.time() + DAY + 1
    monkeypatch.setattr(time, "time", lambda: later)
    tune(model, "--trials", 0, "--quick")
    assert len(machine.specs) == 2 * made


@pytest.mark.parametrize(("ttl", "seconds"), [("24h", DAY), ("7d", 7 * DAY), ("30d", 30 * DAY), ("never", None)])
def test_how_long_it_is_used_is_the_user_s_to_say(
    machine: FakeMachine, model: Path, ttl: str, seconds: float | None
) -> None:
    assert found(tune(model, "--trials", 0, "--quick", "--ttl", ttl, "--json")).lifetime == seconds


def test_what_is_too_old_to_be_used_is_shown_as_such(
    machine: FakeMachine, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tune(model, "--trials", 0, "--quick")
    assert "too old" not in tune(model, "--show").stdout
    assert json.loads(tune(model, "--show", "--json").stdout)["expired"] is False
    later = time.time() + 8 * DAY
    monkeypatch.setattr(time, "time", lambda: later)
    shown = tune(model, "--show").stdout
    assert "spinning on" in shown and "8 days ago" in shown and "too old to be used" in shown
    assert json.loads(tune(model, "--show", "--json").stdout)["expired"] is True


def test_clear_forgets_and_then_there_is_nothing_to_show(machine: FakeMachine, model: Path) -> None:
    tune(model, "--trials", 0, "--quick")
    assert tune(model, "--clear").stdout == "1 tuning profiles removed\n"
    shown = tune(model, "--show")
    assert shown.exit_code == 1 and "there is no profile" in shown.stderr


def test_what_is_given_is_not_varied(machine: FakeMachine, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOKORO_LIVE_THREADS", "2")
    profile = found(tune(model, "--trials", 0, "--quick", "--no-spinning", "--json"))
    assert {(spec.settings.threads, spec.settings.spinning) for spec in machine.specs} == {(2, False)}
    assert profile.key.options == {"spinning": "off", "threads": "2"}


def test_without_optuna_its_part_is_left_out_and_how_to_have_it_is_said(
    machine: FakeMachine, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knobs, "available", lambda: False)
    result = tune(model, "--quick")
    assert result.exit_code == 0 and "-e '.[tune]'" in result.stderr
    assert "knobs" not in result.stdout


def test_with_optuna_the_knobs_are_turned(machine: FakeMachine, model: Path) -> None:
    machine.per_window = 0.0
    profile = found(tune(model, "--trials", 40, "--quick", "--json"))
    assert profile.chosen.first_window == 0.15


def test_what_crashes_is_told_of(machine: FakeMachine, model: Path) -> None:
    machine.fails = lambda settings: "its process ended with SIGSEGV" if not settings.memory_arena else ""
    result = tune(model, "--trials", 0, "--quick")
    assert "its process ended with SIGSEGV" in result.stdout and "spinning on: 25.0%" in result.stdout


def test_where_nothing_works_there_is_no_profile(machine: FakeMachine, model: Path) -> None:
    machine.fails = lambda settings: "the model is damaged"
    result = tune(model, "--quick")
    assert result.exit_code == 1 and "the model is damaged" in result.stderr
    assert folder(model).empty()


def test_ctrl_c_leaves_no_profile(machine: FakeMachine, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(spec: TrialSpec) -> Failed:
        if len(machine.specs) > 3:
            raise KeyboardInterrupt
        return machine(spec)  # type: ignore[return-value]

    monkeypatch.setattr(tune_module, "runner", lambda settings: interrupted)
    assert tune(model, "--quick").exit_code != 0
    assert folder(model).empty()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--engine", "espeak"], "espeak-ng has nothing to tune"),
        (["--model", "gone.onnx"], "there is no model"),
        (["--workers", "2"], "begins with one worker"),
        (["--ttl", "1h"], "--ttl"),
        (["--window", "99"], "window must be"),
    ],
)
def test_what_makes_no_sense_is_refused(model: Path, arguments: list[str], complaint: str) -> None:
    result = tune(model, *arguments)
    assert result.exit_code == 2 and complaint in result.stderr


class TestSeveralWorkers:
    """Measured by servers, of which two workers serve more without a gap."""

    @pytest.fixture(autouse=True)
    def servers(self, machine: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> FakeServers:
        made = FakeServers(lambda pair: {"gapless": 3})
        monkeypatch.setattr(tune_module, "servers", lambda settings: made.place())
        return made

    def test_serve_has_as_many_as_were_chosen(self, model: Path) -> None:
        profile = found(tune(model, "--trials", 0, "--json"))
        assert profile.chosen.workers == 2 and profile.chosen.spinning
        shown = tune(model, "--show").stdout
        assert "workers 2" in shown and "3 listeners: first audio" in shown
        assert "2 workers: listeners without a gap 50.0% better" in shown
        arguments = ["--model-dir", str(model.parent), "--cache-dir", str(model.parents[1] / "cache")]
        with serve.make_context("serve", arguments) as context:
            applied = tuned_settings(context)
        assert applied.settings.supervisor.workers == 2 and applied.settings.worker.spinning

    @pytest.mark.parametrize("more", [["--quick"], ["--workers", "1"]], ids=str)
    def test_no_server_is_started_for_a_quick_search_or_a_given_number(
        self, servers: FakeServers, model: Path, more: list[str]
    ) -> None:
        profile = found(tune(model, "--trials", 0, "--json", *more))
        assert not servers.started and profile.chosen.workers is None
        assert profile.chosen.spinning

    def test_a_search_that_left_workers_out_is_no_answer_where_they_are_open(
        self, servers: FakeServers, model: Path
    ) -> None:
        tune(model, "--trials", 0, "--workers", 1)
        assert found(tune(model, "--trials", 0, "--json")).chosen.workers == 2
        assert len(servers.started) == 2

    def test_a_server_that_fails_is_told_of(self, servers: FakeServers, model: Path) -> None:
        servers.cannot_start = {2: "it ended with status 5: no memory"}
        profile = found(tune(model, "--trials", 0, "--json"))
        assert profile.chosen.spinning and profile.chosen.workers is None
        (attempt,) = (each for each in profile.attempts if each.stage == "workers")
        assert attempt.note == "the server with workers 2: it ended with status 5: no memory"


class TestOtherModelFiles:
    """Within the distance that the user sets."""

    @pytest.fixture(autouse=True)
    def variants(self, machine: FakeMachine, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        near, far, unknown = (model.with_name(f"{name}.onnx") for name in ("near", "far", "unknown"))
        for file in (near, far, unknown):
            file.write_bytes(file.name.encode())
        qualities = {near: 0.8, far: 3.0}
        found = [
            variants.Variant(file, file.stem, _Quality(qualities[file]) if file in qualities else None)  # type: ignore[arg-type]
            for file in (near, far, unknown)
        ]
        monkeypatch.setattr(
            variants, "find_variants", lambda asked: [variants.Variant(model, "original", None), *found]
        )
        machine.slowness = lambda settings, spec: 0.5 if settings.model else 1.0

    def test_none_is_tried_unless_that_is_asked_for(self, machine: FakeMachine, model: Path) -> None:
        assert found(tune(model, "--trials", 0, "--quick", "--json")).chosen.model is None
        assert {spec.settings.model for spec in machine.specs} == {None}

    def test_one_that_is_near_enough_is_taken_if_it_is_faster(self, machine: FakeMachine, model: Path) -> None:
        profile = found(tune(model, "--trials", 0, "--quick", "--max-distance", "1", "--json"))
        assert profile.chosen.model == str(model.with_name("near.onnx"))
        assert {spec.settings.model for spec in machine.specs} == {None, model.with_name("near.onnx")}

    def test_beside_a_named_model_there_are_no_others(self, model: Path) -> None:
        result = tune(model, "--model", model, "--max-distance", "1")
        assert result.exit_code == 2 and "--max-distance" in result.stderr


class _Quality:
    def __init__(self, distance: float) -> None:
        self.log_mel_distance = distance
        self.passes = True


def test_doctor_tells_what_is_used_and_when_it_is_too_old(machine: FakeMachine, model: Path) -> None:
    arguments = ["--model-dir", str(model.parent), "--cache-dir", str(model.parents[1] / "cache")]

    def seen(now: float, *more: str) -> tuple[str, str, str]:
        with serve.make_context("serve", [*arguments, *more]) as context:
            applied = tuned_settings(context, lambda: now)
        finding = tuning(Circumstances(applied.settings, Path("config.toml"), "", applied))
        return finding.verdict, finding.found, finding.cure

    assert "nothing was tuned here" in seen(time.time())[1]
    tune(model, "--trials", 0, "--quick")
    verdict, said, _ = seen(time.time() + 3 * DAY)
    assert verdict == Verdict.OK and "3 days ago" in said and "spinning on" in said
    verdict, said, cure = seen(time.time() + 8 * DAY)
    assert verdict == Verdict.WARNING and "8 days old" in said and cure == "kokoro-live tune"
    assert "--no-tuned" in seen(time.time(), "--no-tuned")[1]
