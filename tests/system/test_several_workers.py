"""A server with two workers: killed, stopped, reloaded and drained; the same samples as from one."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import numpy as np
import pytest

from tests.system.listening import LONG, Listener
from tests.system.oracle import miniature_arguments, samples_of, sentences
from tests.system.server import DEADLINE, Server, all_gone, server
from tests.system.test_replacement import poisoned_by

TEXT = sentences(12)
TWO = ("--workers", "2")


def both(started: Server) -> Server:
    """Wait until both speak."""
    wait_for_ready(started, 2)
    return started


def wait_for_ready(started: Server, count: int) -> None:
    """Until so many workers have said that they are, one after another."""
    start = 0
    for n in range(count):
        started.logs(r"worker\[\d+\] is ready", start=start)
        start = ready_lines(started)[n] + 1


def ready_lines(started: Server) -> list[int]:
    return [n for n, line in enumerate(started.log) if re.search(r"worker\[\d+\] is ready", line)]


def exact(heard: bytes, text: str) -> bool:
    return bool(np.array_equal(np.frombuffer(heard, "<i2"), samples_of(text)))


def speaking(started: Server) -> list[dict[str, object]]:
    _, status = started.get("/status")
    return [each for each in status["processes"] if each["role"] == "worker"]


def held_back(folder: Path) -> tuple[dict[str, str], Path]:
    """An environment in which no worker can begin to load while a file is there, and that file."""
    site, held = folder / "site", folder / "held"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import os, sys, time\n"
        "class Hold:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        while name == 'worker.workbench' and os.path.exists({str(held)!r}):\n"
        "            time.sleep(0.02)\n"
        "        return None\n"
        "sys.meta_path.insert(0, Hold())\n"
    )
    return {"PYTHONPATH": f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}, held


@pytest.mark.parametrize("count", ["1", "2"])
def test_a_text_sounds_the_same_whoever_makes_it(tmp_path: Path, count: str) -> None:
    with server(*miniature_arguments(tmp_path), "--workers", count) as started:
        if count == "2":
            both(started)
        assert exact(started.hear(input=TEXT, response_format="pcm"), TEXT)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity") or os.cpu_count() == 1, reason="needs cores to divide")
def test_each_has_its_own_cores_and_all_of_its_threads_are_there(tmp_path: Path) -> None:
    with server(*miniature_arguments(tmp_path), *TWO, "--standby", "off") as started:
        both(started).hear(input=TEXT, response_format="pcm")
        shares = []
        for worker in started.children("worker"):
            of_threads = {frozenset(os.sched_getaffinity(thread.id)) for thread in worker.threads()}
            assert len(of_threads) == 1
            shares.append(of_threads.pop())
        assert shares[0] | shares[1] == os.sched_getaffinity(0)
        assert not shares[0] & shares[1]


def test_streams_go_on_without_waiting_for_a_dead_worker_s_successor(tmp_path: Path) -> None:
    environment, held = held_back(tmp_path)
    arguments = (*miniature_arguments(tmp_path, cost=2), *TWO, "--standby", "off")
    with server(*arguments, environment=environment) as started:
        both(started)
        listeners = [Listener(started, TEXT) for _ in range(3)]
        held.touch()
        started.children("worker")[0].kill()
        assert all(listener.heard_all() for listener in listeners)
        assert started.get("/ready")[0] == 200
        assert sorted(str(each["state"]) for each in speaking(started)) == ["running", "starting"]
        assert sorted(int(str(each["slot"])) for each in speaking(started)) == [0, 1]
        held.unlink()
        started.logs(r"worker\[\d+\] is ready", start=ready_lines(started)[1] + 1)
        assert exact(started.hear(input="And again.", response_format="pcm"), "And again.")


def test_both_may_be_killed_at_once_again_and_again(tmp_path: Path) -> None:
    with server(*miniature_arguments(tmp_path, cost=1), *TWO) as started:
        both(started)
        for round_ in range(2):
            listeners = [Listener(started, TEXT) for _ in range(2)]
            for worker in started.children("worker"):
                worker.kill()
            assert all(listener.heard_all() for listener in listeners)
            wait_for_ready(started, 2 * round_ + 4)
        _, metrics = started.get("/metrics")
        found = re.search(r'kokoro_live_process_restarts_total\{process="worker"\} (\S+)', metrics)
        assert found and float(found[1]) == 4


def test_one_that_hangs_is_replaced(tmp_path: Path) -> None:
    arguments = (*miniature_arguments(tmp_path, cost=1), *TWO, "--hang-patience", "0.5")
    with server(*arguments) as started:
        both(started).hear(input=TEXT, response_format="pcm")
        listeners = [Listener(started, LONG, held=True) for _ in range(2)]
        old = started.children("worker")[0]
        old.suspend()
        assert all(listener.heard_all() for listener in listeners)
        started.logs(r"ending worker\[\d+\]: it hangs")
        old.wait(DEADLINE)


def test_a_reload_replaces_both_and_no_listener_notices(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("concurrency = 1\n")
    with server(*miniature_arguments(tmp_path, cost=2), *TWO, "--config", str(config)) as started:
        both(started)
        old = started.children("worker")
        listeners = [Listener(started, TEXT) for _ in range(2)]
        config.write_text("concurrency = 2\n")
        started.process.send_signal(signal.SIGHUP)
        assert all(listener.heard_all() for listener in listeners)
        assert all_gone(old)
        assert exact(started.hear(input="As before.", response_format="pcm"), "As before.")


def test_a_poisonous_text_takes_three_workers_and_fails_alone(tmp_path: Path) -> None:
    poison = "Swallow this and perish."
    arguments = (*miniature_arguments(tmp_path, cost=1), *TWO)
    with server(*arguments, environment=poisoned_by(tmp_path, poison)) as started:
        both(started)
        listeners = [Listener(started, TEXT) for _ in range(2)]
        refused = started.speak(input=poison, response_format="pcm")
        assert refused.status == 500, refused.read()
        refused.read()
        assert all(listener.heard_all() for listener in listeners)
        assert started.get("/status")[1]["restarts"]["worker"] == 3


def test_a_drain_finishes_what_both_have_and_leaves_nothing(tmp_path: Path) -> None:
    with server(*miniature_arguments(tmp_path, cost=2), *TWO) as started:
        both(started)
        family = started.family()
        listeners = [Listener(started, TEXT) for _ in range(2)]
        assert started.stop() == 0
        assert all(listener.heard_all() for listener in listeners)
        assert all_gone(family)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity") or os.cpu_count() == 1, reason="needs cores to divide")
def test_status_shows_the_cores_of_a_standby_that_has_moved_to_another_slot(tmp_path: Path) -> None:
    with server(*miniature_arguments(tmp_path), *TWO, "--standby", "loaded") as started:
        wait_for_ready(started, 3)
        (standby,) = started.children("standby")
        _, second = speaking(started)
        os.kill(int(str(second["pid"])), signal.SIGKILL)
        started.logs(rf"started worker\[\d+\], pid (?!{second['pid']})", start=ready_lines(started)[2] + 1)
        wait_for_ready(started, 4)  # the next standby: by then the one that moved has said where it is
        first, moved = speaking(started)
        assert moved["pid"] == standby.pid
        assert moved["scheduling"]["processors"] == sorted(standby.cpu_affinity())  # type: ignore[index]
        assert moved["scheduling"] != first["scheduling"]


def test_one_that_hangs_while_it_loads_is_replaced(tmp_path: Path) -> None:
    environment, held = held_back(tmp_path)
    arguments = (*miniature_arguments(tmp_path), *TWO, "--standby", "off", "--load-timeout", "5")
    with server(*arguments, environment=environment) as started:
        both(started)
        held.touch()
        started.children("worker")[0].kill()
        started.logs(r"ending worker\[\d+\]: it hadn't loaded after 5 s")
        held.unlink()
        started.logs(r"worker\[\d+\] is ready", start=ready_lines(started)[1] + 1)
        assert exact(started.hear(input="It speaks.", response_format="pcm"), "It speaks.")
