"""The page's files as they are served: types, revalidation, no key, and no way out of their folder."""

import asyncio
import re
from collections.abc import AsyncIterator

import aiohttp
import pytest

from frontend.http.server import STATIC
from frontend.settings.front import FrontSettings
from tests.frontend.http_fakes import FakeSpeaker, serving

TYPES = {
    "/": "text/html; charset=utf-8",
    "/static/page.css": "text/css; charset=utf-8",
    "/static/main.js": "text/javascript; charset=utf-8",
    "/static/favicon.svg": "image/svg+xml",
    "/favicon.ico": "image/svg+xml",
    "/static/icon-512.png": "image/png",
    "/static/manifest.webmanifest": "application/manifest+json",
    "/static/silence.flac": "audio/flac",
}


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    """The addresses of a server that demands a key, and of a client that has none."""
    async with (
        serving(FakeSpeaker(), FrontSettings(api_keys=("secret",))) as server,
        aiohttp.ClientSession(server.url) as session,
    ):
        yield session


@pytest.mark.parametrize("path", TYPES)
async def test_files_have_their_types_and_need_no_key(client: aiohttp.ClientSession, path: str) -> None:
    async with client.get(path) as response:
        body = await response.read()
    name = {"/": "index.html", "/favicon.ico": "favicon.svg"}.get(path, path.rpartition("/")[2])
    assert (response.status, response.headers["Content-Type"]) == (200, TYPES[path])
    assert body == (STATIC / name).read_bytes()
    assert response.headers["Content-Security-Policy"].startswith("default-src 'self'; ")
    assert "unsafe" not in response.headers["Content-Security-Policy"]
    assert response.headers["X-Content-Type-Options"] == "nosniff"


async def test_what_the_browser_has_is_not_sent_again(client: aiohttp.ClientSession) -> None:
    async with client.get("/static/main.js") as response:
        etag = response.headers["ETag"]
        assert response.headers["Cache-Control"] == "no-cache"
    for known, status in ((etag, 304), (f'"other", W/{etag}', 304), ("*", 304), ('"other"', 200)):
        async with client.get("/static/main.js", headers={"If-None-Match": known}) as response:
            body = await response.read()
            assert (response.status, bool(body)) == (status, status == 200)
            assert response.headers["ETag"] == etag
    async with client.get("/static/page.css") as response:
        assert response.headers["ETag"] != etag


@pytest.mark.parametrize(
    "path",
    [
        "/static/../page.py",
        "/static/..%2Fpage.py",
        "/static/%2e%2e/page.py",
        "/static/..%5Cpage.py",
        "/static//etc/passwd",
        "/static/%2Fetc%2Fpasswd",
        "/static/",
        "/static/none.js",
        "/static/main.js%00.css",
    ],
)
async def test_no_name_leads_out_of_the_folder(path: str) -> None:
    async with serving(FakeSpeaker()) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.runner.addresses[0][1])
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
    assert answer.split()[1] in (b"400", b"404")
    assert b"docstring" not in answer and b"root:" not in answer and b"import" not in answer


def test_the_files_name_no_other_host_and_only_each_other() -> None:
    for path in STATIC.iterdir():
        if path.suffix in (".png", ".flac"):
            continue
        text = path.read_text()
        hosts = {*re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", text)} - {"http://www.w3.org"}
        assert not hosts, path.name
        assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(|style=|on(click|load)=", text)
        for name in re.findall(r'(?:"\./|"static/)([a-z.]+)"', text):
            assert (STATIC / name).is_file(), name


def test_every_module_is_short() -> None:
    assert [path.name for path in STATIC.glob("*.js") if len(path.read_text().splitlines()) >= 150] == []
