"""Clients that the gate lets in, over a real socket: keys, browsers' pages, rebound names, limits."""

import asyncio
import json
import logging
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import psutil
import pytest
from aiohttp import web

from frontend.http.app import make_app
from frontend.monitoring.metrics import Metrics
from frontend.serving.gate import is_loopback
from frontend.serving.services import Services
from frontend.settings.front import FrontSettings
from shm.listeners import TlsClients
from shm.memory import reserve
from tests.frontend.http.guarded import answer, guarded
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, FakeSpeaker, asking, serving, speech

KEY = "open-sesame"
KEYED = FrontSettings(api_keys=("another", KEY))
SPEECH = "/v1/audio/speech"
LISTS = ["/v1/models", "/v1/models/kokoro", "/v1/audio/models", "/v1/audio/voices", "/models", "/voices", "/metrics"]
PROBES = ["/health", "/ready"]
ELSEWHERE = {"X-Forwarded-For": "203.0.113.9"}
PAGE = "http://localhost:3000"
STRANGER = "https://evil.example"


@asynccontextmanager
async def asked(settings: FrontSettings | None = None, *steps: Any) -> AsyncIterator[aiohttp.ClientSession]:
    speaker = FakeSpeaker(*(steps or [speech(100)]))
    async with serving(speaker, settings) as server, aiohttp.ClientSession(server.url) as client:
        yield client


async def error_of(response: aiohttp.ClientResponse) -> dict[str, Any]:
    answer = await response.json()
    assert set(answer) == {"error"} and set(answer["error"]) == {"message", "type", "param", "code"}
    error: dict[str, Any] = answer["error"]
    return error


# -- keys


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER "])
async def test_a_key_opens(scheme: str) -> None:
    async with asked(KEYED) as client:
        headers = {"Authorization": f"{scheme} {KEY}"}
        async with client.post(SPEECH, json={"input": "Hi."}, headers=headers) as response:
            assert response.status == 200


@pytest.mark.parametrize(
    ("authorization", "code"),
    [
        (None, "missing_api_key"),
        ("", "missing_api_key"),
        (KEY, "missing_api_key"),
        (f"Basic {KEY}", "missing_api_key"),
        ("Bearer", "missing_api_key"),
        ("Bearer ", "missing_api_key"),
        ("Bearer wrong", "invalid_api_key"),
        (f"Bearer {KEY}x", "invalid_api_key"),
        (f"Bearer another,{KEY}", "invalid_api_key"),
    ],
)
async def test_anything_else_is_401_as_openai_answers(authorization: str | None, code: str) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    async with asked(KEYED) as client, client.post(SPEECH, json={"input": "Hi."}, headers=headers) as response:
        assert response.status == 401
        assert response.headers["WWW-Authenticate"].startswith('Bearer realm="kokoro-live"')
        error = await error_of(response)
        assert (error["type"], error["code"]) == ("invalid_request_error", code)
        assert KEY not in error["message"]


@pytest.mark.parametrize("path", [*LISTS, *PROBES])
async def test_lists_and_probes_answer_on_this_machine_without_a_key(path: str) -> None:
    async with asked(KEYED) as client:
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            async with client.get(path, headers=headers) as response:
                assert response.status == 200
        async with client.head(path) as response:
            assert response.status == 200


@pytest.mark.parametrize("path", LISTS)
async def test_lists_want_a_key_from_elsewhere(path: str) -> None:
    async with asked(KEYED) as client:
        async with client.get(path, headers=ELSEWHERE) as response:
            assert response.status == 401
        async with client.get(path, headers=ELSEWHERE | {"Authorization": f"Bearer {KEY}"}) as response:
            assert response.status == 200


@pytest.mark.parametrize("path", PROBES)
async def test_probes_never_want_a_key(path: str) -> None:
    async with asked(KEYED) as client, client.get(path, headers=ELSEWHERE) as response:
        assert response.status == 200


