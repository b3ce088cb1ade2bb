"""A worker's processors and niceness: asked for in settings, had by its process, shown by `/status`."""

import os

import psutil
import pytest

from supervisor.processes.standing import ExitCode
from tests.system.conftest import WORKER_NICE
from tests.system.server import DEADLINE, server
from tests.system.shared import SharedServer

linux = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no processor affinity here")


@linux
def test_only_the_worker_has_the_processors_and_the_niceness_that_were_asked_for(plain: SharedServer) -> None:
    last = max(os.sched_getaffinity(0))
    nice = min(19, os.getpriority(os.PRIO_PROCESS, 0) + WORKER_NICE)
    running = plain.calm()
    running.hear(input="Hello.", model="kokoro", voice="af_heart")
    worker = running.child("worker")
    assert worker.cpu_affinity() == [last]
    assert worker.nice() == nice
    assert {thread.id: os.getpriority(os.PRIO_PROCESS, thread.id) for thread in worker.threads()} == {
        thread.id: nice for thread in worker.threads()
    }
    front = running.child("front")
    assert front.cpu_affinity() == psutil.Process().cpu_affinity()
    assert front.nice() == psutil.Process().nice()
    _, status = running.get("/status")
    assert status["engine"]["scheduling"] == {"nice": nice, "processors": [last]}


@linux
def test_a_server_whose_worker_cannot_have_its_processors_says_so_and_ends() -> None:
    with server("--engine", "espeak", "--worker-cpus", "4095", wait=False) as running:
        assert running.process.wait(DEADLINE) == ExitCode.ENGINE
        assert running.logs("worker_cpus names processors that this process may not use")
