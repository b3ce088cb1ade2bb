"""Web pages that are read by their address: with a setting, from public addresses, within limits."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from frontend.http import documents
from frontend.settings.front import FrontSettings
from tests.frontend.http_fakes import FakeSpeaker, serving

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
