"""A server whose engine is unloaded while nobody asks for speech."""

import contextlib
import http.client
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.system.listening import LONG, Listener
from tests.system.oracle import miniature_arguments, samples_of
from tests.system.server import DEADLINE, Server, awaited
from tests.system.shared import SharedServer, shared


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


def until_it_rests(of: Server) -> None:
    """Wait until the engine is unloaded."""
    awaited(
        lambda: {each["state"] for each in of.get("/status")[1]["processes"] if each["role"] == "worker"},
        lambda states: states == {"resting"},
    )


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    settings = ("--idle-unload", "0.3s", "--keepalive-timeout", "1", "--standby", "imported")
    with shared(*miniature_arguments(tmp_path_factory.mktemp("model")), *settings) as kept:
        yield kept


@pytest.fixture
def started(house: SharedServer) -> Server:
    return house.calm()


def test_the_engine_goes_when_nobody_asks_and_the_next_request_brings_it_back(started: Server) -> None:
    speaking = int(started.logs(r"started worker\[1\], pid (\d+)")[1])
    started.logs(r"worker\[1\] has finished")
    until_it_rests(started)
    assert speaking not in [each.pid for each in started.family()], "its memory is back"
    awaited(
        lambda: [each["state"] for each in started.get("/status")[1]["processes"] if each["role"] == "standby"],
        lambda states: states == ["imported"],
    )
    waiting = process(started, "standby")
    assert started.get("/ready")[0] == 200
    assert started.get("/status")[1]["ready"]
    assert "kokoro_live_engine_info{" in started.get("/metrics")[1]

    before = started.get("/status")[1]["restarts"]["worker"]
    heard = started.hear(input="Back again.", response_format="pcm")
    assert np.array_equal(np.frombuffer(heard, "<i2"), samples_of("Back again."))
    started.logs(rf"worker\[{waiting['generation']}\] is ready")
    assert started.get("/status")[1]["restarts"]["worker"] == before


def test_a_new_front_wakes_the_engine_too(started: Server) -> None:
    until_it_rests(started)
    start = len(started.log)
    started.child("front").kill()
    started.logs("started front", start)
    assert started.get("/ready")[0] == 200
    assert started.hear(input="Hello.", response_format="pcm")


def test_a_listener_who_pauses_keeps_the_engine(started: Server) -> None:
    listener = Listener(started, LONG, held=True)
    passes_keepalive_timeout(started)
    assert process(started, "worker")["state"] == "running"
    start = len(started.log)
    assert listener.heard_all()
    started.logs(r"may rest", start)
