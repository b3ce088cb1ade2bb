"""Requests by address: downloads, bounded in number, age and length; speech for players; web pages that are read."""

from __future__ import annotations

import asyncio
import io
import socket
import sys
import wave
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp
import numpy as np
import pytest
from aiohttp import web

from frontend.audio.formats import FORMATS
from frontend.http import documents
from frontend.settings.front import FrontSettings
from frontend.speech.downloads import KEPT_BYTES, Downloads, _file_name
from tests.frontend.http.kokoro_fastapi import SOUND
from tests.frontend.http_fakes import FakeSpeaker, asking, serving, speech


async def test_the_download_is_the_whole_file_once_the_response_has_ended() -> None:
    async with serving(FakeSpeaker(SOUND)) as server, aiohttp.ClientSession(server.url) as client:
        body = {"input": "Hi.", "response_format": "pcm", "return_download_link": True, "download_format": "wav"}
        async with client.post("/v1/audio/speech", json=body) as response:
            path = response.headers["X-Download-Path"]
            pcm = await response.read()
        async with client.get(path, params={"name": "../my talk.mp3"}) as response:
            assert (response.status, response.content_type) == (200, "audio/wav")
            assert response.headers["Content-Disposition"] == 'attachment; filename="my_talk.wav"'
            with wave.open(io.BytesIO(await response.read())) as file:
                assert file.readframes(file.getnframes()) == pcm == SOUND.tobytes()
        async with client.get("/v1/download/other.wav") as response:
            assert (response.status, (await response.json())["error"]["code"]) == (404, "download_not_found")


async def test_a_response_that_breaks_has_no_download() -> None:
    speaker = FakeSpeaker(SOUND, RuntimeError("broken"))
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        body = {"input": "Hi.", "response_format": "pcm", "return_download_link": True}
        async with client.post("/v1/audio/speech", json=body) as response:
            path = response.headers["X-Download-Path"]
            with pytest.raises(aiohttp.ClientError):
                await response.read()
        async with client.get(path) as response:
            assert response.status == 404


class FakeEncoders:
    """Opens encodings that give their samples as bytes."""

    def open(self, *_: object, **__: object) -> FakeEncoders:
        return self

    given_out = 0.0
    bytes_per_second = 48_000.0

    async def encode(self, pcm: np.ndarray) -> bytes:
        return pcm.tobytes()

    async def finish(self) -> bytes:
        return b""

    def close(self) -> None: ...


async def kept(store: Downloads, samples: int) -> str:
    recording = store.begin(FakeEncoders(), FORMATS["pcm"], 24_000)  # type: ignore[arg-type]
    await recording.encode(np.zeros(samples, np.int16))
    await recording.finish()
    return recording.path.rpartition("/")[2]


