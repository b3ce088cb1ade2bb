"""What `serve` makes of a profile: its values where nothing was given, and never an error."""

from __future__ import annotations

import logging
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import msgspec
import pytest

from supervisor.commands.serve import serve
from supervisor.settings.composition import Settings
from supervisor.tuning import case
from supervisor.tuning.application import Applied, tuned_settings
from supervisor.tuning.case import given, key_of
from supervisor.tuning.chosen import Chosen
from supervisor.tuning.profile_file import DAY, ProfileFolder, TuningProfile
from tests.supervisor.clean_environment import clean_environment
from worker.checksum import sha256_of
from worker.settings import WorkerSettings

NOW = 1_800_000_000.0
ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def environment(tmp_path_factory, monkeypatch):
    with clean_environment(tmp_path_factory.mktemp("home"), monkeypatch):
        yield


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"weights")
    return file


def arguments(model: Path, *more: str) -> list[str]:
    return ["--model", str(model), "--cache-dir", str(model.parent / "cache"), *more]


def apply(arguments: list[str], now: float = NOW) -> Applied:
    with serve.make_context("serve", list(arguments)) as context:
        return tuned_settings(context, lambda: now)


def store(arguments: list[str], **chosen: object) -> Path:
    """A profile for that command line; its file."""
    with serve.make_context("serve", list(arguments)) as context:
        settings = tuned_settings(context).settings
        key = key_of(settings, given(context))
    found = Chosen.of(chosen)
    profile = TuningProfile(
        key=key,
        created=NOW,
        lifetime=7 * DAY,
        chosen=found,
        model_sha256=sha256_of(Path(found.model)) if found.model else key.model_sha256,
        costs={"kokoro model.onnx CPUExecutionProvider": {"per_token": 0.002, "audio_per_token": 0.07}},
        verdict="better",
        trials=3,
    )
    return ProfileFolder(settings.worker.cache_dir).write(profile)


def test_without_a_profile_nothing_changes_and_nothing_is_said(model: Path) -> None:
    applied = apply(arguments(model))
    assert applied.settings.worker == apply(arguments(model, "--no-tuned")).settings.worker
    assert applied.note == "" and applied.profile is None


def test_what_was_chosen_takes_the_defaults_places(model: Path) -> None:
    file = store(arguments(model), threads=1, spinning=True, first_window=0.2, min_first_tokens=40)
    applied = apply(arguments(model), NOW + 2 * DAY)
    worker, front = applied.settings.worker, applied.settings.front
    assert (worker.threads, worker.spinning, worker.first_window) == (1, True, 0.2)
    assert front.min_first_tokens == 40
    assert front.cost_profiles == file.with_suffix(".costs.json")
    assert "2 days" in applied.note and "threads 1" in applied.note and applied.level == logging.INFO


