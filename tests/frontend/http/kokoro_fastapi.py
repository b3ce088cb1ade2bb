"""Requests in the form of Kokoro-FastAPI's clients, and their answers."""

import json
from typing import Any

import aiohttp

from frontend.contract.request import SpeechRequest
from tests.frontend.http_fakes import FakeSpeaker, asking, speech
from text.words.performer import Performer

SOUND = speech(4800)
HEART, BELLA = Performer((("af_heart", 1.0),), "en-us"), Performer((("af_bella", 1.0),), "en-us")


class Answer:
    def __init__(self, response: aiohttp.ClientResponse, body: bytes) -> None:
        self.status, self.headers, self.body = response.status, response.headers, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def asked(path: str, speaker: FakeSpeaker | None = None, **body: Any) -> Answer:
    async with asking(speaker or FakeSpeaker(SOUND), path, json=body) as response:
        return Answer(response, await response.read())


async def request_of(path: str = "/v1/audio/speech", **body: Any) -> SpeechRequest:
    """The speech request that an accepted call becomes."""
    speaker = FakeSpeaker(SOUND)
    answer = await asked(path, speaker, **body)
    assert answer.status == 200, answer.body
    return speaker.opened[0]


async def refusal(path: str = "/v1/audio/speech", **body: Any) -> tuple[int, str, str]:
    answer = await asked(path, **body)
    error = answer.json["error"]
    return answer.status, error["code"], error["param"]
