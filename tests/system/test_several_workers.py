"""A server with two workers: killed, stopped, reloaded and drained; the same samples as from one."""

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.system.changed_engine import poisoned_by
from tests.system.listening import LONG, Listener
from tests.system.oracle import miniature_arguments, samples_of, sentences
from tests.system.server import DEADLINE, Server, all_gone, server
from tests.system.shared import SharedServer, shared

TEXT = sentences(14)
"""40 s of samples: a listener who is held leaves some of it to be made."""
TWO = ("--workers", "2")
POISON = "Swallow this and perish."

needs_cores = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or os.cpu_count() == 1, reason="needs cores to divide"
)


def both(started: Server) -> Server:
    wait_for_ready(started, 2)
    return started


def wait_for_ready(started: Server, count: int, start: int = 0) -> None:
    """Until so many workers have said that they are, one after another, from log line `start` on."""
    for _ in range(count):
        started.logs(r"worker\[\d+\] is ready", start)
        start = next(n for n in ready_lines(started) if n >= start) + 1


def ready_lines(started: Server) -> list[int]:
    return [n for n, line in enumerate(started.log) if re.search(r"worker\[\d+\] is ready", line)]


def exact(heard: bytes, text: str) -> bool:
    return bool(np.array_equal(np.frombuffer(heard, "<i2"), samples_of(text)))


def speaking(started: Server) -> list[dict[str, object]]:
    _, status = started.get("/status")
    return [each for each in status["processes"] if each["role"] == "worker"]


def holding_back(held: Path) -> str:
    """Code with which no worker can begin to load while that file is there."""
    return (
        "import os, sys, time\n"
        "class Hold:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        while name == 'worker.loop.workbench' and os.path.exists({str(held)!r}):\n"
        "            time.sleep(0.02)\n"
        "        return None\n"
        "sys.meta_path.insert(0, Hold())\n"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("two")


@pytest.fixture(scope="module")
def environment(folder: Path) -> dict[str, str]:
    """One in which `POISON` kills workers, and the file `held` holds their loading back."""
    return poisoned_by(folder, POISON, holding_back(folder / "held"))


@pytest.fixture(scope="module")
def house(folder: Path, environment: dict[str, str]) -> Iterator[SharedServer]:
    config = folder / "config.toml"
    config.write_text("concurrency = 1\n")
    arguments = (*miniature_arguments(folder), *TWO, "--config", str(config))
    with shared(*arguments, environment=environment, prepare=both) as kept:
        yield kept


@pytest.fixture
def pair(house: SharedServer) -> Server:
    """Two workers that speak, without a spare one."""
    return house.calm()


@pytest.fixture
def held(folder: Path) -> Iterator[Path]:
    """The file that a test may make, removed after it."""
    yield folder / "held"
    (folder / "held").unlink(missing_ok=True)


def test_a_text_sounds_the_same_as_from_one(pair: Server) -> None:
    assert exact(pair.hear(input=TEXT, response_format="pcm"), TEXT)


@needs_cores
def test_each_has_its_own_cores_and_all_of_its_threads_are_there(pair: Server) -> None:
    shares = []
    for worker in pair.children("worker"):
        of_threads = {frozenset(os.sched_getaffinity(thread.id)) for thread in worker.threads()}
        assert len(of_threads) == 1
        shares.append(of_threads.pop())
    assert shares[0] | shares[1] == os.sched_getaffinity(0)
    assert not shares[0] & shares[1]


def test_streams_go_on_without_waiting_for_a_dead_worker_s_successor(pair: Server, held: Path) -> None:
    start = len(pair.log)
    listeners = [Listener(pair, f"Listener {n}. {LONG}", held=True) for n in range(2)]
    held.touch()
    pair.children("worker")[0].kill()
    assert all(listener.heard_all() for listener in listeners)
    assert pair.get("/ready")[0] == 200
    assert sorted(str(each["state"]) for each in speaking(pair)) == ["running", "starting"]
    assert sorted(int(str(each["slot"])) for each in speaking(pair)) == [0, 1]
    held.unlink()
    wait_for_ready(pair, 1, start)
    assert exact(pair.hear(input="And again.", response_format="pcm"), "And again.")


@pytest.mark.slow
def test_both_may_be_killed_at_once_again_and_again(pair: Server) -> None:
    before = worker_restarts(pair)
    for round_ in range(2):
        start = len(pair.log)
        listeners = [Listener(pair, f"Round {round_} and {n}. {TEXT}", held=True) for n in range(2)]
        for worker in pair.children("worker"):
            worker.kill()
        assert all(listener.heard_all() for listener in listeners)
        wait_for_ready(pair, 2, start)
    assert worker_restarts(pair) == before + 4


def worker_restarts(of: Server) -> int:
    restarts: int = of.get("/status")[1]["restarts"]["worker"]
    return restarts


def test_a_reload_replaces_both_and_no_listener_notices(pair: Server, folder: Path) -> None:
    old = pair.children("worker")
    listeners = [Listener(pair, LONG, held=True) for _ in range(2)]
    (folder / "config.toml").write_text("concurrency = 2\n")
    pair.process.send_signal(signal.SIGHUP)
    assert all(listener.heard_all() for listener in listeners)
    assert all_gone(old)
    assert exact(pair.hear(input="As before.", response_format="pcm"), "As before.")


def test_a_drain_finishes_what_both_have_and_leaves_nothing(pair: Server) -> None:
    family, start = pair.family(), len(pair.log)
    listeners = [Listener(pair, TEXT, held=True) for _ in range(2)]
    pair.process.send_signal(signal.SIGTERM)
    pair.logs("draining", start)
    assert all(listener.heard_all() for listener in listeners)
    assert pair.process.wait(DEADLINE) == 0
    assert all_gone(family)


@needs_cores
@pytest.mark.slow
def test_status_shows_the_cores_of_a_standby_that_has_moved_to_another_slot(tmp_path: Path) -> None:
    with server(*miniature_arguments(tmp_path), *TWO, "--standby", "loaded") as started:
        wait_for_ready(started, 3)
        (standby,) = started.children("standby")
        _, second = speaking(started)
        start = len(started.log)
        os.kill(int(str(second["pid"])), signal.SIGKILL)
        wait_for_ready(started, 1, start)  # the next standby: by then the one that moved has said where it is
        first, moved = speaking(started)
        assert moved["pid"] == standby.pid
        assert moved["scheduling"]["processors"] == sorted(standby.cpu_affinity())  # type: ignore[index]
        assert moved["scheduling"] != first["scheduling"]


@pytest.mark.slow
def test_one_that_hangs_is_replaced_while_it_speaks_and_while_it_loads(
    tmp_path: Path, environment: dict[str, str], held: Path
) -> None:
    arguments = (*miniature_arguments(tmp_path, cost=1), *TWO, "--hang-patience", "0.5", "--load-timeout", "5")
    with server(*arguments, environment=environment) as started:
        both(started).hear(input=TEXT, response_format="pcm")
        listeners = [Listener(started, f"Listener {n}. {LONG}", held=True) for n in range(2)]
        old, start = started.children("worker")[0], len(started.log)
        held.touch()
        old.suspend()
        assert all(listener.heard_all() for listener in listeners)
        started.logs(r"ending worker\[\d+\]: it hangs")
        old.wait(DEADLINE)
        started.logs(r"ending worker\[\d+\]: it hadn't loaded after 5 s")
        held.unlink()
        wait_for_ready(started, 1, start)
        assert exact(started.hear(input="It speaks.", response_format="pcm"), "It speaks.")
