"""One client's burst of sentences keeps another client waiting no longer than a sentence, and is answered whole."""

import http.client
import json
import re
import threading
import uuid

from tests.system.oracle import samples_of
from tests.system.server import Server
from tests.system.shared import SharedServer

BURST = 8

SLOWLY = 0.25
"""The speed: a long sound for little work, so that the burst's later sentences are due long after a newcomer's."""


def sentence(number: int) -> str:
    return f"Number {number} of many."


class Asker(threading.Thread):
    """Asks for a sentence as Open WebUI does, and reads all of it."""

    def __init__(self, started: Server, session: str, text: str) -> None:
        super().__init__()
        self._connection = started.connect()
        self._session = session
        self.name = f"{session}-{uuid.uuid4().hex}"
        """Also the request's, by which the server's log says when it was answered."""
        self.text = text
        self.status = 0
        self.data = b""

    def run(self) -> None:
        body = json.dumps({"input": self.text, "response_format": "pcm", "speed": SLOWLY})
        headers = {"Content-Type": "application/json", "X-Session": self._session, "X-Request-Id": self.name}
        self._connection.request("POST", "/v1/audio/speech", body, headers)
        response: http.client.HTTPResponse = self._connection.getresponse()
        self.status = response.status
        self.data = response.read()


def test_a_burst_is_answered_whole_and_lets_others_in(laborious: SharedServer) -> None:
    """The worker stands still until all have asked, so that the order is the front's choice alone."""
    started = laborious.calm()
    Asker(started, "before", "Something to be measured by.").run()
    burst = [Asker(started, "burst", sentence(number)) for number in range(BURST)]
    other = Asker(started, "other", "And this is for somebody else.")
    worker = started.child("worker[")
    worker.suspend()
    try:
        for asker in burst:
            asker.start()
        started.await_streams(BURST)
        other.start()
        started.await_streams(BURST + 1)
    finally:
        worker.resume()
    for asker in [*burst, other]:
        asker.join()
    for asker in [*burst, other]:
        assert asker.status == 200, asker.data
        assert asker.data == samples_of(asker.text, SLOWLY).astype("<i2").tobytes()
    for asker in [*burst, other]:
        started.logs(rf"200 .* {asker.name}$")
    # Clients on a busy machine don't see the order: their threads run when they can.
    answered = re.findall(r"200 .* ((?:burst|other)-[0-9a-f]{32})$", "\n".join(started.log), re.MULTILINE)
    before = answered.index(other.name)
    assert before < BURST // 2, f"{before} of the burst's sentences went before the other client's"
