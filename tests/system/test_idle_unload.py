"""A server whose engine is unloaded while nobody asks for speech."""

from __future__ import annotations

import contextlib
import http.client
from pathlib import Path
from typing import Any

import numpy as np

from tests.system.listening import LONG, Listener
from tests.system.oracle import miniature_arguments, samples_of
from tests.system.server import DEADLINE, Server, server


def process(of: Server, role: str) -> dict[str, Any]:
    _, status = of.get("/status")
    (found,) = [each for each in status["processes"] if each["role"] == role]
    return dict(found)


def passes_keepalive_timeout(of: Server) -> None:
    """Wait until the front's own clock has passed `--keepalive-timeout`: it closes a connection after its request."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", of.port, timeout=DEADLINE)) as connection:
        connection.request("GET", "/health")
        connection.getresponse().read()
        assert connection.sock.recv(1) == b""


def test_the_engine_goes_when_nobody_asks_and_the_next_request_brings_it_back(tmp_path: Path) -> None:
    with server(*miniature_arguments(tmp_path), "--idle-unload", "0.3s", "--standby", "imported") as started:
        speaking = int(started.logs(r"started worker\[1\], pid (\d+)")[1])
        started.logs(r"worker\[1\] has finished")
        assert speaking not in [each.pid for each in started.family()], "its memory is back"
        waiting = process(started, "standby")
        assert waiting["state"] == "imported"
        assert process(started, "worker")["state"] == "resting"
        assert started.get("/ready")[0] == 200
        assert started.get("/status")[1]["ready"]
        assert "kokoro_live_engine_info{" in started.get("/metrics")[1]

        heard = started.hear(input="Back again.", response_format="pcm")
        assert np.array_equal(np.frombuffer(heard, "<i2"), samples_of("Back again."))
        started.logs(rf"worker\[{waiting['generation']}\] is ready")
        assert started.get("/status")[1]["restarts"]["worker"] == 0


def test_a_new_front_wakes_the_engine_too(tmp_path: Path) -> None:
    with server(*miniature_arguments(tmp_path), "--idle-unload", "0.3s") as started:
        started.logs(r"worker\[1\] has finished")
        start = len(started.log)
        started.child("front").kill()
        started.logs("started front", start)
        assert started.get("/ready")[0] == 200
        assert started.hear(input="Hello.", response_format="pcm")


def test_a_listener_who_pauses_keeps_the_engine(tmp_path: Path) -> None:
    settings = ("--idle-unload", "0.2s", "--keepalive-timeout", "1", "--standby", "off")
    with server(*miniature_arguments(tmp_path), *settings) as started:
        listener = Listener(started, LONG, held=True)
        passes_keepalive_timeout(started)
        assert process(started, "worker")["state"] == "running"
        start = len(started.log)
        assert listener.heard_all()
        started.logs(r"may rest", start)
