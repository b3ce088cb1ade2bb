"""Texts that fronts have died of, over HTTP: refused with a reason; a suspected one that is answered is cleared."""

import os
import time
from collections.abc import AsyncIterator

import aiohttp

from frontend.contract.in_flight import InFlight
from frontend.contract.request import SpeechRequest
from shm.audio import Pcm
from shm.in_flight import BOARD_BYTES, Board, TextsInFlight, digest_of
from shm.memory import reserve
from shm.messages import Cleared, ControlMessage, Suspects
from tests.frontend.http_fakes import FakeSpeaker, serving, speech

SUSPECT = digest_of("Perhaps.")


def asking(text: str) -> dict[str, str]:
    return {"input": text, "response_format": "pcm"}


async def test_a_text_under_refusal_is_told_so_and_others_are_spoken() -> None:
    in_flight = InFlight()
    in_flight.heed(Suspects(refused={digest_of("Deadly."): time.monotonic() + 90, SUSPECT: time.monotonic() - 1}))
    async with (
        serving(FakeSpeaker(speech(100)), in_flight=in_flight) as server,
        aiohttp.ClientSession(server.url) as client,
    ):
        async with client.post("/v1/audio/speech", json=asking("Deadly.")) as refused:
            error = (await refused.json())["error"]
        assert (refused.status, error["code"], error["param"]) == (400, "text_refused", "input")
        assert error["type"] == "invalid_request_error" and "2 minutes" in error["message"]
        assert 0 < int(refused.headers["Retry-After"]) <= 90
        for text in ("Harmless.", "Perhaps."):
            async with client.post("/v1/audio/speech", json=asking(text)) as spoken:
                assert spoken.status == 200 and len(await spoken.read()) == 200


async def test_a_suspected_text_that_is_answered_is_cleared_once_it_is_over() -> None:
    told: list[ControlMessage] = []
    in_flight = InFlight(told.append)
    in_flight.heed(Suspects((SUSPECT,)))
    async with (
        serving(FakeSpeaker(speech(100)), in_flight=in_flight) as server,
        aiohttp.ClientSession(server.url) as client,
    ):
        for text in ("Harmless.", "Perhaps."):
            async with client.post("/v1/audio/speech", json=asking(text)) as spoken:
                await spoken.read()
    assert told == [Cleared(SUSPECT)]


class Watched(FakeSpeaker):
    """Sees what is on the board while it speaks."""

    def __init__(self, board: Board) -> None:
        super().__init__(speech(100))
        self._board = board
        self.seen = TextsInFlight()

    def open(self, request: SpeechRequest) -> AsyncIterator[Pcm]:  # type: ignore[override]
        self.seen = self._board.read()
        return super().open(request)  # type: ignore[return-value]


async def test_a_text_is_on_the_board_from_its_request_to_its_end() -> None:
    memory = reserve(BOARD_BYTES)
    board, supervisor = Board(memory), Board(memory)
    os.close(memory)
    in_flight, speaker = InFlight(), Watched(supervisor)
    in_flight.record_on(board)
    async with (
        serving(speaker, in_flight=in_flight) as server,
        aiohttp.ClientSession(server.url) as client,
        client.post("/v1/audio/speech", json=asking("Perhaps.")) as spoken,
    ):
        await spoken.read()
    assert SUSPECT in speaker.seen.waiting | speaker.seen.working.keys()
    assert supervisor.read() == TextsInFlight()
