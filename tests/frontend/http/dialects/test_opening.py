"""A socket from its opening to its end: the key, contexts and their tasks, alignments that sum to the words' times."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from hypothesis import given
from hypothesis import strategies as st

from frontend.audio.formats import OutputFormat
from frontend.contexts.context import Context
from frontend.contexts.journal import SocketJournal
from frontend.contract.errors import ApiError
from frontend.dialects.cartesia import CartesiaError
from frontend.dialects.deepgram import DeepgramError
from frontend.dialects.elevenlabs import ElevenLabsError, TimedLines
from frontend.dialects.elevenlabs_answers import Alignments
from frontend.dialects.open_contexts import REMEMBERED, OpenContexts
from frontend.settings.front import FrontSettings
from shm.timing import WordTiming
from tests.frontend.contexts_desk import ASKED, ContextDesk
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
from tests.frontend.scripted_worker import DEADLINE


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
    schema = {ELEVENLABS: ElevenLabsError, CARTESIA: CartesiaError, DEEPGRAM: DeepgramError}
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


class Socket:
    """A socket's contexts, each listened to until `heard` is set."""

    def __init__(self, desk: ContextDesk) -> None:
        self.heard = asyncio.Event()
        self.ended = asyncio.Event()
        request = make_mocked_request("GET", "/", app=web.Application())
        self.contexts = OpenContexts(request, desk.services, SocketJournal(None), self._listen, self.ended.set)

    async def _listen(self, key: str, context: Context) -> None:
        await self.heard.wait()
        self.contexts.drop(key, only=context, remember=False)


@pytest.fixture
async def desk() -> AsyncIterator[ContextDesk]:
    made = ContextDesk()
    yield made
    made.close()


@pytest.fixture
async def socket(desk: ContextDesk) -> AsyncIterator[Socket]:
    made = Socket(desk)
    yield made
    await made.contexts.drop_all()


async def test_the_end_of_a_context_leaves_a_later_one_of_the_same_name(socket: Socket) -> None:
    first = socket.contexts.open("a", ASKED, OutputFormat())
    assert socket.contexts.drop("a", remember=False)
    second = socket.contexts.open("a", ASKED, OutputFormat())
    assert not socket.contexts.drop("a", only=first)
    assert socket.contexts.get("a") is second
    assert socket.contexts.drop("a", only=second) and not socket.contexts


async def test_the_names_of_the_last_closed_contexts_are_remembered(socket: Socket) -> None:
    for number in range(REMEMBERED + 1):
        socket.contexts.open(f"c{number}", ASKED, OutputFormat())
        socket.contexts.drop(f"c{number}")
    with pytest.raises(ApiError, match="'c1' has been closed"):
        socket.contexts.open("c1", ASKED, OutputFormat())
    assert socket.contexts.open("c0", ASKED, OutputFormat())


async def test_a_socket_is_over_once_all_events_of_its_contexts_were_sent(socket: Socket) -> None:
    context = socket.contexts.open("a", ASKED, OutputFormat())
    socket.contexts.finish()
    assert context.finished and not socket.contexts.over
    with pytest.raises(ApiError, match="closing"):
        socket.contexts.open("b", ASKED, OutputFormat())
    socket.heard.set()
    async with asyncio.timeout(DEADLINE):
        await socket.ended.wait()
    assert socket.contexts.over and socket.contexts.get("a") is None


async def test_closing_leaves_neither_context_nor_task(desk: ContextDesk, socket: Socket) -> None:
    before = asyncio.all_tasks()
    for name in "ab":
        socket.contexts.open(name, ASKED, OutputFormat())
    await socket.contexts.drop_all()
    assert not socket.contexts and desk.services.open.contexts == 0
    assert asyncio.all_tasks() == before


def word(text: str, start: float, end: float) -> WordTiming:
    return WordTiming(text, text.upper(), start, end)


def check(alignment: dict[str, Any], milliseconds: int) -> None:
    starts, durations = alignment["charStartTimesMs"], alignment["charDurationsMs"]
    assert len(alignment["chars"]) == len(starts) == len(durations)
    assert all(earlier <= later for earlier, later in pairwise(starts))
    assert all(duration >= 0 for duration in durations)
    assert starts[-1] + durations[-1] == milliseconds
    assert alignment["chars"][-1] == " ", "a word is complete at its space"


def test_words_are_in_the_message_in_which_they_begin() -> None:
    alignments = Alignments()
    alignments.add([word("Hello", 0.05, 0.4), word("you", 0.45, 0.9)])
    first = alignments.cover(0.1)
    assert first is not None
    check(first[0], 100)
    assert "".join(first[0]["chars"]) == "Hello " and first[0]["charStartTimesMs"][0] == 50
    assert "".join(first[1]["chars"]) == "HELLO "
    assert alignments.cover(0.2) is None and alignments.cover(0.4) is None
    second = alignments.cover(0.5)
    assert second is not None
    check(second[0], 400)
    assert second[0]["charStartTimesMs"][0] == 350, "relative to the last alignment's end, at 0.1 s"


def test_absolute_times_need_no_clock_of_the_client() -> None:
    alignments = Alignments(absolute=True)
    alignments.add([word("Hello", 0.05, 0.4), word("you", 0.45, 0.9)])
    first, second = alignments.cover(0.42), alignments.cover(1.0)
    assert first and second
    assert (first[0]["charStartTimesMs"][0], second[0]["charStartTimesMs"][0]) == (50, 450)
    assert second[0]["charStartTimesMs"][-1] + second[0]["charDurationsMs"][-1] == 1000


@given(st.lists(st.tuples(st.floats(0, 0.5), st.floats(0.02, 0.6)), min_size=1, max_size=20), st.floats(0.02, 0.7))
def test_a_clients_running_clock_finds_every_word(gaps: list[tuple[float, float]], step: float) -> None:
    words, now = [], 0.0
    for number, (gap, length) in enumerate(gaps):
        words.append(word(f"w{number}", now + gap, now + gap + length))
        now += gap + length
    alignments = Alignments()
    alignments.add(words)
    clock, found, sent = 0, [], 0.0
    while sent <= now:
        sent += step
        if each := alignments.cover(sent):
            written = each[0]
            text = "".join(written["chars"])
            place = 0
            for part in text.split():
                found.append((part, clock + written["charStartTimesMs"][text.index(part, place)]))
                place = text.index(part, place) + len(part)
            clock += written["charStartTimesMs"][-1] + written["charDurationsMs"][-1]
            assert clock == round(sent * 1000)
    assert [text for text, _ in found] == [each.word for each in words]
    for (_, at), each in zip(found, words, strict=True):
        assert at == pytest.approx(each.start * 1000, abs=1)


def test_the_one_shot_form_is_in_seconds() -> None:
    found = msgspec.json.decode(TimedLines().whole(b"", [word("Hi", 0.1, 0.5)], 0.75))
    written, said = found["alignment"], found["normalized_alignment"]
    assert written["characters"] == ["H", "i", " "] and said["characters"] == ["H", "I", " "]
    assert written["character_start_times_seconds"] == [0.1, 0.3, 0.5]
    assert written["character_end_times_seconds"] == [0.3, 0.5, 0.75]
    assert msgspec.json.decode(TimedLines().whole(b"", [], 1.0))["alignment"]["characters"] == []
