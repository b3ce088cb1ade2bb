"""The player's operations over HTTP, with a player that does what a test wrote down."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random

import aiohttp
import msgspec
import pytest

from frontend.contract.errors import ApiError
from frontend.http.play import PlayAccepted, PlayState
from frontend.settings.front import FrontSettings
from shm.playing import Change, Item, PlayedWord, PlayerState, Playing, QueuedItem, Verb, WhenBusy
from tests.frontend.http_fakes import FakeSpeaker, serving


class FakePlayer:
    """Notes what it is told; says the states and words that a test puts into `told`."""

    key = ""

    def __init__(self) -> None:
        self.state = PlayerState()
        self.items: list[tuple[Item, WhenBusy]] = []
        self.verbs: list[Verb] = []
        self.removed: list[str] = []
        self.changes: list[Change] = []
        self.refusal: Exception | None = None
        self.told: asyncio.Queue[PlayerState | PlayedWord] = asyncio.Queue()

    async def play(self, item: Item, on_busy: WhenBusy) -> int:
        if self.refusal:
            raise self.refusal
        self.items.append((item, on_busy))
        return len(self.items) - 1

    async def extend(self, name: str, longer: Callable[[Item], Item]) -> None:
        for at, (item, on_busy) in enumerate(self.items):
            if item.id == name and item.rest is not None:
                self.items[at] = longer(item), on_busy
                return
        raise ApiError(404, "There is no such text.", param="id", code="not_found")

    async def steer(self, verb: Verb) -> None:
        self.verbs.append(verb)

    async def remove(self, name: str) -> None:
        if self.refusal:
            raise self.refusal
        self.removed.append(name)

    async def change(self, change: Change) -> None:
        if self.refusal:
            raise self.refusal
        self.changes.append(change)

    async def events(self) -> AsyncIterator[PlayerState | PlayedWord]:
        yield self.state
        while True:
            yield await self.told.get()


@asynccontextmanager
async def playing(
    speaker: FakeSpeaker | None = None, settings: FrontSettings | None = None
) -> AsyncIterator[tuple[FakePlayer, aiohttp.ClientSession]]:
    player = FakePlayer()
    async with (
        serving(speaker or FakeSpeaker(), settings, player=player) as server,
        aiohttp.ClientSession(server.url) as client,
    ):
        yield player, client


async def test_a_text_is_taken_and_gets_its_place() -> None:
    async with playing() as (player, client):
        wanted = {"input": "Hello.", "speed": 1.5, "on_busy": "next", "title": "T", "source": "S", "voice": "am_echo"}
        await client.post("/v1/play", json={"input": "First."})
        async with client.post("/play", json=wanted) as response:
            assert response.status == 202
            answer = msgspec.json.decode(await response.read(), type=PlayAccepted)
    (first, default), (item, on_busy) = player.items
    assert (default, first.voice, first.speed) == (WhenBusy.INTERRUPT, "af_heart", 1.0)
    assert (answer.id, answer.position_in_queue) == (item.id, 1)
    assert (item.input, item.voice, item.speed, item.title, item.source) == ("Hello.", "am_echo", 1.5, "T", "S")
    assert on_busy is WhenBusy.NEXT


@pytest.mark.parametrize("seed", range(8))
async def test_a_text_that_comes_in_pieces_is_taken_once_and_sounds_by_sentences(seed: int) -> None:
    random = Random(seed)
    text = "Dr. Bell pays 3.50 today. Is it enough?\n\n- One item\n- Another, e.g. this one\n\nThe end is near"
    async with playing() as (player, client):
        at = random.randrange(len(text))
        async with client.post("/v1/play", json={"input": text[:at], "more": True}) as response:
            name = (await response.json())["id"]
        while at < len(text):
            item = player.items[0][0]
            assert item.rest is not None and not item.input.endswith(("Dr. ", "3.", "e.g. "))
            assert item.input + item.rest == text[:at]
            offset = max(at - random.choice((0, 0, 5)), 0)  # a repeated request brings again what is there
            at = min(at + random.randrange(12), len(text))
            body = {"input": text[offset:at], "offset": offset, "more": True}
            async with client.post(f"/v1/play/{name}", json=body) as response:
                assert response.status == 200
        assert player.items[0][0].input == text.removesuffix("The end is near")
        async with client.post(f"/v1/play/{name}", json={"input": "x", "offset": at + 1}) as response:
            assert (response.status, (await response.json())["error"]["param"]) == (409, "offset")
        await client.post(f"/v1/play/{name}", json={"input": "."})
        assert (player.items[0][0].input, player.items[0][0].rest) == (text + ".", None)
        async with client.post(f"/v1/play/{name}", json={"input": "."}) as response:
            assert response.status == 404


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({}, "input", "missing_required"),
        ({"input": " \n"}, "input", "unspeakable"),
        ({"input": "Hello.", "voice": "nobody"}, "voice", "unknown_voice"),
        ({"input": "Hello.", "lang": "xx"}, "lang", "unknown_language"),
        ({"input": "Hello.", "speed": 9}, "speed", "invalid_value"),
        ({"input": "Hello.", "on_busy": "shout"}, "on_busy", "invalid_value"),
        ({"input": "x" * 101}, "input", "string_above_max_length"),
    ],
)
async def test_a_text_that_can_not_be_played_names_its_field(body: dict[str, object], param: str, code: str) -> None:
    settings = FrontSettings(max_input_characters=100)
    async with playing(settings=settings) as (player, client), client.post("/v1/play", json=body) as response:
        error = (await response.json())["error"]
    assert (response.status, error["param"], error["code"], player.items) == (400, param, code, [])


async def test_fields_without_effect_are_named() -> None:
    async with playing() as (_, client):
        async with client.post("/v1/play", json={"input": "Hi.", "text": "Ho.", "pitch": 2}) as response:
            assert (response.status, response.headers["X-Warning"]) == (202, "no effect: pitch, text")
        async with client.patch("/v1/play", json={"volume": 0.5, "pitch": 2}) as response:
            assert (response.status, response.headers["X-Warning"]) == (200, "no effect: pitch")


async def test_a_body_too_long_is_refused_before_it_is_read() -> None:
    async with playing(settings=FrontSettings(max_body_bytes=500_000)) as (player, client):
        body = json.dumps({"input": "x" * 900_000}).encode()
        async with client.post("/v1/play", data=body) as response:
            assert response.status == 413
    assert not player.items


async def test_an_engine_that_is_missing_answers_503() -> None:
    mute = FakeSpeaker(engine=None)
    async with playing(mute) as (_, client), client.post("/v1/play", json={"input": "Hello."}) as response:
        assert (response.status, response.headers["Retry-After"]) == (503, "3")


@pytest.mark.parametrize("verb", [*Verb])
async def test_a_command_is_passed_on_and_answered_with_the_state(verb: Verb) -> None:
    async with playing() as (player, client):
        player.state = PlayerState(
            state=Playing.PAUSED, id="a", sentence="Hello.", seconds=0.5, queue=(QueuedItem("b", "", "", 3, "v"),)
        )
        async with client.post(f"/v1/play/{verb.value}") as response:
            body = await response.read()
        async with client.get("/v1/play") as asked:
            assert await asked.read() == body
    state = msgspec.json.decode(body, type=PlayState)
    assert msgspec.to_builtins(state) == json.loads(body), "nothing is left undescribed"
    assert (response.status, player.verbs, state.state, state.queue[0].id) == (200, [verb], "paused", "b")


async def test_one_text_is_ended_by_its_id() -> None:
    async with playing() as (player, client):
        async with client.delete("/v1/play/play-a") as response:
            assert (response.status, (await response.json())["state"]) == (200, "idle")
        player.refusal = ApiError(404, "There is no such text.", param="id", code="not_found")
        async with client.delete("/v1/play/play-b") as response:
            assert (response.status, (await response.json())["error"]["code"]) == (404, "not_found")
    assert player.removed == ["play-a"]


async def test_a_change_is_checked_and_passed_on() -> None:
    async with playing() as (player, client):
        async with client.patch("/v1/play", json={"speed": 2, "voice": "am_echo", "volume": 0.5}) as response:
            assert response.status == 200
        for wrong in ({"voice": "nobody"}, {"volume": 2}, {"seek": -1}, {"seek": 1, "sentence": 2}, {"speed": 0}):
            async with client.patch("/v1/play", json=wrong) as response:
                assert response.status == 400, wrong
        player.refusal = ApiError(400, "There are 12 seconds.", param="seek", code="seek_beyond_end")
        async with client.patch("/v1/play", json={"seek": 99}) as response:
            assert (await response.json())["error"]["code"] == "seek_beyond_end"
    assert player.changes == [Change(speed=2, voice="am_echo", volume=0.5)]


async def test_events_begin_with_the_state_and_follow_it() -> None:
    async with playing() as (player, client), client.get("/v1/play/events") as response:
        assert response.content_type == "text/event-stream"
        assert b"event: state" in await response.content.readuntil(b"\n\n")
        player.told.put_nowait(PlayedWord("a", "Hello", 0, 0.1))
        kind, data = (await response.content.readuntil(b"\n\n")).decode().strip().split("\n")
    assert kind == "event: word"
    assert json.loads(data.removeprefix("data: ")) == {"id": "a", "word": "Hello", "sentence_number": 0, "seconds": 0.1}


@pytest.mark.parametrize("sent", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
async def test_pages_of_other_sites_neither_play_nor_listen(sent: dict[str, str]) -> None:
    async with playing() as (player, client):
        for method, path in (
            ("GET", "/v1/play"),
            ("POST", "/v1/play/toggle"),
            ("GET", "/v1/play/events"),
            ("DELETE", "/v1/play/play-a"),
        ):
            async with client.request(method, path, headers=sent) as response:
                assert response.status == 403
    assert not player.verbs and not player.removed


async def test_clients_of_other_machines_need_a_key() -> None:
    elsewhere = {"X-Forwarded-For": "203.0.113.9"}
    async with playing() as (_, client), client.post("/v1/play/stop", headers=elsewhere) as response:
        assert response.status == 403
        assert (await response.json())["error"]["code"] == "api_key_not_configured"
    async with playing(settings=FrontSettings(api_keys=("sesame",))) as (player, client):
        async with client.post("/v1/play/stop") as response:
            assert response.status == 401
        async with client.post("/v1/play/stop", headers={"Authorization": "Bearer sesame"}) as response:
            assert response.status == 200
    assert player.verbs == [Verb.STOP]


async def test_looking_is_not_counted_against_the_rate() -> None:
    async with playing(settings=FrontSettings(requests_per_minute=1)) as (_, client):
        for _ in range(4):
            async with client.get("/v1/play") as response:
                assert response.status == 200
        statuses = []
        for _ in range(2):
            async with client.post("/v1/play/pause") as response:
                statuses.append(response.status)
    assert statuses == [200, 429]
