"""Opening a socket: the key in each client's way, and a handshake that opens none."""

from typing import Any

import aiohttp
import msgspec
import pytest

from frontend.dialects.cartesia import CartesiaError
from frontend.dialects.deepgram import DeepgramError
from frontend.dialects.elevenlabs import ElevenLabsError
from frontend.settings.front import FrontSettings
from tests.frontend.http.dialects_desk import closed, office, until
from tests.frontend.http.dialects_messages import (
    CARTESIA,
    DEEPGRAM,
    ELEVENLABS,
    KEYED,
    PATHS,
    SENTENCE,
    error_after,
    speak,
)


@pytest.mark.parametrize("headers", [{}, {"xi-api-key": "wrong"}, {"Authorization": "Token wrong"}])
@PATHS
async def test_a_wrong_key_opens_nothing(path: str, headers: dict[str, str]) -> None:
    async with office(KEYED) as desk:
        if path is ELEVENLABS and not headers:
            async with desk.connect(path) as socket:
                await socket.send_json({"text": " ", "xi_api_key": "wrong"})
                assert await error_after(socket, path) == "invalid_api_key"
                assert await closed(socket) == 1008
            return
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await desk.session.ws_connect(desk.url + path, headers=headers)
        assert refused.value.status == 401


def http_code_of(path: str, body: Any) -> str:
    """The code of an error over HTTP, in the dialect's own form."""
    schema = {
        ELEVENLABS: ElevenLabsError,
        CARTESIA: CartesiaError,
        DEEPGRAM: DeepgramError,
    }
    error = msgspec.convert(body, schema[path])
    if isinstance(error, ElevenLabsError):
        return str(error.detail.status)
    return str(error.error_code if isinstance(error, CartesiaError) else error.err_code)


UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket"}


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 426, "upgrade_required"),
        ({"Connection": "Upgrade", "Upgrade": "h2c"}, 426, "upgrade_required"),
        (UPGRADE, 400, "invalid_handshake"),
        (UPGRADE | {"Sec-WebSocket-Version": "12"}, 400, "invalid_handshake"),
        (UPGRADE | {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "no"}, 400, "invalid_handshake"),
    ],
)
@PATHS
async def test_a_request_that_opens_no_socket_is_told_so(
    path: str, headers: dict[str, str], status: int, code: str
) -> None:
    async with office() as desk, desk.session.get(desk.url + path, headers=headers) as response:
        assert (response.status, http_code_of(path, await response.json())) == (status, code)
        assert (response.headers.get("Upgrade") == "websocket") == (status == 426)


@PATHS
async def test_a_plain_request_needs_the_key_before_the_upgrade(path: str) -> None:
    async with office(KEYED) as desk, desk.session.get(desk.url + path) as response:
        assert (response.status, http_code_of(path, await response.json())) == (401, "missing_api_key")


@pytest.mark.parametrize(
    "headers",
    [
        {"xi-api-key": "open-sesame"},
        {"X-API-Key": "open-sesame"},
        {"Authorization": "Token open-sesame"},
        {"Authorization": "Bearer open-sesame"},
    ],
)
@PATHS
async def test_every_clients_way_of_sending_the_key_opens(path: str, headers: dict[str, str]) -> None:
    async with office(KEYED) as desk, desk.connect(path, headers) as socket:
        await socket.send_json(speak(path, SENTENCE * 2))
        assert (await socket.receive(timeout=60)).type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY)


async def test_a_key_may_come_in_the_first_message() -> None:
    async with office(KEYED) as desk, desk.connect(ELEVENLABS) as socket:
        await socket.send_json({"text": " ", "context_id": "a", "authorization": "Bearer open-sesame"})
        await socket.send_json(speak(ELEVENLABS, SENTENCE))
        await socket.send_json({"context_id": "a", "close_context": True})
        assert (await until(socket, "isFinal"))[0]["audio"]


async def test_a_client_that_owes_its_key_has_the_time_for_a_header() -> None:
    settings = FrontSettings(api_keys=("open-sesame",), header_timeout=0.1)
    async with office(settings) as desk, desk.connect(f"{ELEVENLABS}&inactivity_timeout=180") as socket:
        assert await error_after(socket, ELEVENLABS) == "inactivity"
        assert await closed(socket) == 1008
