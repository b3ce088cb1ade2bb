"""Open WebUI: a key, lists without it, whole MP3 files, and in a call all sentences of an answer at once."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from tests.clients.keys import KEY
from tests.clients.test_recorded_requests import REQUESTS
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