async def test_what_is_not_there_is_not_told_to_strangers() -> None:
    async with asked(KEYED) as client:
        async with client.get("/v1/nothing") as response:
            assert response.status == 401
        async with client.get("/v1/nothing", headers={"Authorization": f"Bearer {KEY}"}) as response:
            assert response.status == 404


@pytest.mark.parametrize(("level", "secrets"), [(logging.DEBUG, ()), (logging.INFO, ("Privately",))])
async def test_keys_are_never_logged_and_text_at_debug_only(
    level: int, secrets: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(level)
    async with asked(KEYED) as client:
        for key in (KEY, "a-wrong-one"):
            headers = {"Authorization": f"Bearer {key}"}
            async with client.post(SPEECH, json={"input": "Privately."}, headers=headers) as response:
                await response.read()
    assert "401" in caplog.text
    assert not any(secret in caplog.text for secret in (KEY, "a-wrong-one", *secrets))


# -- browsers' pages


async def test_a_local_page_asks_first_and_is_let() -> None:
    headers = {
        "Origin": PAGE,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,x-session,cache-control,x-stainless-os",
        "Access-Control-Request-Private-Network": "true",
    }
    async with asked(KEYED) as client, client.options(SPEECH, headers=headers) as response:
        assert (response.status, await response.read()) == (204, b"")
        got = response.headers
    assert got["Access-Control-Allow-Origin"] == PAGE
    assert "POST" in got["Access-Control-Allow-Methods"]
    assert got["Access-Control-Allow-Headers"] == headers["Access-Control-Request-Headers"]
    assert got["Access-Control-Allow-Private-Network"] == "true"
    assert "Access-Control-Allow-Credentials" not in got
    assert "Origin" in got["Vary"].split(", ")


async def test_a_page_that_names_no_header_is_told_the_usual_ones() -> None:
    headers = {"Origin": PAGE, "Access-Control-Request-Method": "GET"}
    async with asked() as client, client.options("/v1/models", headers=headers) as response:
        assert (response.status, response.headers["Access-Control-Allow-Methods"]) == (204, "GET, HEAD")
        allowed = response.headers["Access-Control-Allow-Headers"].split(", ")
        assert {"Authorization", "Content-Type", "X-Session", "Cache-Control"} <= {*allowed}
        assert "Access-Control-Allow-Private-Network" not in response.headers


async def test_a_stream_and_an_error_may_be_read_by_a_local_page() -> None:
    async with asked() as client:
        for body, status in (({"input": "Hi.", "response_format": "pcm"}, 200), ({}, 400)):
            async with client.post(SPEECH, json=body, headers={"Origin": PAGE}) as response:
                assert response.status == status
                assert response.headers["Access-Control-Allow-Origin"] == PAGE
                exposed = response.headers["Access-Control-Expose-Headers"].split(", ")
                assert {"X-Request-Id", "X-Engine", "X-Sample-Rate", "X-Cache", "Retry-After"} <= {*exposed}
                assert "Origin" in response.headers["Vary"]


@pytest.mark.parametrize("origin", [STRANGER, "null", "http://localhost.evil.example"])
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/json"])
async def test_a_strange_page_can_not_have_anything_spoken(origin: str, kind: str) -> None:
    speaker = FakeSpeaker(speech(100))
    headers = {"Origin": origin, "Content-Type": kind}
    async with asking(speaker, SPEECH, data=b'{"input": "Hi."}', headers=headers) as response:
        assert response.status == 403
        assert "Access-Control-Allow-Origin" not in response.headers
        error = await error_of(response)
        assert (error["code"], "--cors-origins" in error["message"]) == ("origin_not_allowed", True)
    assert speaker.opened == []


async def test_a_strange_page_can_neither_read_nor_ask_first_nor_open_a_socket() -> None:
    async with asked() as client:
        async with client.get("/v1/models", headers={"Origin": STRANGER}) as response:
            assert (response.status, "Access-Control-Allow-Origin" in response.headers) == (200, False)
            assert "Origin" in response.headers["Vary"]
        headers = {"Origin": STRANGER, "Access-Control-Request-Method": "POST"}
        async with client.options(SPEECH, headers=headers) as response:
            assert (response.status, "Access-Control-Allow-Origin" in response.headers) == (403, False)
        headers = {"Origin": STRANGER, "Connection": "Upgrade", "Upgrade": "websocket"}
        async with client.get("/v1/models", headers=headers) as response:
            assert response.status == 403


async def test_a_page_that_was_configured_is_let() -> None:
    settings = FrontSettings(cors_origins=(STRANGER,))
    body, headers = {"input": "Hi."}, {"Origin": STRANGER}
    async with asked(settings) as client, client.post(SPEECH, json=body, headers=headers) as response:
        assert (response.status, response.headers["Access-Control-Allow-Origin"]) == (200, STRANGER)


# -- rebound names


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
async def test_a_rebound_name_is_refused(method: str) -> None:
    headers = {"Host": "evil.example:8880", "Origin": "http://evil.example:8880"}
    async with asked() as client, client.request(method, "/v1/models", headers=headers) as response:
        assert response.status == 403
        assert (await error_of(response))["code"] == "host_not_allowed"


async def test_a_proxys_name_is_admitted_when_it_was_allowed() -> None:
    settings, headers = FrontSettings(allowed_hosts=("tts.example.com",)), {"Host": "tts.example.com"}
    async with asked(settings) as client, client.get("/health", headers=headers) as response:
        assert response.status == 200


OTHER_ADDRESS = next(
    (
        found.address
        for addresses in psutil.net_if_addrs().values()
        for found in addresses
        if found.family == socket.AF_INET and not is_loopback(found.address)
    ),
    None,
)


@pytest.mark.skipif(OTHER_ADDRESS is None, reason="THIS MACHINE HAS NO ADDRESS BUT LOOPBACK'S")
async def test_at_another_address_any_name_is_admitted_and_lists_want_a_key() -> None:
    runner = web.AppRunner(make_app(Services(FakeSpeaker(), KEYED, Metrics())))
    await runner.setup()
    try:
        await web.TCPSite(runner, OTHER_ADDRESS, 0).start()
        async with aiohttp.ClientSession(f"http://{OTHER_ADDRESS}:{runner.addresses[0][1]}") as client:
            for path, status in (("/health", 200), ("/v1/models", 401), ("/metrics", 401)):
                async with client.get(path, headers={"Host": "box.lan"}) as response:
                    assert response.status == status
    finally:
        await runner.cleanup()


# -- limits


async def test_too_many_requests_are_429_with_an_honest_wait() -> None:
    async with asked(FrontSettings(requests_per_minute=2, api_keys=(KEY, "another"))) as client:

        async def post(key: str) -> tuple[int, aiohttp.ClientResponse]:
            headers = {"Authorization": f"Bearer {key}"}
            async with client.post(SPEECH, json={"input": "Hi."}, headers=headers) as response:
                await response.read()
                return response.status, response

        assert [(await post(KEY))[0] for _ in range(2)] == [200, 200]
        status, response = await post(KEY)
        assert status == 429
        assert (await error_of(response))["code"] == "rate_limit_exceeded"
        milliseconds = int(response.headers["retry-after-ms"])
        assert 0 < milliseconds <= 30_000
        assert 0 <= int(response.headers["Retry-After"]) * 1000 - milliseconds < 1000
        assert (await post("another"))[0] == 200
        assert (await post("wrong"))[0] == 401, "and it costs nobody's tokens"
        async with client.get("/health") as probe:
            assert probe.status == 200


async def test_without_keys_an_address_is_a_client() -> None:
    async with asked(FrontSettings(requests_per_minute=1)) as client:
        statuses = []
        for _ in range(2):
            async with client.post(SPEECH, json={"input": "Hi."}) as response:
                statuses.append(response.status)
    assert statuses == [200, 429]


async def begin_body(port: int, length: int | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A request whose body isn't there yet."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    form = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    writer.write(f"POST {SPEECH} HTTP/1.1\r\nHost: localhost\r\n{form}\r\n\r\n".encode())
    await writer.drain()
    return reader, writer


@pytest.mark.parametrize("announced", [True, False], ids=["announced", "chunked"])
async def test_bodies_that_would_take_too_much_memory_together_are_asked_to_come_again(announced: bool) -> None:
    """A body that doesn't announce its length may become the longest that is taken."""
    settings = FrontSettings(max_body_bytes=1000, max_bodies_bytes=1500)
    body = json.dumps({"input": "Hi."}).encode().ljust(1000)
    async with serving(FakeSpeaker(speech(10)), settings) as server:
        reader, writer = await begin_body(server.port, 1000 if announced else None)
        async with aiohttp.ClientSession(server.url) as client:

            async def post(data: bytes) -> int:
                async with client.post(SPEECH, data=data) as response:
                    if response.status == 503:
                        assert int(response.headers["Retry-After"]) >= 1
                    return response.status

            async with asyncio.timeout(DEFAULT_TIMEOUT):
                while await post(body) != 503:
                    pass
                assert await post(body.strip()) == 200, "short ones find room"
                writer.write(body if announced else b"3e8\r\n" + body + b"\r\n0\r\n\r\n")
                assert (await reader.readline()).startswith(b"HTTP/1.1 200")
                assert await post(body) == 200, "and their room is free again"
        writer.close()


@pytest.mark.parametrize("headers", [{"Authorization": "Bearer wrong"}, {"Origin": STRANGER}, {"Host": "evil.example"}])
async def test_nothing_is_read_for_who_may_not_ask(headers: dict[str, str]) -> None:
    given = []

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(1000):
            given.append(b"x" * 65536)
            yield given[-1]
            await asyncio.sleep(0)

    async with asked(FrontSettings(api_keys=(KEY,), max_body_bytes=1 << 30, max_bodies_bytes=1 << 30)) as client:
        try:
            async with client.post(SPEECH, data=endless(), headers=headers) as response:
                assert response.status in (401, 403)
        except aiohttp.ClientConnectionError:
            pass
    assert len(given) < 1000


async def test_a_refusal_is_named_and_counted() -> None:
    async with asked(KEYED) as client:
        async with client.post(SPEECH, json={"input": "Hi."}) as response:
            assert (response.status, len(response.headers["X-Request-Id"])) == (401, 32)
        async with client.get("/metrics") as metrics:
            counted = 'kokoro_live_requests_total{endpoint="/v1/audio/speech",status="401"} 1.0'
            assert counted in await metrics.text()


@pytest.mark.parametrize(
    ("client", "reached", "status", "called"),
    [
        ("127.0.0.1", "127.0.0.1", 400, 403),
        ("::1", "::1", 400, 403),
        ("192.0.2.7", "192.0.2.1", 403, 200),
        ("2001:db8::7", "2001:db8::1", 403, 200),
        (None, None, 403, 200),
    ],
)
async def test_a_client_over_tls_is_judged_by_its_own_address(
    client: str | None, reached: str | None, status: int, called: int
) -> None:
    """Speech by its address is for this machine alone (400: there is no text); a name that isn't this machine's is
    refused at a loopback address."""
    async with guarded(FakeSpeaker()) as server:
        memory = reserve(TlsClients.BYTES)
        server.connections.by_tls = clients = TlsClients(memory, server.listener)
        os.close(memory)
        for host, expected in (("localhost", status), ("a.example", called)):
            path = SPEECH if host == "localhost" else "/health"
            with socket.socket() as end:
                end.bind(("127.0.0.1", 0))
                if client and reached:
                    clients.note(end.getsockname()[1], client, reached)
                else:  # a port that another client had, of a process that has died
                    clients.note(end.getsockname()[1], "::", "::")
                end.connect(("127.0.0.1", server.port))
                end.setblocking(False)
                reader, writer = await asyncio.open_connection(sock=end)
                writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                assert (await answer(reader))[0] == expected, (host, client)
                writer.close()
                await writer.wait_closed()
