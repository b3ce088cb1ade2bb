"""Real servers with one worker and with two: they speak, are measured, and leave nothing, however the search ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from frontend.planning.stored import read_profiles
from supervisor.client.server_client import get_json
from supervisor.commands.tune import servers
from supervisor.settings.composition import Settings
from supervisor.settings.supervisor import SupervisorSettings
from supervisor.tuning.profile_file import ProfileFolder
from supervisor.tuning.servers import ServerFailed, flags, serving, together
from supervisor.tuning.speaking_servers import COSTS, SpeakingServers, listeners
from tests.miniature import make_miniature, make_voices
from tests.supervisor.clean_environment import clean_environment
from tests.system.server import all_gone
from worker.machine import cores
from worker.settings import WorkerSettings

ROOT = Path(__file__).parents[3]
LABEL = "kokoro miniature.onnx CPUExecutionProvider"
LABELLED = {LABEL: {"per_token": 0.002, "audio_per_token": 0.025}}


@pytest.fixture(autouse=True)
def environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In which a user's own settings would have another server speak, or none."""
    with clean_environment(tmp_path_factory.mktemp("home"), monkeypatch):
        monkeypatch.setenv("KOKORO_LIVE_ENGINE", "espeak")
        monkeypatch.setenv("KOKORO_LIVE_API_KEYS", "secret")
        yield


@pytest.fixture
def settings(tmp_path: Path) -> WorkerSettings:
    return WorkerSettings(
        engine="kokoro",
        model=make_miniature(tmp_path / "miniature.onnx"),
        voices=make_voices(tmp_path / "voices.bin"),
        cache_dir=tmp_path / "cache",
    )


def family() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def test_one_worker_and_two_speak_and_are_gone_afterwards(settings: WorkerSettings) -> None:
    before = set(family())
    start = servers(Settings(worker=settings)).start
    costs = ProfileFolder(settings.cache_dir).path / COSTS
    with ExitStack() as stack:
        one, two = (stack.enter_context(start({"spinning": True}, LABELLED, count)) for count in (1, 2))
        assert read_profiles(costs)[LABEL].per_token == 0.002
        measured = [one.measure(), two.measure()]
        memory = [one.memory(), two.memory()]
        started = [each for each in family() if each not in before]
        workers = [each for each in started if " ".join(each.cmdline()).startswith("kokoro-live: worker")]
        assert len(workers) == 3
    assert all_gone(started) and not costs.exists()
    for figures in measured:
        assert figures.crowd == listeners(cores()) and 0 <= figures.gapless <= figures.crowd
        assert min(figures.first, figures.real_time, figures.first_together, figures.together) > 0
    assert 10e6 < memory[0] < memory[1]


def test_a_server_takes_what_was_chosen(settings: WorkerSettings) -> None:
    arguments = flags({"threads": 3, "concurrency": 1, "engine": "kokoro", "provider": None, "provider_options": ()})
    files = flags({name: getattr(settings, name) for name in ("model", "voices", "cache_dir")})
    with serving([*arguments, *files], 1, 60) as server:
        engine = get_json(server.url, "/status")[1]["engine"]
        assert (engine["name"], engine["threads"], engine["lanes"]) == ("kokoro", 3, 1)


def test_settings_are_flags() -> None:
    values = {"spinning": True, "memory_arena": False, "model": None, "mirror": "", "provider_options": ("A=1", "B=2")}
    assert flags({**values, "first_window": 0.2}) == [
        *("--spinning", "--no-memory-arena", "--provider-options", "A=1,B=2", "--first-window", "0.2")
    ]


def test_a_server_that_cannot_start_is_told_of(settings: WorkerSettings) -> None:
    assert settings.model
    settings.model.write_bytes(b"no model")
    start = SpeakingServers(settings, 30, cores=2, timeout=60)
    with pytest.raises(ServerFailed, match=r"status 4: .*miniature\.onnx"), start({}, {}, 2):
        raise AssertionError
    assert not (ProfileFolder(settings.cache_dir).path / COSTS).exists()


