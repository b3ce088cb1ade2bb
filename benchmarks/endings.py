"""Times until things end: children after their supervisor's death, a ring after its listener has left.

    python -m benchmarks.endings [--times 20]

Linux only (`pidfd_open`). Exits 1 if the worst time is over what is promised: 100 ms for children, 50 ms for a ring.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import select
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.system.oracle import miniature_arguments, sentences
from tests.system.server import DEADLINE, Server, server

PROMISED_MS = {"children gone": 100.0, "ring freed": 50.0}
TEXT = sentences(40)


def begin_to_listen(to: Server) -> contextlib.closing[http.client.HTTPConnection]:
    """A stream that has begun; closing it is what a listener who leaves does."""
    connection = to.connect()
    body = json.dumps({"input": TEXT, "response_format": "pcm"})
    connection.request("POST", "/v1/audio/speech", body, {"Content-Type": "application/json"})
    connection.getresponse().read(4800)
    return contextlib.closing(connection)


def children_gone(model: Sequence[str]) -> float:
    """Milliseconds from the supervisor's death in mid-stream to the end of its last child."""
    with server(*model) as started, begin_to_listen(started):
        started.child("standby")
        assert hasattr(os, "pidfd_open"), "only Linux tells of the end of another's child"
        watched = [os.pidfd_open(child.pid) for child in started.children("")]
        died = time.monotonic()
        started.process.kill()
        left = set(watched)
        while left:
            ended, _, _ = select.select(left, [], [], DEADLINE)
            assert ended, "children are still there"
            left -= set(ended)
        gone = time.monotonic()
        for descriptor in watched:
            os.close(descriptor)
    return (gone - died) * 1e3


def rings_freed(model: Sequence[str], times: int) -> list[float]:
    """Milliseconds from a listener's leaving to the moment at which the server has nothing of the stream any more."""
    taken = []
    with server(*model, "--rings", "1") as started:
        for _ in range(times):
            with begin_to_listen(started):
                left = time.monotonic()
            while "kokoro_live_active_streams 0.0" not in started.get("/metrics")[1]:
                pass
            taken.append((time.monotonic() - left) * 1e3)
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--times", type=int, default=20)
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as folder:
        model = miniature_arguments(Path(folder), cost=1)
        found = {
            "children gone": [children_gone(model) for _ in range(times)],
            "ring freed": rings_freed(model, times),
        }
    for name, taken in found.items():
        figures = f"p50 {statistics.median(taken):6.1f} ms   worst {max(taken):6.1f} ms"
        print(f"{name:14} {figures} (limit {PROMISED_MS[name]:g})   of {times}")
    return int(any(max(taken) > PROMISED_MS[name] for name, taken in found.items()))


if __name__ == "__main__":
    sys.exit(main())
