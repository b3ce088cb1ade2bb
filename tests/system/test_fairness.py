"""One client's burst of sentences keeps another client waiting no longer than a sentence, and is answered whole."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator

import pytest

from tests.system.oracle import miniature_arguments, samples_of
from tests.system.server import DEADLINE, Server, server

BURST = 30


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A sentence takes a good part of a tenth of a second."""
    with server(*miniature_arguments(tmp_path_factory.mktemp("model"), cost=6)) as started:
        yield started


def sentence(number: int) -> str:
    return f"This is sentence number {number} of a burst, and it is read for one client."


class Asker(threading.Thread):
    """Asks for a sentence as Open WebUI does, and reads all of it."""

    def __init__(self, started: Server, session: str, text: str, answered: threading.Event | None = None) -> None:
        """`answered` is set when the answer begins."""
        super().__init__()
        self._answered = answered or threading.Event()
        self._connection = started.connect()
        self._session = session
        self.text = text
        self.status = 0
        self.data = b""
        self.began = 0.0

    def run(self) -> None:
        body = json.dumps({"input": self.text, "response_format": "pcm"})
        headers = {"Content-Type": "application/json", "X-Session": self._session}
        self._connection.request("POST", "/v1/audio/speech", body, headers)
        response: http.client.HTTPResponse = self._connection.getresponse()
        self.began = time.monotonic()
        self._answered.set()
        self.status = response.status
        self.data = response.read()


def test_a_burst_is_answered_whole_and_lets_others_in(slow: Server) -> None:
    Asker(slow, "before", "Something to be measured by.").run()
    begun = threading.Event()
    burst = [Asker(slow, "burst", sentence(number), begun) for number in range(BURST)]
    for asker in burst:
        asker.start()
    assert begun.wait(DEADLINE), "whichever comes first"
    other = Asker(slow, "other", "And this is for somebody else.")
    other.start()
    other.join()
    for asker in burst:
        asker.join()
    for asker in [*burst, other]:
        assert asker.status == 200, asker.data
        assert asker.data == samples_of(asker.text).astype("<i2").tobytes()
    after = sum(asker.began > other.began for asker in burst)
    assert after > BURST // 2, f"{BURST - after} of the burst's sentences went before the other client's"
