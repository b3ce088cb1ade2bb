"""Messages that real clients sent, replayed: every one is answered with audio, and the socket is left clean.

`recorded.jsonl` was written by livekit-plugins-elevenlabs, -cartesia and -deepgram 1.8.9 and by pipecat-ai 1.14.0.
"""

import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.frontend.http.dialects_desk import next_json, office, until

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
