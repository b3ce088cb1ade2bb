"""Each dialect's own messages, recorded ones of real clients too: what ends a text, cancels it, and is answered."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from frontend.dialects.deepgram import SocketTurn
from frontend.settings.front import FrontSettings
from tests.frontend.http.dialects_desk import Office, closed, next_json, office, pcm, until

SENTENCE = "This is the first sentence of them all. "
CARTESIA = {
    "context_id": "a",
    "voice": {"mode": "id", "id": "af_heart"},
    "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000},
}


async def test_elevenlabs_single_context_ends_with_an_empty_text() -> None:
    path = "/v1/text-to-speech/af_heart/stream-input?output_format=pcm_24000"
    async with office() as desk, desk.connect(path) as socket:
        await socket.send_json({"text": " ", "voice_settings": {"speed": 1.1}, "xi_api_key": "any"})
        await socket.send_json({"text": SENTENCE})
        await socket.send_json({"text": "And another one ", "try_trigger_generation": True})
        await socket.send_json({"text": ""})
        answers = await until(socket, "isFinal")
        assert len(pcm(answers, "audio")) > 24_000
        assert not any("contextId" in answer for answer in answers)
        assert await closed(socket) == 1000


async def test_elevenlabs_keeps_alive_and_closes_on_request() -> None:
    path = "/v1/text-to-speech/af_heart/multi-stream-input?output_format=ulaw_8000"
    async with office() as desk, desk.connect(path) as socket:
        await socket.send_json({"text": "", "context_id": "a"})
        await socket.send_json({"context_id": "a", "flush": True})
        await socket.send_json({"text": f"{SENTENCE}It is not whole", "contextId": "b"})
        await socket.send_json({"close_socket": True})
        answers = await until(socket, "isFinal")
        assert {answer["contextId"] for answer in answers} == {"b"}
        assert await closed(socket) == 1000


async def test_a_text_without_a_sound_is_answered_with_a_short_silence() -> None:
    path = "/v1/text-to-speech/af_heart/multi-stream-input?output_format=pcm_24000"
    async with office() as desk, desk.connect(path) as socket:
        await socket.send_json({"text": "*** ", "context_id": "a", "flush": True})
        await socket.send_json({"context_id": "a", "close_context": True})
        samples = pcm(await until(socket, "isFinal"), "audio")
        assert len(samples) == 2400 and not samples.any()


async def test_cartesia_reports_flushes_and_its_end() -> None:
    async with office() as desk, desk.connect("/tts/websocket") as socket:
        await socket.send_json({**CARTESIA, "transcript": "Not whole", "continue": True, "flush": True})
        answers = [await next_json(socket)]
        while answers[-1]["type"] != "flush_done":
            answers.append(await next_json(socket))
        assert answers[-1]["flush_id"] == 1 and {each["type"] for each in answers[:-1]} == {"chunk"}
        await socket.send_json({**CARTESIA, "transcript": " and whole.", "continue": False})
        answers = await until(socket, "done")
        assert {each.get("flush_id") for each in answers[:-1]} == {1}
        assert answers[-1] == {"type": "done", "done": True, "status_code": 200, "context_id": "a"}
        await socket.send_json({**CARTESIA, "transcript": "The name again.", "continue": False})
        assert len(pcm(await until(socket, "done"), "data")) > 24_000


async def test_cartesia_speaks_an_unfinished_sentence_after_the_clients_delay() -> None:
    async with office() as desk, desk.connect("/tts/websocket") as socket:
        message = {**CARTESIA, "transcript": "and so on and", "continue": True}
        await socket.send_json({**message, "max_buffer_delay_ms": 300})
        assert (await next_json(socket))["type"] == "chunk"
        await socket.send_json({**message, "context_id": "b", "max_buffer_delay_ms": 0})
        while (await next_json(socket))["context_id"] != "b":
            pass


async def test_cartesia_cancels_at_once() -> None:
    async with office() as desk, desk.connect("/tts/websocket") as socket:
        await socket.send_json({**CARTESIA, "transcript": SENTENCE * 50, "continue": True})
        assert (await next_json(socket))["type"] == "chunk"
        await socket.send_json({"context_id": "a", "cancel": True})
        samples = pcm(await until(socket, "done"), "data")
        assert len(samples) < 50 * len(SENTENCE) * 1680 / 2
        assert not desk.scheduler._shared.streams


async def test_deepgram_clears_and_warns() -> None:
    async with office() as desk, desk.connect("/v1/speak?model=af_heart&encoding=mulaw&sample_rate=8000") as socket:
        greeting = await next_json(socket)
        assert greeting["type"] == "Metadata" and greeting["model_name"] == "af_heart"
        await socket.send_json({"type": "Speak", "text": SENTENCE * 50})
        assert (await socket.receive(timeout=60)).type is aiohttp.WSMsgType.BINARY
        await socket.send_json({"type": "Clear"})
        await socket.send_json({"type": "Flush"})
        await socket.send_json({"type": "Sing"})
        told = []
        while len(told) < 3:
            message = await socket.receive(timeout=60)
            if message.type is aiohttp.WSMsgType.TEXT:
                told.append(message.json())
        assert told[:2] == [{"type": "Cleared", "sequence_id": 0}, {"type": "Flushed", "sequence_id": 1}]
        assert told[2]["type"] == "Warning" and told[2]["description"] == told[2]["warn_msg"]
        await socket.send_json({"type": "Speak", "text": "Heard again."})
        await socket.send_json({"type": "Close"})
        assert (await socket.receive(timeout=60)).type is aiohttp.WSMsgType.BINARY
        assert await closed(socket) == 1000


TURN = {"input_character_count": len(SENTENCE), "billable_character_count": len(SENTENCE)}


async def test_deepgram_s_turns_are_told_and_interrupted() -> None:
    """The second turn is queued, the third interrupted in its middle, the fourth faster."""

    async def until_told(kind: str) -> tuple[dict[str, Any], int]:
        seconds = 0
        while (message := await socket.receive(timeout=60)).type is aiohttp.WSMsgType.BINARY or (
            message.json()["type"] != kind
        ):
            seconds += len(message.data) if message.type is aiohttp.WSMsgType.BINARY else 0
        return message.json(), round(seconds / 48)

    async with office() as desk, desk.connect("/v2/speak?model=af_heart") as socket:
        assert len((await until_told("Connected"))[0]["model_uuids"]) == 1
        for wrong in ("Flush", "Interrupt"):
            await socket.send_json({"type": wrong})
        assert [(await next_json(socket))["code"] for _ in range(2)] == ["NO_ACTIVE_SPEECH", "NO_AUDIO_GENERATED"]
        for _ in range(2):
            await socket.send_json({"type": "Speak", "text": SENTENCE})
            await socket.send_json({"type": "Flush"})
        ends = [await until_told("SpeechMetadata") for _ in range(2)]
        for number, (end, played) in enumerate(ends, 1):
            assert end["speech_id"] == f"dg_sp_{number:012x}" and TURN.items() <= end.items()
            assert end["audio_duration_ms"] == pytest.approx(played, abs=1)
        await socket.send_json({"type": "Speak", "text": SENTENCE * 50})
        before = sum(played for _, played in ends)
        while (message := await socket.receive(timeout=60)).type is not aiohttp.WSMsgType.BINARY:
            assert message.json()["type"] == "SpeechStarted"
        await socket.send_json({"type": "Interrupt", "playback_offset": {"type": "time_ms", "value": before + 20}})
        told, _ = await until_told("SpeechInterrupted")
        assert "text_spoken" not in told  # this engine tells no times of words
        assert told["audio_played_ms"] == before + 20 and told["metadata"]["speech_id"].endswith("3")
        await socket.send_json({"type": "Configure", "speed": 9})
        assert (await next_json(socket))["code"] == "SPEED_OUT_OF_RANGE"
        await socket.send_json({"type": "Configure", "speed": 2})
        assert (await next_json(socket))["applied"] == {"speed": 2}
        for message in ({"type": "Speak", "text": SENTENCE}, {"type": "Close"}):
            await socket.send_json(message)
        faster, _ = await until_told("SpeechMetadata")
        assert [round(each.speed, 2) for each in (desk.workers[0].orders[0], desk.workers[0].orders[-1])] == [1, 2]
        totals, _ = await until_told("SessionMetadata")
        assert totals["total_audio_duration_ms"] == pytest.approx(before + 20 + faster["audio_duration_ms"], abs=2)
        assert totals["total_input_character_count"] == len(SENTENCE) * 53
        assert await closed(socket) == 1000
        await desk.nothing_is_left()


@pytest.mark.parametrize(
    ("until", "spoken"), [(0, ""), (100, "The"), (701, "The man, the"), (9000, "The man, the man.")]
)
def test_a_turn_knows_what_was_heard_of_it(until: int, spoken: str) -> None:
    words = [(0, "The"), (300, "man,"), (600, "the"), (800, "man.")]
    turn = SocketTurn("dg_sp_1", 18, text="The man, the man. ", words=words)
    assert turn.heard(until) == {"text_spoken": spoken, "text_remaining": "The man, the man. "[len(spoken) :]}
    assert not SocketTurn("dg_sp_2", 20, text="the man. ", words=words).heard(
        until
    )  # its beginning was another front's


ONE_SHOTS = [
    ("/v1/text-to-speech/af_heart?output_format=pcm_24000", {"text": SENTENCE}, "audio/pcm"),
    ("/v1/text-to-speech/af_heart/stream", {"text": SENTENCE, "voice_settings": {"speed": 1.2}}, "audio/mpeg"),
    ("/tts/bytes", {**CARTESIA, "transcript": SENTENCE}, "audio/pcm"),
    (
        "/tts/bytes",
        {**CARTESIA, "transcript": SENTENCE, "output_format": {"container": "wav", "sample_rate": 16_000}},
        "audio/wav",
    ),
    ("/v1/speak?model=af_heart", {"text": SENTENCE}, "audio/mpeg"),
    ("/v1/speak?model=af_heart&encoding=linear16&container=none", {"text": SENTENCE}, "audio/pcm"),
    ("/v1/speak?encoding=mulaw", {"text": SENTENCE}, "audio/basic"),
]


@pytest.mark.parametrize(("path", "body", "content_type"), ONE_SHOTS)
async def test_one_shot_calls_are_answered_with_audio(path: str, body: object, content_type: str) -> None:
    async with office() as desk:
        async with desk.post(path, body) as response:
            assert response.status == 200, await response.text()
            assert response.content_type == content_type
            assert len(await response.read()) > 4000
        await desk.nothing_is_left()


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/text-to-speech/af_heart?output_format=pcm_24000", "text"),
        ("/v1/text-to-speech/af_heart/with-timestamps", "text"),
        ("/v1/text-to-speech/af_heart/stream/with-timestamps", "text"),
        ("/tts/bytes", "transcript"),
        ("/v1/speak", "text"),
    ],
)
@pytest.mark.parametrize(("text", "speakable"), [("*** ", "none"), ("Two words.", None)])
async def test_a_one_shot_call_says_if_its_text_has_no_sound(
    path: str, field: str, text: str, speakable: str | None
) -> None:
    async with office() as desk:
        async with desk.post(
            path, {field: text, **({"voice": "af_heart"} if path == "/tts/bytes" else {})}
        ) as response:
            assert (response.status, response.headers.get("X-Speakable")) == (200, speakable)
            assert response.headers["X-Engine"] and response.headers["X-Sample-Rate"]
            assert len(await response.read()) > 1000
        await desk.nothing_is_left()


async def test_elevenlabs_one_shot_calls_with_times() -> None:
    path = "/v1/text-to-speech/af_heart"
    async with office() as desk:
        async with desk.post(f"{path}/with-timestamps?output_format=pcm_24000", {"text": SENTENCE}) as response:
            whole = await response.json()
        assert whole.keys() == {"audio_base64", "alignment", "normalized_alignment"}
        async with desk.post(f"{path}/stream/with-timestamps?output_format=pcm_24000", {"text": SENTENCE}) as response:
            lines = (await response.text()).splitlines()
        assert len(lines) > 5


async def test_audio_in_one_object_is_no_longer_than_a_clip() -> None:
    path = "/v1/text-to-speech/af_heart/with-timestamps?output_format=pcm_24000"
    async with office(FrontSettings(max_streams=8, max_clip_seconds=2)) as desk:
        async with desk.post(path, {"text": "Two words."}) as response:
            assert response.status == 200
        async with desk.post(path, {"text": SENTENCE * 9}) as response:
            assert (response.status, (await response.json())["detail"]["status"]) == (400, "clip_too_long")
        await desk.nothing_is_left()


@pytest.mark.parametrize("encoding", ["mp3", "opus", "aac"])
async def test_every_bit_rate_is_made_or_refused(encoding: str) -> None:
    statuses = []
    async with office() as desk:
        for bit_rate in (7_999, 8_000, 256_000, 320_000, 320_001):
            path = f"/v1/speak?encoding={encoding}&bit_rate={bit_rate}&sample_rate=48000"
            async with desk.post(path, {"text": "Two words."}) as response:
                statuses.append(response.status)
                assert await response.read()
    assert statuses == [400, 200, 200, 400 if encoding == "opus" else 200, 400]


@pytest.mark.parametrize(
    ("path", "body", "form"),
    [
        ("/v1/text-to-speech/nobody", {"text": "Hi."}, {"detail"}),
        ("/v1/text-to-speech/af_heart", {"text": " "}, {"detail"}),
        ("/v1/text-to-speech/af_heart", [1], {"detail"}),
        (
            "/tts/bytes",
            {"transcript": "Hi.", "voice": "nobody"},
            {"title", "message", "error_code", "status_code", "request_id"},
        ),
        ("/v1/speak?model=nobody", {"text": "Hi."}, {"err_code", "err_msg", "request_id"}),
    ],
)
async def test_errors_of_one_shot_calls_have_the_services_form(path: str, body: object, form: set[str]) -> None:
    async with office() as desk, desk.post(path, body) as response:
        assert response.status == 400
        assert (await response.json()).keys() == form


LINES = [json.loads(line) for line in Path(__file__).with_name("recorded.jsonl").read_text().splitlines()]


def conversations() -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    found: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    for line in LINES:
        if line["dir"] == "open":
            found.append((line, []))
        else:
            found[-1][1].append(line["m"])
    return found


@pytest.mark.parametrize(("opening", "messages"), conversations())
async def test_a_recorded_conversation_is_answered(opening: dict[str, Any], messages: list[dict[str, Any]]) -> None:
    async with office() as desk, desk.connect(opening["path"], opening["headers"]) as socket:
        if "speak" in opening["path"]:
            await deepgram(socket, messages)
        elif "tts/websocket" in opening["path"]:
            for message in messages:
                await socket.send_json(message)
            answers = await until(socket, "done")
            assert all({"type", "context_id"} <= each.keys() for each in answers)
            assert sum(each["type"] == "chunk" for each in answers) > 20
        else:
            for message in messages:
                await socket.send_json(message)
            names = {each["context_id"] for each in messages if "context_id" in each}
            answers = [answer for _ in names for answer in await until(socket, "isFinal")]
            assert all(each["contextId"] == each["context_id"] for each in answers)
            for name in names:
                assert sum(bool(each["audio"]) and each["contextId"] == name for each in answers) > 20
        await socket.close()
        await desk.nothing_is_left()


async def deepgram(socket: aiohttp.ClientWebSocketResponse, messages: list[dict[str, Any]]) -> None:
    assert (await next_json(socket))["type"] == "Metadata"
    for message in messages:
        await socket.send_json(message)
    audio, told = b"", []
    async for answer in socket:
        if answer.type is aiohttp.WSMsgType.BINARY:
            audio += answer.data
            assert not told, "all audio precedes its flush"
        else:
            told.append(answer.json())
    assert len(audio) > 48_000
    flushes = sum(message["type"] == "Flush" for message in messages)
    assert told == [{"type": "Flushed", "sequence_id": number} for number in range(flushes)]
    assert socket.close_code == aiohttp.WSCloseCode.OK


SLOWLY = 0.3


async def in_two_parts(body: bytes) -> AsyncIterator[bytes]:
    yield body[:5]
    await asyncio.sleep(SLOWLY)
    yield body[5:]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/text-to-speech/af_heart", b'{"text": "Hello there."}'),
        ("/v1/speak?model=af_heart", b'{"text": "Hello there."}'),
        ("/tts/bytes", b'{"transcript": "Hello there.", "voice": {"mode": "id", "id": "af_heart"}}'),
    ],
)
async def test_the_body_s_way_counts(path: str, body: bytes) -> None:
    async with office() as desk:
        async with desk.session.post(desk.url + path, data=in_two_parts(body)) as response:
            assert response.status == 200, await response.text()
            await response.read()
        spent = desk.metrics.registry.get_sample_value("kokoro_live_time_to_first_audio_seconds_sum")
        assert spent and spent >= SLOWLY * 0.9


PATH = "/v1/text-to-speech/af_heart"
PRICE = "The ticket for the concert costs $250."
IN_WORDS = "two hundred"


def scripts(desk: Office) -> str:
    """The text that the engine was given."""
    return " ".join(order.script for order in desk.workers[0].orders)


async def over_a_socket(desk: Office, wanted: str) -> None:
    path = f"{PATH}/multi-stream-input?output_format=pcm_24000&apply_text_normalization={wanted}"
    async with desk.connect(path) as socket:
        await socket.send_json({"text": f"{PRICE} ", "context_id": "a", "flush": True})
        await socket.send_json({"context_id": "a", "close_context": True})
        await until(socket, "isFinal")


async def in_one_call(desk: Office, wanted: str) -> None:
    body = {"text": PRICE, "apply_text_normalization": wanted}
    async with desk.post(f"{PATH}?output_format=pcm_24000", body) as response:
        assert response.status == 200 and await response.read()


@pytest.mark.parametrize("ask", [over_a_socket, in_one_call])
@pytest.mark.parametrize(("wanted", "written_out"), [("auto", True), ("on", True), ("", True), ("off", False)])
async def test_numbers_are_written_out_unless_the_client_says_off(ask: object, wanted: str, written_out: bool) -> None:
    assert callable(ask)
    async with office() as desk:
        await ask(desk, wanted)
        assert (IN_WORDS in scripts(desk)) is written_out
        assert ("250" in scripts(desk)) is not written_out


async def test_any_other_value_is_an_error() -> None:
    async with office() as desk:
        body = {"text": PRICE, "apply_text_normalization": "sometimes"}
        async with desk.post(PATH, body) as response:
            assert response.status == 400 and "auto, on or off" in await response.text()
        async with desk.connect(f"{PATH}/stream-input?apply_text_normalization=sometimes") as socket:
            assert "auto, on or off" in (await next_json(socket))["message"]
