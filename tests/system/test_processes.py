"""Real processes, killed and stopped for real: what listeners, the port and the machine notice of it."""

import contextlib
import os
import re
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest

from supervisor.processes.standing import ExitCode
from tests.chaos.residue import looked_at_until, shared_memory
from tests.followed_output import END
from tests.platforms import linux_only
from tests.system.conftest import CommonServer
from tests.system.listening import LONG, Listener
from tests.system.oracle import samples_of
from tests.system.server import DEADLINE, Server, all_gone, server
from tests.system.shared import SharedServer


@pytest.fixture
def started(common: CommonServer) -> Server:
    return common.calm()


def worker_restarts(of: Server) -> float:
    _, metrics = of.get("/metrics")
    found = re.search(r'kokoro_live_process_restarts_total\{process="worker"\} (\S+)', metrics)
    return float(found[1]) if found else 0.0


def test_a_worker_killed_in_mid_stream_is_not_heard(started: Server) -> None:
    before = worker_restarts(started)
    listener = Listener(started, LONG, held=True)
    started.child("worker").kill()
    assert listener.heard_all()
    assert worker_restarts(started) == before + 1


def test_a_front_that_is_killed_refuses_nobody_and_costs_no_model(started: Server) -> None:
    worker = started.child("worker")
    started.child("front").kill()
    got = np.frombuffer(started.hear(input="Still here.", response_format="pcm"), "<i2")
    assert np.array_equal(got, samples_of("Still here."))
    assert started.child("worker") == worker


def test_requests_wait_when_front_and_worker_are_killed_together(started: Server) -> None:
    started.child("worker").kill()
    started.child("front").kill()
    got = np.frombuffer(started.hear(input="Both are gone.", response_format="pcm"), "<i2")
    assert np.array_equal(got, samples_of("Both are gone."))


def test_a_front_that_is_killed_in_mid_stream_is_not_heard(started: Server) -> None:
    """`tests/frontend/test_continued_answers.py` has all formats and framings."""
    listener = Listener(started, LONG, held=True)
    started.child("front").kill()
    assert listener.heard_all()


@linux_only("a process's libraries are looked at in /proc")
def test_processes_have_titles_and_the_supervisor_stays_light(started: Server) -> None:
    titles = [" ".join(process.cmdline()) for process in started.family()]
    assert titles[0].startswith("kokoro-live: supervisor")
    assert started.child("front") and started.child("worker[")
    maps = Path(f"/proc/{started.process.pid}/maps").read_text()
    for heavy in ("onnxruntime", "aiohttp", "numpy"):
        assert heavy not in maps


def kinds_of_descriptors(pid: int) -> list[str] | int:
    """The open files of a process, without sockets, which clients close when they like; on macOS their number."""
    if sys.platform != "linux":
        return int(psutil.Process(pid).num_fds())
    links = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            links.append(re.sub(r"\d+", "", str(link.readlink())))
    return sorted(link for link in links if not link.startswith("socket:"))


def test_no_process_holds_a_descriptor_more_after_restarts(started: Server) -> None:
    def descriptors() -> dict[str, list[str] | int]:
        pids = {role: started.child(role).pid for role in ("front", "worker")} | {"supervisor": started.process.pid}
        return {role: kinds_of_descriptors(pid) for role, pid in pids.items()}

    started.hear(input="Warm up.", response_format="pcm")
    before = descriptors()
    for restart in range(2):
        start = len(started.log)
        started.child("worker").kill()
        started.logs(r"worker\[\d+\] is ready", start)
        started.hear(input=f"Restart {restart}.", response_format="pcm")
    assert looked_at_until(before, descriptors) == before  # a thread that has ended gives back its own a moment later


def drained_by(ending: Server, send: Callable[[], None]) -> bool:
    """Send a signal while somebody listens; true if all is heard, and the server ends with 0."""
    listener, start = Listener(ending, LONG, held=True), len(ending.log)
    send()
    ending.logs("draining", start)
    return listener.heard_all() and ending.process.wait(DEADLINE) == ExitCode.OK


@pytest.mark.ends_server
def test_sigterm_lets_streams_finish_and_ends_with_0(common: CommonServer) -> None:
    ending = common.calm()
    family = ending.family()
    assert drained_by(ending, lambda: ending.process.send_signal(signal.SIGTERM))
    assert all_gone(family)
    assert not list(ending.temporary.iterdir())
    assert set(shared_memory()) <= set(common.names_before)


@pytest.mark.slow
def test_a_terminals_interrupt_to_the_whole_group_drains_too(started: Server) -> None:
    assert drained_by(started, lambda: os.killpg(started.process.pid, signal.SIGINT))


@pytest.mark.ends_server
def test_a_second_interrupt_ends_at_once(wanting: SharedServer) -> None:
    ending = wanting.calm()
    family = ending.family()
    listener = Listener(ending, LONG, held=True)
    ending.process.send_signal(signal.SIGINT)
    ending.logs("draining")
    assert ending.stop(signal.SIGINT) == ExitCode.INTERRUPTED
    assert listener.was_cut()
    assert all_gone(family)


@pytest.mark.slow
def test_a_supervisor_that_is_killed_takes_everything_with_it(started: Server) -> None:
    """`tests.chaos.test_kill_loops` is the quick form."""
    family = started.family()
    assert len(family) >= 3
    listener = Listener(started, LONG, held=True)
    started.process.kill()
    assert all_gone(family)
    assert listener.was_cut()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", started.port), timeout=DEADLINE)
    assert not list(started.temporary.iterdir()), "no temporary file stays"


@pytest.mark.ends_server
def test_draining_is_bounded_and_what_it_cuts_is_cut_visibly(impatient_house: SharedServer) -> None:
    impatient = impatient_house.calm()
    listener = Listener(impatient, LONG, held=True)
    assert impatient.stop() == ExitCode.OK
    assert listener.was_cut()


def test_a_signal_while_it_starts_ends_with_0() -> None:
    with server("--engine", "espeak", wait=False) as starting:
        starting.logs("started worker")
        family = starting.family()
        assert starting.stop() == ExitCode.OK
        assert all_gone(family)


@pytest.mark.parametrize("open_files", [8, *(pytest.param(n, marks=pytest.mark.slow) for n in (16, 20, 24))])
def test_a_server_with_too_few_descriptors_ends_and_leaves_no_process(open_files: int) -> None:
    """Whether the supervisor or a child runs out of them first depends on Python's version."""
    with server("--engine", "espeak", wait=False, open_files=open_files) as refused:
        assert ExitCode(refused.process.wait(DEADLINE)) in (ExitCode.FAILED, ExitCode.ENGINE, ExitCode.CRASH_LOOP)
        refused.logs("Too many open files")
        refused.logs(re.escape(END))  # its children share its pipe: they have ended too
        assert not [line for line in refused.log if "Traceback" in line], refused.log
