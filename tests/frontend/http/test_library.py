"""The library of each key: kept, fetched, the oldest of too many gone, and nothing for another key or without one."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from frontend.http import library
from frontend.settings.front import FrontSettings
from tests.frontend.http_fakes import FakeSpeaker, serving

KEY = {"Authorization": "Bearer first"}


@pytest.fixture
async def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[aiohttp.ClientSession]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with (
        serving(FakeSpeaker(), FrontSettings(api_keys=("first", "second"))) as server,
        aiohttp.ClientSession(server.url) as session,
    ):
        yield session


def text(name: str, at: int, **more: Any) -> dict[str, Any]:
    place = {"line": 1, "offset": 2}
    return {
        "id": name,
        "title": "A",
        "paragraphs": [{"kind": "p", "text": "B"}],
        "place": place,
        "part": 0.5,
        "at": at,
    } | more


async def put(client: aiohttp.ClientSession, body: dict[str, Any], name: str = "") -> int:
    async with client.put(f"/v1/library/{name or body['id']}", json=body, headers=KEY) as response:
        return response.status


async def names(client: aiohttp.ClientSession, headers: dict[str, str] = KEY) -> dict[str, int]:
    async with client.get("/v1/library", headers=headers) as response:
        return {each["id"]: each["at"] for each in (await response.json())["texts"]}


async def test_a_text_is_kept_as_it_was_sent_for_its_key_alone(client: aiohttp.ClientSession) -> None:
    sent = text("1-a", 1_790_000_000_123, marks=[{"place": {"line": 0}, "later": 1}], later=[1])
    assert await put(client, sent) == 200
    assert await names(client) == {"1-a": 1_790_000_000_123}
    async with client.get("/v1/library/1-a", headers=KEY) as response:
        assert await response.json() == sent
    for headers, status in (({"Authorization": "Bearer second"}, 404), ({}, 401)):
        async with client.get("/v1/library/1-a", headers=headers) as response:
            assert response.status == status
    assert await names(client, {"Authorization": "Bearer second"}) == {}


async def test_the_oldest_of_too_many_go_by_their_own_time(
    client: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "MOST", 2)
    for name, at in (("b", 3), ("a", 1), ("c", 2)):
        assert await put(client, text(name, at)) == 200
    assert await names(client) == {"b": 3, "c": 2}


@pytest.mark.parametrize(
    "body, name, status",
    [
        (text("a", 1), "b", 400),
        (text("a", -1), "a", 400),
        (text("a", 1 << 44), "a", 400),
        ({"id": "a"}, "a", 400),
        (text("..", 1), "%2e%2e", 404),
        (text("a", 1), "A", 404),
    ],
)
async def test_nothing_else_is_taken(
    client: aiohttp.ClientSession, body: dict[str, Any], name: str, status: int
) -> None:
    assert await put(client, body, name) == status
    assert await names(client) == {}


async def test_a_server_without_keys_keeps_nothing_and_a_full_disk_is_told(
    client: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        serving(FakeSpeaker()) as server,
        aiohttp.ClientSession(server.url) as other,
        other.get("/v1/library") as response,
    ):
        assert (response.status, (await response.json())["error"]["code"]) == (403, "api_key_not_configured")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(library, "write_whole", full)
    assert await put(client, text("a", 1)) == 503