@pytest.mark.parametrize("source", ["flag", "variable", "file"])
def test_a_given_setting_wins(model: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    """Also where a profile for just that case says otherwise, which tuning never writes."""
    more: list[str] = []
    if source == "flag":
        more = ["--threads", "0"]
    elif source == "variable":
        monkeypatch.setenv("KOKORO_LIVE_THREADS", "0")
    else:
        config = model.parent / "config.toml"
        config.write_text("threads = 0\n")
        more = ["--config", str(config)]
    store(arguments(model, *more), threads=5, spinning=True)
    worker = apply(arguments(model, *more)).settings.worker
    assert (worker.threads, worker.spinning) == (0, True)


def test_given_costs_win(model: Path) -> None:
    own = model.parent / "own.json"
    own.write_text("{}")
    store(arguments(model), spinning=True)
    applied = apply(arguments(model, "--cost-profiles", str(own)))
    assert applied.settings.front.cost_profiles == own and "its costs" not in applied.note


def test_costs_of_another_search_are_not_used(model: Path) -> None:
    """A search that was killed between the two files, or two at once."""
    file = store(arguments(model), spinning=True)
    costs = file.with_suffix(".costs.json")
    costs.write_text(costs.read_text().replace("0.002", "0.003"))
    applied = apply(arguments(model))
    assert not applied.settings.worker.spinning and applied.settings.front.cost_profiles is None
    assert str(costs) in applied.note and applied.level == logging.WARNING


def test_a_profile_of_other_given_settings_is_not_used(model: Path) -> None:
    store(arguments(model), spinning=True)
    applied = apply(arguments(model, "--threads", "1"))
    assert not applied.settings.worker.spinning and "other settings" in applied.note


def test_as_many_workers_as_were_chosen_speak(model: Path) -> None:
    store(arguments(model), workers=2, spinning=True)
    applied = apply(arguments(model))
    assert applied.settings.supervisor.workers == 2 and "workers 2" in applied.note


@pytest.mark.parametrize(
    ("asked", "chosen", "taken"),
    [("1", None, True), ("1", 2, True), ("2", 2, True), ("2", None, False), ("3", 2, False)],
)
def test_a_profile_is_used_with_the_numbers_of_workers_that_it_was_measured_with(
    model: Path, asked: str, chosen: int | None, taken: bool
) -> None:
    store(arguments(model), spinning=True, workers=chosen)
    applied = apply(arguments(model, "--workers", asked))
    assert applied.settings.supervisor.workers == int(asked), "what is given wins"
    assert applied.settings.worker.spinning is taken
    assert (f"--workers asks for {asked}" in applied.note) is not taken
    assert applied.level == logging.INFO


def test_an_old_profile_is_not_used(model: Path) -> None:
    store(arguments(model), spinning=True)
    applied = apply(arguments(model), NOW + 7 * DAY)
    assert not applied.settings.worker.spinning
    assert "7 days old" in applied.note and applied.level == logging.WARNING


def test_a_changed_model_has_no_profile(model: Path) -> None:
    store(arguments(model), spinning=True)
    model.write_bytes(b"other weights")
    assert not apply(arguments(model)).settings.worker.spinning


def test_no_tuned_uses_nothing(model: Path) -> None:
    store(arguments(model), spinning=True)
    applied = apply(arguments(model, "--no-tuned"))
    assert not applied.settings.worker.spinning and not applied.note


@pytest.mark.parametrize("which", ["profile", "costs"])
@pytest.mark.parametrize("content", [b"", b"[1]", b'{"x": 1}'], ids=repr)
def test_a_damaged_file_is_one_line_and_no_error(model: Path, which: str, content: bytes) -> None:
    file = store(arguments(model), spinning=True)
    (file if which == "profile" else file.with_suffix(".costs.json")).write_bytes(content)
    applied = apply(arguments(model))
    assert not applied.settings.worker.spinning and applied.settings.front.cost_profiles is None
    assert applied.level == logging.WARNING and "\n" not in applied.note.strip()


def test_values_that_make_no_sense_are_one_line_and_no_error(model: Path) -> None:
    store(arguments(model), first_window=99.0)
    applied = apply(arguments(model))
    assert applied.settings.worker.first_window == WorkerSettings().first_window
    assert "first_window" in applied.note and applied.level == logging.WARNING


@pytest.mark.parametrize("chosen", [{"workers": 99}, {"provider": "abacus"}, {"provider": 5}, {"threads": -1}], ids=str)
def test_values_that_nobody_could_have_chosen_are_likewise(model: Path, chosen: dict[str, object]) -> None:
    file = store(arguments(model), spinning=True)
    damaged = msgspec.json.decode(file.read_bytes())
    damaged["chosen"] |= chosen
    file.write_bytes(msgspec.json.encode(damaged))
    applied = apply(arguments(model))
    plain = apply(arguments(model, "--no-tuned")).settings
    assert (applied.settings.worker, applied.settings.supervisor) == (plain.worker, plain.supervisor)
    assert applied.level == logging.WARNING and "\n" not in applied.note.strip()
    assert next(iter(chosen)) in applied.note


def test_a_given_value_that_makes_no_sense_is_an_error_all_the_same(model: Path) -> None:
    store(arguments(model), spinning=True)
    with pytest.raises(ValueError, match="concurrency"):
        apply(arguments(model, "--concurrency", "-1"))


class TestAnotherModelFile:
    """Chosen by tuning, from the folder of the model."""

    @pytest.fixture
    def folder(self, model: Path) -> list[str]:
        (model.parent / "variant.onnx").write_bytes(b"smaller")
        return ["--model-dir", str(model.parent), "--cache-dir", str(model.parent / "cache")]

    def test_it_speaks(self, folder: list[str], model: Path) -> None:
        variant = model.with_name("variant.onnx")
        store(folder, model=variant, spinning=True)
        worker = apply(folder).settings.worker
        assert (worker.model, worker.spinning) == (variant, True)

    @pytest.mark.parametrize("change", ["gone", "changed"])
    def test_if_it_is_what_it_was(self, folder: list[str], model: Path, change: str) -> None:
        variant = model.with_name("variant.onnx")
        store(folder, model=variant, spinning=True)
        variant.unlink() if change == "gone" else variant.write_bytes(b"something else")
        applied = apply(folder)
        assert applied.settings.worker.model is None and not applied.settings.worker.spinning
        assert "variant.onnx" in applied.note

    def test_unless_another_is_named(self, folder: list[str], model: Path) -> None:
        store(folder, model=model.with_name("variant.onnx"), spinning=True)
        applied = apply([*folder, "--model", str(model)])
        assert applied.settings.worker.model == model and not applied.settings.worker.spinning


def test_serving_never_imports_what_makes_trials() -> None:
    code = "import sys, supervisor.commands.serve; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert "supervisor.tuning.application" in out.split()
    trials = {
        "supervisor.tuning.runner",
        "supervisor.tuning.search",
        "supervisor.tuning.servers",
        "worker.tuning.records",
    }
    assert not trials & set(out.split())


def test_the_key_is_of_the_machine_the_runtime_the_model_and_what_was_given(model: Path) -> None:
    key = key_of(Settings(worker=WorkerSettings(model=model)), {"threads": 2, "port": 1})
    assert key.machine and key.onnxruntime.startswith("onnxruntime")
    assert key.model_sha256 == sha256_of(model) and key.options == {"threads": "2"}
    assert key.name != msgspec.structs.replace(key, options={}).name


def test_the_key_names_every_package_that_brings_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {"onnxruntime": "1.2", "onnxruntime-gpu": "1.3"}

    def version(package: str) -> str:
        if package not in installed:
            raise PackageNotFoundError(package)
        return installed[package]

    monkeypatch.setattr(case, "version", version)
    assert case.runtime_version() == "onnxruntime 1.2, onnxruntime-gpu 1.3"


def test_a_config_file_that_names_nothing_of_it_changes_no_key(model: Path) -> None:
    config = model.parent / "config.toml"
    config.write_text("port = 9000\ntuned = true\n")
    store(arguments(model), spinning=True)
    assert apply(arguments(model, "--config", str(config))).settings.worker.spinning
