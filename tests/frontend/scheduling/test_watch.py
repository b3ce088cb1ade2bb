"""The processor time by which a worker that computes is told from one that hangs."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import psutil

from frontend.scheduling.watch import Watch

DEADLINE = 60.0
HAS_A_HELPER = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"


def test_a_worker_computes_while_its_helper_does() -> None:
    """espeak-ng speaks in a helper, and its worker waits meanwhile."""
    shared: Any = None
    with subprocess.Popen([sys.executable, "-c", HAS_A_HELPER]) as worker:
        process = psutil.Process(worker.pid)
        watch = Watch(shared, lambda _: worker.pid)
        started = time.monotonic()
        try:
            while (watch._computed(1) or 0.0) < 0.2 + sum(process.cpu_times()[:2]):
                assert time.monotonic() - started < DEADLINE
                time.sleep(0.01)  # nobody tells of processor time
        finally:
            for each in (*process.children(), process):
                each.kill()
    assert watch._computed(1) is None
