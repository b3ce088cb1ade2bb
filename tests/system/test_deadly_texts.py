"""A text that kills the front whenever it is read: the fourth front refuses it, and everybody else is served."""

import http.client
import json
import os
import signal
import sys

import numpy as np
import pytest

from supervisor.processes.fronts import MANY
from tests.system.changed_front import LATE_POISON, POISONS
from tests.system.conftest import CommonServer
from tests.system.oracle import samples_of
from tests.system.server import Server


def front_restarts(of: Server) -> int:
    _, status = of.get("/status")
    restarts: int = status["restarts"]["front"]
    return restarts


@pytest.fixture
def started(common: CommonServer) -> Server:
    return common.calm()


@pytest.mark.parametrize("end", ["SIGABRT", pytest.param("SIGSEGV", marks=pytest.mark.slow)])
def test_a_text_that_has_killed_three_fronts_is_refused(started: Server, end: str) -> None:
    before = front_restarts(started)
    for _ in range(5):
        refused = started.speak(input=POISONS[end], response_format="pcm")
        error = json.loads(refused.read())["error"]
        assert (refused.status, error["code"], error["param"]) == (400, "text_refused", "input")
        assert int(refused.headers["Retry-After"]) > 0
    heard = started.hear(input="As before.", response_format="pcm")
    assert np.array_equal(np.frombuffer(heard, "<i2"), samples_of("As before."))
    assert front_restarts(started) == before + MANY, "nobody had to die for the refusals"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere an answer ends with its front")
def test_an_answer_that_fronts_die_of_after_its_beginning_is_cut_and_its_text_refused(started: Server) -> None:
    before = front_restarts(started)
    begun = started.speak(input=LATE_POISON, response_format="pcm")
    with pytest.raises(http.client.IncompleteRead):
        begun.read()
    refused = started.speak(input=LATE_POISON, response_format="pcm")
    assert (refused.status, json.loads(refused.read())["error"]["code"]) == (400, "text_refused")
    assert front_restarts(started) == before + MANY
    started.hear(input="As before.", response_format="pcm")


@pytest.mark.slow
def test_kills_while_a_language_loads_are_held_against_no_text(started: Server, common: CommonServer) -> None:
    """A client that asks again and again for the same text, with somebody else killing each front as it comes up."""
    common.hold.touch()
    try:
        started.child("front").kill()  # it may have loaded the language
        start = len(started.log)
        connection = started.connect()
        connection.request("POST", "/v1/audio/speech", body=json.dumps({"input": "Again.", "response_format": "pcm"}))
        for _ in range(MANY):
            # The request is handled again by each next front.
            front = int(started.logs(r"answering in (\d+)", start)[1])
            started.logs(f"loading a language in {front}")
            started.logs(f"reading in {front}")  # the thread that reads texts waits for the language
            start = len(started.log)
            os.kill(front, signal.SIGKILL)
    finally:
        common.hold.unlink()
    heard = started.hear(input="Again.", response_format="pcm")
    assert np.array_equal(np.frombuffer(heard, "<i2"), samples_of("Again."))
