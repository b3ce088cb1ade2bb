"""A text that kills the front whenever it is read: it is refused the third time, and everybody else is served."""

from __future__ import annotations

import http.client
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.system.oracle import miniature_arguments, samples_of
from tests.system.server import Server, server

POISONS = {"SIGKILL": "Read this and perish.", "SIGSEGV": "Read this and fall."}
"""The signal by which a front dies, and the text at which it does."""
PATCH = """
import os, signal, sys
class Poison:
    def find_spec(self, name, path=None, target=None):
        if name == "frontend.scheduling.scheduler":
            from frontend.planning.reader import Reader
            read = Reader._sentences
            def deadly(self, request, notation):
                for name, text in {poisons!r}.items():
                    if request.text == text:
                        os.kill(os.getpid(), signal.Signals[name])
                return read(self, request, notation)
            Reader._sentences = deadly
        return None
sys.meta_path.insert(0, Poison())
"""


def patched(folder: Path, code: str) -> dict[str, str]:
    """An environment in which Python runs that code at start."""
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(code)
    return {"PYTHONPATH": f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}


HELD = """
import os, sys, time
class Held:
    def find_spec(self, name, path=None, target=None):
        if name == "frontend.scheduling.scheduler":
            from frontend.contract.in_flight import InFlight
            from frontend.text import g2p
            load, answering, words = g2p._load, InFlight.answering, g2p.G2P.words
            def held(code):
                print(f"loading a language in {{os.getpid()}}", file=sys.stderr, flush=True)
                while os.path.exists({hold!r}):
                    time.sleep(0.01)
                return load(code)
            def told(self, text):
                print(f"answering in {{os.getpid()}}", file=sys.stderr, flush=True)
                return answering(self, text)
            def reading(self, sentence, language):
                print(f"reading in {{os.getpid()}}", file=sys.stderr, flush=True)
                return words(self, sentence, language)
            g2p._load, InFlight.answering, g2p.G2P.words = held, told, reading
        return None
sys.meta_path.insert(0, Held())
"""


def front_restarts(of: Server) -> int:
    _, status = of.get("/status")
    restarts: int = status["restarts"]["front"]
    return restarts


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose fronts die of `POISONS`."""
    folder = tmp_path_factory.mktemp("deadly")
    environment = patched(folder, PATCH.format(poisons=POISONS))
    with server(*miniature_arguments(folder), environment=environment) as kept:
        yield kept


@pytest.mark.parametrize("end", POISONS)
def test_a_text_that_kills_the_front_is_refused_the_third_time(started: Server, end: str) -> None:
    before = front_restarts(started)
    for _ in range(2):
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            started.speak(input=POISONS[end], response_format="pcm").read()
    for _ in range(5):
        refused = started.speak(input=POISONS[end], response_format="pcm")
        error = json.loads(refused.read())["error"]
        assert (refused.status, error["code"], error["param"]) == (400, "text_refused", "input")
        assert int(refused.headers["Retry-After"]) > 0
    heard = started.hear(input="As before.", response_format="pcm")
    assert np.array_equal(np.frombuffer(heard, "<i2"), samples_of("As before."))
    assert front_restarts(started) == before + 2, "nobody had to die for the refusals"


def test_kills_while_a_language_loads_are_held_against_no_text(tmp_path: Path) -> None:
    """A client that asks again and again for the same text, with somebody else killing each front as it comes up."""
    hold = tmp_path / "hold"
    hold.touch()
    with server(*miniature_arguments(tmp_path), environment=patched(tmp_path, HELD.format(hold=str(hold)))) as started:
        for _ in range(2):
            start = len(started.log)
            connection = started.connect()
            connection.request(
                "POST", "/v1/audio/speech", body=json.dumps({"input": "Again.", "response_format": "pcm"})
            )
            # The listening socket outlives a front: a request that the killed one had not read would wait for the next.
            front = int(started.logs(r"answering in (\d+)", start)[1])
            started.logs(f"loading a language in {front}")
            started.logs(f"reading in {front}")  # the thread that reads texts waits for the language
            os.kill(front, signal.SIGKILL)
            with pytest.raises((ConnectionError, http.client.HTTPException)):
                connection.getresponse().read()
        hold.unlink()
        heard = started.hear(input="Again.", response_format="pcm")
        assert np.array_equal(np.frombuffer(heard, "<i2"), samples_of("Again."))