async def test_downloads_are_bounded_in_number_age_and_length() -> None:
    now = 0.0
    store = Downloads(FakeEncoders(), 2e6, lambda: now)  # type: ignore[arg-type]
    first = await kept(store, 10)
    now = 3599.0
    store._drop_old()
    assert [*store._kept] == [first], "it is there for an hour"
    now = 3600.0
    second = await kept(store, KEPT_BYTES // 4)
    assert [*store._kept] == [second]
    third = await kept(store, KEPT_BYTES // 2 - 1)
    assert [*store._kept] == [third]
    short = Downloads(FakeEncoders(), 1.0, lambda: now)  # type: ignore[arg-type]
    await kept(short, 24_001)
    assert not short._kept


@pytest.mark.parametrize(
    ("wanted", "saved"),
    [
        ("", "t.mp3"),
        ("af_bella+af_sky", "af_bella_af_sky.mp3"),
        ("report.wav", "report.mp3"),
        ("../../etc/passwd", "etc_passwd.mp3"),
        ('bad";\r\nname', "bad_name.mp3"),
        ("...", "t.mp3"),
        ("é" * 200, "t.mp3"),
        ("x" * 200, f"{'x' * 100}.mp3"),
    ],
)
def test_a_saved_files_name_is_safe(wanted: str, saved: str) -> None:
    assert _file_name(wanted, "t.mp3") == saved


async def test_a_download_has_the_samples_of_before_the_ring_was_written_again() -> None:
    """The whole file's encoder runs in a thread, and is later than the stream's: its samples are its own by then."""

    class Later(FakeEncoders):
        async def encode(self, pcm: np.ndarray) -> bytes:
            await asyncio.sleep(0)
            return pcm.tobytes()

    class Overwriting(FakeEncoders):
        async def encode(self, pcm: np.ndarray) -> bytes:
            sent = pcm.tobytes()
            ring[:] = -1
            return sent

    ring = np.arange(1, 100, dtype=np.int16)
    spoken = ring.tobytes()
    store = Downloads(Later(), 60.0)  # type: ignore[arg-type]
    recording = store.begin(Overwriting(), FORMATS["pcm"], 24_000)  # type: ignore[arg-type]
    assert await recording.encode(ring) == spoken
    await recording.finish()
    (download,) = store._kept.values()
    assert download.audio == spoken


ADDRESS = "/v1/audio/speech"


async def test_the_query_has_the_fields_of_the_body() -> None:
    speaker = FakeSpeaker(speech(2400))
    query = {"input": "Hello & goodbye.", "voice": "bf_emma", "speed": "1.5", "stream": "false"}
    async with asking(speaker, ADDRESS, method="GET", params=query | {"response_format": "pcm"}) as response:
        assert (response.status, response.content_type) == (200, "audio/pcm")
        assert await response.read() == speech(2400).tobytes()
        assert response.headers["Content-Length"] == "4800"
    (asked,) = speaker.opened
    assert (asked.text, asked.voice, asked.speed) == ("Hello & goodbye.", (("bf_emma", 1.0),), 1.5)


async def test_a_parameter_that_stands_there_twice_is_named() -> None:
    query = [("input", "Hello."), ("input", "Goodbye."), ("speed", "1.5")]
    async with asking(FakeSpeaker(speech(10)), ADDRESS, method="GET", params=query) as response:
        assert (response.status, response.headers["X-Warning"]) == (200, "no effect: input")


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({}, "input"),
        ({"input": " "}, "input"),
        ({"input": "Hello.", "speed": "fast"}, "speed"),
        ({"input": "Hello.", "speed": "9"}, "speed"),
        ({"input": "Hello.", "response_format": "midi"}, "response_format"),
    ],
)
async def test_a_wrong_query_is_a_400_that_names_the_field(query: dict[str, str], param: str) -> None:
    async with asking(FakeSpeaker(speech(10)), ADDRESS, method="GET", params=query) as response:
        assert response.status == 400
        assert (await response.json())["error"]["param"] == param


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("speed", "fast", "'fast' is not a number."),
        ("sample_rate", "x", "'x' is not a whole number."),
        ("stream", "perhaps", "'perhaps' is not true or false."),
    ],
)
async def test_text_that_is_no_number_is_shown_as_it_stands_there(field: str, value: str, words: str) -> None:
    """All that stands in an address is text: an error says what it doesn't say, not that it is text."""
    async with asking(
        FakeSpeaker(speech(10)), ADDRESS, method="GET", params={"input": "Hello.", field: value}
    ) as response:
        error = (await response.json())["error"]
    assert (response.status, error["param"], error["message"]) == (400, field, f"`{field}`: {words}")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_no_page_of_another_site_has_the_server_speak(site: str) -> None:
    """A sound's address in a page makes the browser ask without an Origin."""
    speaker = FakeSpeaker(speech(10))
    async with asking(
        speaker, ADDRESS, method="GET", params={"input": "Hello."}, headers={"Sec-Fetch-Site": site}
    ) as response:
        assert response.status == 403
    assert speaker.opened == []


async def test_a_head_makes_no_speech() -> None:
    speaker = FakeSpeaker(speech(10))
    async with asking(speaker, ADDRESS, method="HEAD", params={"input": "Hello."}) as response:
        assert response.status == 405
    assert speaker.opened == []


async def test_without_keys_a_client_of_another_machine_is_refused() -> None:
    """A proxy's header stands for another machine: the client's own address is hidden behind it."""
    async with asking(
        FakeSpeaker(speech(10)),
        ADDRESS,
        method="GET",
        params={"input": "Hello."},
        headers={"X-Forwarded-For": "192.0.2.7"},
    ) as response:
        assert response.status == 403
        assert (await response.json())["error"]["code"] == "api_key_not_configured"


READING = (sys.executable, "-m", "books.reading.told")
PAGE = "<title>A page</title><nav>Menu</nav><article><h1>News</h1><p>It rains.</p></article><footer>End</footer>"


