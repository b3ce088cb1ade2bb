"""Texts that kill a front, or espeak-ng: refused at the fourth front, and nobody else's stream ends."""

import contextlib
import http.client
import json
import os
import re
import signal
import sys

import numpy as np
import pytest

from supervisor.processes.fronts import MANY
from tests.system.changed_front import LATE_POISON, POISONS
from tests.system.conftest import CommonServer
from tests.system.oracle import samples_of
from tests.system.server import Server
from tests.system.shared import SharedServer


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


POISON = "\u033e\u093dn\u115cQ"
LONG = "The quick brown fox jumps over the lazy dog, and then it sleeps in the sun. " * 15


@pytest.fixture
def live(plain: SharedServer) -> Server:
    return plain.calm()


def test_five_characters_break_nobodys_stream(live: Server) -> None:
    """1. Somebody listens. 2. Others have such texts spoken, more often than a server may die. 3. Each is answered, the
    listener hears all, front and worker are the processes of before, and the helper's deaths are counted."""
    expected = live.hear(input=LONG, voice="af_heart", response_format="pcm")
    before = {title: live.child(title).pid for title in ("front", "worker")}
    with contextlib.closing(live.connect()) as connection:
        response = connection.speak({"input": LONG, "voice": "af_heart", "response_format": "pcm"})
        heard = response.read(4096)
        for count in range(8):
            text = f"{POISON}{chr(ord('a') + count)}"
            for language in ("en-us", "hi"):
                status, found = live.post("/dev/phonemize", {"input": f"so {text} so", "lang": language})
                assert status == 200
                assert [word["word"] for word in found["words"]] == ["so", text, "so"]
            assert live.hear(input=f"so {text} so", lang="hi", response_format="pcm")
        heard += response.read()
    assert heard == expected
    assert {title: live.child(title).pid for title in ("front", "worker")} == before
    _, metrics = live.get("/metrics")
    restarts = re.search(r'kokoro_live_process_restarts_total\{process="g2p"\} (\S+)', metrics)
    assert restarts and float(restarts[1]) >= 8
    assert re.search(r'kokoro_live_process_resident_memory_bytes\{process="g2p"\} [1-9]', metrics)


def test_the_helper_ends_with_the_front(live: Server) -> None:
    """1. The front's helper runs. 2. The front is killed. 3. The helper is another one, and the former is gone."""
    live.post("/dev/phonemize", {"input": "hola", "lang": "es"})
    helpers = live.children("g2p")
    assert len(helpers) == 2
    start = len(live.log)
    live.child("front").kill()
    for process in helpers:
        process.wait(60)
    live.logs("the front died", start)
    live.post("/dev/phonemize", {"input": "hola", "lang": "es"})
    assert len(live.children("g2p")) == 2
