"""SIGHUP, as the program sees it: who is replaced because of what has changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from shm.messages import Ready
from supervisor.commands.serve import Program, errands, serve
from supervisor.processes.outside import Changes
from supervisor.processes.spawn import ProcessSpawner
from supervisor.settings.composition import Settings
from supervisor.startup.listener import listen
from supervisor.tuning.tuned import applied_to, told
from tests.supervisor.clean_environment import clean_environment
from tests.supervisor.fakes import ESPEAK
from tests.supervisor.profiles import make_profile
from worker.settings import TunedModel, WorkerSettings

FIGURES: dict[str, Any] = {"per_token": 0.002, "audio_per_token": 0.07}


@pytest.fixture(autouse=True)
def environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with clean_environment(tmp_path_factory.mktemp("home"), monkeypatch):
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("model.onnx", "variant.onnx"):
        (tmp_path / name).write_bytes(name.encode())
    return tmp_path


@pytest.fixture
def program() -> Iterator[Callable[..., Program]]:
    """Makes the program of a `serve` with those arguments, whose children nobody starts."""
    with listen("127.0.0.1", 0) as listener:

        def make(*arguments: str) -> Program:
            with serve.make_context("serve", list(arguments)) as context:
                applied, settings = applied_to(context)
            spawner = ProcessSpawner(settings, listener)
            return Program(spawner, told(applied), listener, list(arguments), cast(Any, None), None)

        yield make


def flags(folder: Path) -> tuple[str, ...]:
    return "--model-dir", str(folder), "--cache-dir", str(folder / "cache")


def test_costs_of_other_content_have_the_front_replaced_and_it_alone(
    folder: Path, program: Callable[..., Program]
) -> None:
    costs = folder / "costs.json"
    costs.write_text(json.dumps({"kokoro": FIGURES}))
    serving = program("--cost-profiles", str(costs))
    assert serving.reload() == Changes(front=False, worker=False)
    costs.write_text(json.dumps({"kokoro": FIGURES | {"per_token": 0.003}}))
    assert serving.reload() == Changes(front=True, worker=False)
    assert serving.reload() == Changes(front=False, worker=False), "it has them now"
    costs.write_text(json.dumps({"kokoro": FIGURES | {"per_token": 0.003}}, indent=3))
    assert serving.reload() == Changes(front=False, worker=False), "the same figures"


def test_a_search_that_found_the_same_settings_and_other_costs_counts(
    folder: Path, program: Callable[..., Program]
) -> None:
    make_profile(flags(folder), {"kokoro": FIGURES}, threads=1)
    serving = program(*flags(folder))
    make_profile(flags(folder), {"kokoro": FIGURES | {"fixed": 0.1}}, threads=1)
    assert serving.reload() == Changes(front=True, worker=False)
    assert serving.tuning().chosen == {"threads": "1"}


def test_what_status_says_of_tuning_is_what_the_last_reload_found(
    folder: Path, program: Callable[..., Program]
) -> None:
    serving = program(*flags(folder))
    assert "kokoro-live tune" in serving.tuning().reason
    made = make_profile(flags(folder), {}, threads=1)
    assert serving.reload() == Changes(front=True, worker=True)
    found = serving.tuning()
    assert (found.created, found.chosen, found.verdict) == (made.created, {"threads": "1"}, made.verdict)
    make_profile(flags(folder), {}, age=8 * 86_400.0, threads=1)
    assert serving.reload() == Changes(front=True, worker=True)
    assert serving.tuning().reason.startswith("the profile is 8 days old")
    assert "--no-tuned" in program(*flags(folder), "--no-tuned").tuning().reason
    assert "settings" in program(*flags(folder), "--threads", "2").tuning().reason


def test_a_chosen_model_comes_with_what_is_taken_without_it(folder: Path) -> None:
    made = make_profile(flags(folder), {}, model=folder / "variant.onnx", threads=1)
    with serve.make_context("serve", [*flags(folder), "--window", "0.9"]) as context:
        _, settings = applied_to(context)
    assert settings.tuned_model is None, "that is another case"
    with serve.make_context("serve", [*flags(folder), "--worker-nice", "3"]) as context:
        _, settings = applied_to(context)
    assert (settings.worker.model, settings.worker.threads) == (folder / "variant.onnx", 1)
    assert settings.tuned_model and settings.tuned_model.sha256 == made.model_sha256
    otherwise = settings.tuned_model.otherwise
    assert (otherwise.model, otherwise.threads, otherwise.worker_nice) == (None, 0, 3)
    assert otherwise.model_dir == folder


def test_without_any_model_one_is_fetched_although_tuning_chose_one() -> None:
    chosen = WorkerSettings(model=Path("gone.onnx"))
    settings = Settings(worker=chosen, tuned_model=TunedModel("00", WorkerSettings()))
    assert [errand.role for errand in errands(settings, Ready(ESPEAK, 0.1))] == ["fetcher"]
    assert not errands(Settings(worker=chosen), Ready(ESPEAK, 0.1)), "who names one wants that one"
