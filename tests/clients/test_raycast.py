"""The Raycast extension: raw samples under other names for the fields, and an end by hanging up."""

import json
from contextlib import closing

from tests.clients.test_recorded_requests import REQUESTS
from tests.system.oracle import sentences
from tests.system.server import Server


def body(text: str) -> str:
    (recorded,) = [request for request in REQUESTS if request["client"] == "Raycast"]
    return json.dumps(recorded["body"] | {"text": text})


def test_its_fields_mean_what_openais_do(espeak: Server) -> None:
    with closing(espeak.connect()) as connection:
        connection.request("POST", "/v1/audio/speech", body("Selected in a window."), {"Accept": "audio/pcm"})
        heard = connection.getresponse().read()
    asked = {"voice": "af_heart", "speed": 1.2, "response_format": "pcm"}
    assert heard == espeak.hear(input="Selected in a window.", **asked)
    assert espeak.get("/health") == (200, {"status": "ok"})
    assert espeak.get("/voices")[1]["voices"]


def test_hanging_up_ends_it(espeak: Server) -> None:
    connection = espeak.connect()
    connection.request("POST", "/v1/audio/speech", body(sentences(150)))
    response = connection.getresponse()
    assert len(response.read(4800)) == 4800
    response.close()
    connection.close()
    espeak.await_streams(0)
    assert espeak.hear(input="Another.", response_format="pcm")
