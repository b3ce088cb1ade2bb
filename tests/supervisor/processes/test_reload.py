"""SIGHUP, as the program sees it: who is replaced because of what has changed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from shm.listeners import Listeners
from shm.messages import ChildReady
from supervisor.commands.serve import Program, errands
from supervisor.processes.lifecycle import Changes
from supervisor.processes.loop import Loop
from supervisor.processes.spawning import ProcessSpawner
from supervisor.settings.composition import Settings, parse_settings
from supervisor.settings.profile import Way, status_of, tuned_settings
from supervisor.startup.requirements import listen
from supervisor.startup.service_manager import Notifications, ServiceManager
from tests.supervisor.clean_environment import clean_environment
from tests.supervisor.fakes import ESPEAK
from tests.supervisor.profiles import make_profile
from worker.settings import WorkerSettings


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
            applied = tuned_settings(parse_settings(arguments))
            listeners = Listeners(listener)
            spawner = ProcessSpawner(applied.settings, listeners)
            manager = ServiceManager(Notifications({}, 0), lambda: 1.0)
            loop = Loop(spawner, listeners)
            return Program(spawner, status_of(applied), loop, list(arguments), manager, None)

        yield make


def flags(folder: Path) -> tuple[str, ...]:
    return "--model-dir", str(folder), "--cache-dir", str(folder / "cache")


@pytest.mark.parametrize(
    ("written", "changes"),
    [
        ("", Changes(front=False, worker=False)),
        ("max_streams = 7", Changes(front=True, worker=False)),
        ("pauses = {dash = 0.3}", Changes(front=True, worker=False)),
        ("max_jobs = 7", Changes(front=True, worker=False)),
        ("window = 0.9", Changes(front=False, worker=True)),
    ],
)
def test_the_processes_that_read_a_changed_setting_are_replaced(
    folder: Path, program: Callable[..., Program], written: str, changes: Changes
) -> None:
    config = folder / "config.toml"
    config.write_text("")
    serving = program("--config", str(config), *flags(folder))
    config.write_text(written)
    assert serving.reload() == changes
    assert serving.reload() == Changes(front=False, worker=False), "it has it now"


def test_status_shows_the_profile_of_the_last_reload(folder: Path, program: Callable[..., Program]) -> None:
    serving = program(*flags(folder))
    assert "kokoro-live tune" in serving.tuning().reason
    made = make_profile(flags(folder), Way(threads=1, concurrency=2))
    assert serving.reload() == Changes(front=False, worker=True)
    found = serving.tuning()
    assert (found.created, found.verdict) == (made.created, made.verdict)
    assert found.chosen == {"threads": "1", "concurrency": "2"}
    make_profile((*flags(folder), "--window", "0.9"), Way(threads=1, concurrency=2))
    assert serving.reload() == Changes(front=False, worker=True)
    assert "stale" in serving.tuning().reason


def test_the_model_is_fetched_if_another_engine_speaks_for_lack_of_it() -> None:
    ready = ChildReady(msgspec.structs.replace(ESPEAK, stands_in=True), 0.1)
    assert [errand.role for errand in errands(Settings(), ready)] == ["fetcher"]
    asked_for = Settings(worker=WorkerSettings(engine="espeak"))
    assert not errands(asked_for, ready) and not errands(Settings(), ChildReady(ESPEAK, 0.1))
