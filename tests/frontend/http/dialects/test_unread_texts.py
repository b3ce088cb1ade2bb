"""A reader that fails at its nth step: an error of the server's, with the request's id, in each API's own form."""

import itertools
import logging
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from frontend.planning.reader import Reader
from tests.frontend.http.dialects_desk import Office, office
from tests.frontend.http.dialects_messages import CARTESIA, PATHS, SENTENCE, VOICE, code_of, speak
from tests.frontend.scripted_worker import DEADLINE

SECRET = "a word of the text"
POSTS: list[tuple[str, dict[str, Any]]] = [
    ("/v1/audio/speech", {"input": SENTENCE * 5}),
    ("/v1/audio/speech", {"input": SENTENCE * 5, "stream": False}),
    ("/v1/text-to-speech/af_heart", {"text": SENTENCE * 5}),
    ("/v1/text-to-speech/af_heart/with-timestamps", {"text": SENTENCE * 5}),
    ("/tts/bytes", {"transcript": SENTENCE * 5, **VOICE, "output_format": {"container": "wav"}}),
    ("/v1/speak?model=af_heart", {"text": SENTENCE * 5}),
]


@pytest.fixture(params=range(3))
def nth(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    segments = Reader.segments

    def failing(*args: Any) -> Iterator[object]:
        yield from itertools.islice(segments(*args), request.param)
        raise ValueError(SECRET)

    monkeypatch.setattr(Reader, "segments", failing)
    nth: int = request.param
    return nth


def is_told(desk: Office, caplog: pytest.LogCaptureFixture, request_id: str) -> bool:
    (record,) = [each for each in caplog.records if "can't be read" in each.getMessage()]
    said = record.getMessage()
    assert record.levelno == logging.ERROR and "in failing" in said and SECRET not in caplog.text
    assert desk.counted("texts_unread_total") == 1
    return request_id in said


@pytest.mark.parametrize(("path", "body"), POSTS)
async def test_a_request_fails_with_500_or_is_cut(
    path: str, body: dict[str, Any], nth: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with office() as desk:
        try:
            async with desk.post(path, body, {"X-Request-Id": "r-1"}) as response:
                status, answer = response.status, (await response.read()).decode(errors="replace")
        except aiohttp.ClientPayloadError:
            assert nth  # the answer had begun
        else:
            assert (status, response.headers["X-Request-Id"]) == (500, "r-1")
            assert "server failed" in answer and SECRET not in answer
        assert is_told(desk, caplog, "r-1")


@PATHS
async def test_a_socket_is_told_whose_fault_it_is(path: str, nth: int, caplog: pytest.LogCaptureFixture) -> None:
    async with office() as desk:
        async with desk.connect(path, {"X-Request-Id": "r-1"}) as socket:
            await socket.send_json(speak(path, SENTENCE * 5))
            if path is CARTESIA:
                await socket.send_json({"context_id": "a", "continue": False, "transcript": "", **VOICE})
            else:
                await socket.send_json({"flush": True, "context_id": "a", "text": "", "type": "Flush"})
            while (message := await socket.receive(timeout=DEADLINE)).type is aiohttp.WSMsgType.BINARY or not (
                "error" in message.json() or message.json().get("type") in ("error", "Error")
            ):
                pass
            assert code_of(path, message.json()).lower() == "internal" and SECRET not in message.data
        assert is_told(desk, caplog, "r-1")
