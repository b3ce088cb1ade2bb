"""Requests of clients that can't be run here, as their sources write them: Open WebUI, Raycast, others with a key."""

import contextlib
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.clients.keys import KEY
from tests.frontend.audio.hearing import hear, loudness
from tests.system.oracle import sentences
from tests.system.server import Server

SENTENCES = [f"{sentence}." for sentence in sentences(6).split(". ")]


def asked(keyed: Server, text: str, key: str = KEY) -> tuple[int, bytes]:
    (recorded,) = [request for request in REQUESTS if request["client"] == "Open WebUI"]
    headers = {name: value.format(key=key) for name, value in recorded["headers"].items()}
    with closing(keyed.connect()) as connection:
        connection.request("POST", recorded["path"], json.dumps(recorded["body"] | {"input": text}), headers)
        response = connection.getresponse()
        return response.status, response.read()


def test_its_menus_are_filled_without_a_key(keyed: Server) -> None:
    status, models = keyed.get("/v1/audio/models")
    assert status == 200 and "tts-1" in [model["id"] for model in models["models"]]
    status, voices = keyed.get("/v1/audio/voices")
    assert status == 200 and all({"id", "name"} <= {*voice} for voice in voices["voices"])
    status, body = asked(keyed, "Hello.", voices["voices"][0]["id"])
    assert status == 401 and json.loads(body)["error"]["code"] == "invalid_api_key"


def test_every_sentence_of_a_call_is_spoken_and_is_its_own(keyed: Server) -> None:
    one_by_one = [asked(keyed, sentence) for sentence in SENTENCES]
    assert [status for status, _ in one_by_one] == [200] * len(SENTENCES)
    with ThreadPoolExecutor(len(SENTENCES)) as pool:
        at_once = list(pool.map(lambda sentence: asked(keyed, sentence), SENTENCES))
    assert at_once == one_by_one
    assert len({body for _, body in at_once}) == len(SENTENCES)


def test_a_sentence_without_sound_is_a_whole_mp3_too(keyed: Server) -> None:
    """Open WebUI showed "Bad Request" where a language model had written a rule or an emoji."""
    for text in ("---", "🙂"):
        status, body = asked(keyed, text)
        heard = hear(body, "mp3")
        assert (status, loudness(heard.samples)) == (200, 0)
        assert len(heard.samples) >= 0.1 * heard.sample_rate


def test_what_it_keeps_is_a_whole_mp3(keyed: Server) -> None:
    status, body = asked(keyed, SENTENCES[0])
    assert status == 200
    assert loudness(hear(body, "mp3").samples) > 500


REQUESTS = json.loads(Path(__file__).with_name("requests.json").read_text())


@pytest.mark.parametrize("recorded", [pytest.param(case, id=case["client"]) for case in REQUESTS])
def test_is_answered_as_the_client_wants_it(keyed: Server, recorded: dict[str, Any]) -> None:
    headers = {name: value.format(key=KEY) for name, value in recorded["headers"].items()}
    body = json.dumps(recorded["body"]) if "body" in recorded else None
    with contextlib.closing(keyed.connect()) as connection:
        connection.request(recorded["method"], recorded["path"], body, headers)
        response = connection.getresponse()
        data = response.read()
    assert response.status == 200, data
    kind = response.getheader("Content-Type", "")
    assert kind.split(";")[0] == recorded["type"]
    if "has" in recorded:
        found = json.loads(data)
        for step in recorded["has"]:
            found = found[step]
        assert isinstance(found, str) and found
    elif kind == "audio/pcm":
        assert not data.startswith(b"RIFF") and len(data) % 2 == 0 and len(data) > 10_000
    else:
        assert loudness(hear(data).samples) > 500


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