class Elsewhere:
    """Another server, which counts who asks it."""

    def __init__(self) -> None:
        self.asked = 0
        self.port = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked += 1
        match request.path:
            case "/page":
                return web.Response(text=PAGE, content_type="text/html")
            case "/moved":
                raise web.HTTPFound(request.query["to"])
            case "/picture":
                return web.Response(body=b"GIF89a", content_type="image/gif")
            case "/endless":
                answer = web.StreamResponse(headers={"Content-Type": "text/plain"})
                await answer.prepare(request)
                while True:
                    await answer.write(b"word " * 1000)
            case "/silent":
                await asyncio.Event().wait()
        raise web.HTTPNotFound


@asynccontextmanager
async def elsewhere() -> AsyncIterator[Elsewhere]:
    other = Elsewhere()
    app = web.Application()
    app.router.add_get("/{path:.*}", other.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    other.port = runner.addresses[0][1]
    try:
        yield other
    finally:
        await runner.cleanup()


async def read(address: str, allowed: bool = True) -> tuple[int, dict[str, object]]:
    async with (
        serving(FakeSpeaker(), FrontSettings(web_pages=allowed), reading=READING) as server,
        aiohttp.ClientSession(server.url) as session,
        session.post("/v1/documents", params={"address": address}) as answer,
    ):
        return answer.status, await answer.json()


@pytest.fixture
def only_here(monkeypatch: pytest.MonkeyPatch) -> Callable[[Elsewhere], None]:
    """Take 127.0.0.1 for the only public address."""

    def take(other: Elsewhere) -> None:
        monkeypatch.setattr(documents, "PORTS", (other.port,))
        monkeypatch.setattr(documents, "is_public", lambda address: address == "127.0.0.1")

    return take


async def test_a_page_is_read_without_what_stands_around_its_text(only_here: Callable[[Elsewhere], None]) -> None:
    async with elsewhere() as other:
        only_here(other)
        status, found = await read(f"http://127.0.0.1:{other.port}/moved?to=/page")
    assert (status, found["title"]) == (200, "A page")
    assert found["paragraphs"] == [{"kind": "h", "text": "News"}, {"kind": "p", "text": "It rains."}]


async def test_a_redirect_into_the_private_network_is_not_followed(only_here: Callable[[Elsewhere], None]) -> None:
    async with elsewhere() as other:
        only_here(other)
        status, found = await read(f"http://127.0.0.1:{other.port}/moved?to=http://127.0.0.2:{other.port}/page")
        assert (status, other.asked) == (400, 1)
    assert "only public addresses" in str(found)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "rebound.example"])
async def test_this_machine_is_not_asked_by_any_name(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also not by one of somebody else's, whatever it was resolved to when somebody looked before."""

    async def resolve(_: object, host: str, port: int, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    if "example" in host:
        monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", resolve)
    async with elsewhere() as other:
        monkeypatch.setattr(documents, "PORTS", (other.port,))
        status, found = await read(f"http://{host}:{other.port}/page")
        assert (status, other.asked) == (400, 0), found


async def test_what_is_too_long_or_too_slow_or_no_text_is_refused_in_words(
    only_here: Callable[[Elsewhere], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_MOST_BYTES", 1 << 20)
    async with elsewhere() as other:
        only_here(other)
        says = {}
        for path in ("endless", "picture", "none"):
            status, found = await read(f"http://127.0.0.1:{other.port}/{path}")
            says[path] = (status, found["error"]["message"])  # type: ignore[index]
        monkeypatch.setattr(documents, "PAGE_SECONDS", 0.2)
        status, found = await read(f"http://127.0.0.1:{other.port}/silent")
    assert says == {
        "endless": (413, "The page is longer than 1 MB."),
        "picture": (400, "At that address is no text to read, but image/gif."),
        "none": (400, "127.0.0.1 answers 404 Not Found."),
    }
    assert status == 400 and "took over 0.2 s" in str(found)
    for address in ("ftp://example.com/", "//example.com", "http://[::1", "file:///etc/passwd"):
        status, found = await read(address)
        assert status == 400 and "no web address" in str(found)


async def test_no_page_is_fetched_unless_a_setting_allows_it(only_here: Callable[[Elsewhere], None]) -> None:
    async with elsewhere() as other:
        only_here(other)
        status, found = await read(f"http://127.0.0.1:{other.port}/page", allowed=False)
        assert (status, other.asked) == (403, 0) and "--web-pages" in str(found)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "fec0::1"),
        *("::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1", "2001:0:a00:1::1", "::10.0.0.1"),
    ],
)
def test_addresses_of_networks_that_are_not_everybodys(address: str) -> None:
    assert not documents.is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.215.14", "2606:4700::1111"])
def test_public_addresses(address: str) -> None:
    assert documents.is_public(address)