def test_a_server_that_says_nothing_is_ended() -> None:
    before = set(family())
    command = (sys.executable, "-c", "import signal; signal.pause()")
    with pytest.raises(ServerFailed, match="in time"), serving([], 1, 0.5, command):
        raise AssertionError
    assert set(family()) <= before


def test_a_worker_that_crashes_meanwhile_voids_what_was_measured(settings: WorkerSettings) -> None:
    arguments = flags({name: getattr(settings, name) for name in ("engine", "model", "voices", "cache_dir")})
    with serving(arguments, 1, 60) as server:
        server.assert_sound()
        (pid,) = (each["pid"] for each in server.processes() if each["role"] == "worker")
        worker = psutil.Process(pid)
        worker.kill()
        assert all_gone([worker])
        while [each["state"] for each in server.processes() if each.get("restarts")] != ["running"]:
            pass  # until another one speaks in its place, as if nothing had been
        with pytest.raises(ServerFailed, match="a worker crashed"):
            server.assert_sound()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_server_outlives_its_search(settings: WorkerSettings, tmp_path: Path, number: signal.Signals) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    code = f"""
import signal
from pathlib import Path
from supervisor.tuning.speaking_servers import SpeakingServers
from worker.settings import WorkerSettings
settings = WorkerSettings(engine="kokoro", model=Path({str(settings.model)!r}), voices=Path({str(settings.voices)!r}),
                          cache_dir=Path({str(settings.cache_dir)!r}))
with SpeakingServers(settings, 30, 2, 60)({{}}, {{}}, 2):
    open({str(told)!r}, "w").write("it speaks")
    signal.pause()
"""
    search = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL)
    assert told.read_text() == "it speaks"
    started = psutil.Process(search.pid).children(recursive=True)
    assert len(started) >= 4, "a supervisor, a front and two workers"
    search.send_signal(number)
    assert search.wait(60)
    assert all_gone(started)


def test_a_search_that_is_killed_while_a_server_starts_leaves_none(tmp_path: Path) -> None:
    """Before the server has tied itself to anything: it finds its lifeline cut."""
    told = tmp_path / "told"
    os.mkfifo(told)
    slow = f"""
import os, sys, time
open({str(told)!r}, "w").write(str(os.getpid()))
while os.getppid() == {{parent}}:
    time.sleep(0.01)
from supervisor.tuning.measured_server import main
sys.argv[1:] = sys.argv[1:2] + ["serve", "--engine", "espeak", "--port", "0"]
main()
"""
    code = f"""
import os, sys
from supervisor.tuning.servers import serving
with serving([], 1, 60, (sys.executable, "-c", {slow!r}.format(parent=os.getpid()))):
    pass
"""
    search = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL)
    server = psutil.Process(int(told.read_text()))
    search.kill()
    assert search.wait(60)
    assert all_gone([server])


class _Process:
    def __init__(self, own: int, resident: int, secret: bool = False) -> None:
        self.uss, self.rss, self.secret = own, resident, secret

    def memory_info(self) -> _Process:
        return self

    def memory_full_info(self) -> _Process:
        if self.secret:
            raise psutil.AccessDenied
        return self


def test_what_workers_share_counts_once_where_the_system_tells() -> None:
    assert together(iter([_Process(100, 180), _Process(90, 160)])) == 270  # type: ignore[list-item]
    assert together(iter([_Process(100, 180, True), _Process(90, 160, True)])) == 340  # type: ignore[list-item]


def test_there_are_more_listeners_than_cores_and_no_more_than_a_server_takes() -> None:
    assert [listeners(cores) for cores in (1, 2, 8, 128)] == [2, 3, 9, 24]
    assert listeners(128) <= SupervisorSettings().rings
