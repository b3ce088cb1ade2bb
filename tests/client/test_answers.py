"""The reasons why a server gave no answer, and the waits of a client that is asked to come again: all end in speech."""

import asyncio
import ssl
from collections.abc import Iterator
from itertools import chain, repeat
from unittest.mock import sentinel

import aiohttp
import pytest

from client.answers import MOST, STARTING, RequestRefused, Waiting, reason_of, silent
from client.blocking import BlockingClient
from frontend.contract.errors import Overloaded, SpeechError, Unavailable, Unspeakable
from frontend.contract.request import SpeechRequest
from tests.frontend.http_fakes import FakeSpeaker, FakeStream, serving, speech
from tests.frontend.served import served


@pytest.mark.parametrize(
    ("scheme", "answer", "reason"),
    [
        ("https", b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "it doesn't speak HTTPS"),
        ("http", b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\nsix", "its answer broke off"),
        ("http", b"SSH-2.0-OpenSSH_9.2\r\n", "it doesn't speak HTTP"),
        ("http", b"", "it closed the connection"),
    ],
)
async def test_an_answer_that_is_none_has_a_reason_of_its_own(scheme: str, answer: bytes, reason: str) -> None:
    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(reply, "127.0.0.1", 0) as server, aiohttp.ClientSession() as session:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(aiohttp.ClientError) as failed:
            async with session.get(f"{scheme}://127.0.0.1:{port}") as response:
                await response.read()
    assert reason_of(failed.value).startswith(reason)


def test_a_certificate_of_its_own_is_said() -> None:
    error = aiohttp.ClientConnectorCertificateError(sentinel.key, ssl.SSLCertVerificationError(1, "self-signed"))
    assert reason_of(error) == "its certificate isn't trusted"


FULL = Overloaded("The streams in progress leave no room in the next 0.2 seconds.", 0.2)
LOADING = Unavailable("the model is loading", 0.2)


class BusySpeaker(FakeSpeaker):
    """Refuses as often as the test says, and then speaks."""

    def __init__(self, *refusals: SpeechError) -> None:
        super().__init__(speech(500))
        self._refusals: Iterator[SpeechError | None] = chain(refusals, repeat(None))

    def open(self, request: SpeechRequest) -> FakeStream:
        self.refusal = next(self._refusals)
        return super().open(request)


def refused(status: int, after: float | None) -> RequestRefused:
    return RequestRefused("why", status, retry_after=after)


@pytest.mark.parametrize(
    ("refusals", "told"),
    [
        ([FULL, FULL], ["waiting for the server, 1 s", ""]),
        ([LOADING], ["waiting for the server, 1 s: the model is loading", ""]),
        ([], []),
    ],
)
def test_a_refused_request_is_made_again_until_it_is_spoken(refusals: list[SpeechError], told: list[str]) -> None:
    said: list[str] = []
    with served(serving(BusySpeaker(*refusals))) as server:
        pieces = list(BlockingClient(server.url, said.append).speak({"input": "Hello."}))
    assert b"".join(piece.pcm for piece in pieces) == speech(500).tobytes()
    assert said == told


def test_a_text_that_can_not_be_spoken_is_not_waited_for() -> None:
    busy = serving(BusySpeaker(FULL, Unspeakable("no sound")))
    with served(busy) as server, pytest.raises(RequestRefused, match="no sound"):
        list(BlockingClient(server.url).speak({"input": "Hello."}))


def test_an_interruption_ends_the_wait() -> None:
    full = Overloaded("full", 50.0)
    client: BlockingClient

    def interrupt(reason: str) -> None:
        if reason:
            client.interrupt()

    with served(serving(BusySpeaker(full, Unspeakable("asked again")))) as server:
        client = BlockingClient(server.url, interrupt)
        with pytest.raises(RequestRefused, match="asked again"):
            list(client.speak({"input": "Hello."}))


@pytest.mark.parametrize(("status", "most"), [(429, MOST), (503, STARTING)])
def test_all_waits_of_a_request_together_have_a_limit(status: int, most: float) -> None:
    waiting, waited = Waiting(silent), 0.0
    with pytest.raises(RequestRefused):
        while True:
            waited += waiting.seconds(refused(status, 7.0))
    assert most - 7 < waited <= most


@pytest.mark.parametrize("error", [refused(429, None), refused(500, 1.0), refused(400, 1.0), refused(409, 1.0)])
def test_only_a_server_that_says_when_is_waited_for(error: RequestRefused) -> None:
    with pytest.raises(RequestRefused):
        Waiting(silent).seconds(error)
