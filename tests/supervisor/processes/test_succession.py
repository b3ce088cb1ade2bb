"""The update as the old version decides it, and the steps at which it goes on as if nothing had been.

1. SIGUSR2, or SIGHUP after a changed installation -> an update is begun; another SIGHUP reads the settings.
2. Another version serves -> the front finishes its answers without a limit; until then dead workers are replaced.
3. A rehearsal that fails, can't be started or lasts too long, and a system that refuses the exec -> one line."""

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from shm.handover import Handover
from shm.listeners import Listeners
from shm.messages import ChildReady, Drain
from supervisor.commands.serve import Program, errands
from supervisor.processes.lifecycle import SUCCEEDED, Changes
from supervisor.processes.loop import Loop
from supervisor.processes.spawning import ProcessSpawner
from supervisor.processes.standing import ExitCode
from supervisor.processes.succession import REHEARSAL_LIMIT, VARIABLE, Inheritance, Predecessors, Update, inherited
from supervisor.processes.timers import Timers
from supervisor.settings.composition import Settings, parse_settings
from supervisor.settings.profile import Way, status_of, tuned_settings
from supervisor.startup.requirements import listen
from supervisor.startup.service_manager import Notifications, ServiceManager
from tests.supervisor.fakes import ESPEAK, House
from tests.supervisor.profiles import make_profile
from worker.settings import WorkerSettings


class UpdatedHouse(House):
    outdated = False
    asked: tuple[str, ...] = ()

    def is_outdated(self) -> bool:
        return self.outdated

    def update(self) -> None:
        self.asked += ("update",)

    def reload(self) -> Changes:
        self.asked += ("reload",)
        return super().reload()


def test_which_signals_update() -> None:
    house = UpdatedHouse()
    house.up()
    house.lifecycle.signal(signal.SIGUSR2)
    house.lifecycle.signal(signal.SIGHUP)
    house.outdated = True
    house.lifecycle.signal(signal.SIGHUP)
    assert house.asked == ("update", "reload", "update")
    house.lifecycle.signal(signal.SIGTERM)
    house.lifecycle.signal(signal.SIGUSR2)
    assert len(house.asked) == 3, "a server that ends isn't updated"


def test_the_old_version_finishes_its_answers_and_ends(house: House) -> None:
    front, worker = house.up()
    house.lifecycle.retire()
    house.lifecycle.retire()
    assert front.heard_of(Drain) == [Drain(True, SUCCEEDED)] and not house.listening
    house.passes(3600.0)
    assert not front.killed, "an answer may last an hour"
    house.dies(worker)
    house.passes(0.1)
    assert house.newest("worker") is not worker, "its answers need one"
    house.dies(front, 0)
    house.dies(house.newest("worker"), 0)
    assert house.lifecycle.exit_code is ExitCode.OK


class OldVersion:
    """An update whose new version is a line of Python."""

    def __init__(self, code: str, python: str = sys.executable) -> None:
        self.now = 0.0
        self.timers = Timers(lambda: self.now)
        self.handed_over = 0
        self.update = Update(
            [python, "-c", code], ["--port", "1"], dict(os.environ), self.timers, self._left, lambda channel: None
        )

    def _left(self, channel: Handover) -> Inheritance:
        self.handed_over += 1
        return Inheritance(http=channel.fileno(), channels=(channel.fileno(),), predecessors=())

    def finishes(self) -> None:
        """Begin, and wait until the rehearsal has ended."""
        self.update.begin("http://127.0.0.1:1")
        if self.update._rehearsal:
            os.waitid(os.P_PID, self.update._rehearsal.pid, os.WEXITED | os.WNOWAIT)
        self.update.look()


@pytest.mark.skipif(sys.platform != "linux", reason="waitid is Linux's")
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("print('one'); print('\\nit says nothing'); raise SystemExit(1)", "it says nothing"),
        ("import sys; sys.exit(7)", "its rehearsal ended with 7"),
        ("import os; os.kill(os.getpid(), 9)", "its rehearsal ended with -9"),
        ("this is no Python", "SyntaxError"),
    ],
)
def test_a_rehearsal_that_fails_is_one_line(code: str, reason: str, caplog: pytest.LogCaptureFixture) -> None:
    old = OldVersion(code)
    old.finishes()
    assert reason in caplog.records[-1].getMessage()
    assert caplog.records[-1].getMessage().startswith("not updated, this version goes on")
    assert not old.handed_over


def test_a_program_that_is_not_there_is_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    OldVersion("", str(tmp_path / "python")).finishes()
    assert "not updated" in caplog.records[-1].getMessage()


@pytest.mark.skipif(sys.platform != "linux", reason="waitid is Linux's")
def test_a_rehearsal_that_hangs_is_ended(caplog: pytest.LogCaptureFixture) -> None:
    old = OldVersion("import time; time.sleep(1000)")
    old.update.begin("http://127.0.0.1:1")
    old.update.begin("http://127.0.0.1:1")  # while one is under way
    assert old.update._rehearsal
    old.now += REHEARSAL_LIMIT
    old.timers.run_due()
    os.waitid(os.P_PID, old.update._rehearsal.pid, os.WEXITED | os.WNOWAIT)
    old.update.look()
    assert "ended with -9" in caplog.records[-1].getMessage()


@pytest.mark.skipif(sys.platform != "linux", reason="waitid is Linux's")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the supervisor has one thread
def test_an_exec_that_is_refused_changes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    old = OldVersion(f"import os; os.unlink({str(python)!r}); print('well')", str(python))
    old.finishes()
    assert old.handed_over == 1 and "No such file" in caplog.records[-1].getMessage()
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ()) & {signal.SIGTERM, signal.SIGUSR2}


def test_what_is_inherited_survives_the_way_through_the_environment() -> None:
    with socket.socket() as listener, socket.socket() as channel:
        left = Inheritance(http=listener.fileno(), channels=(channel.fileno(),), predecessors=(1,), processes=(2, 3))
        for number in left.descriptors:
            os.set_inheritable(number, True)
        later = msgspec.json.encode(msgspec.structs.asdict(left) | {"later": [1]}).decode()
        environment = {VARIABLE: later, "A": "b"}
        assert inherited(environment) == left
        assert environment == {"A": "b"}, "no child takes it for its own"
        assert not any(os.get_inheritable(number) for number in left.descriptors)
        assert inherited(environment) is None


@pytest.mark.skipif(sys.platform != "linux", reason="one of them is killed")
@pytest.mark.parametrize("end", [Predecessors.stop, lambda them: them.wait(0.0)])
def test_predecessors_end_with_the_server(end: Callable[[Predecessors], None]) -> None:
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", "import time; time.sleep(1000)"], dict(os.environ))
    them = Predecessors(None)
    them.living.append(pid)
    them.reap()
    assert them.living == [pid]
    end(them)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    them.reap()
    assert them.living == []


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
