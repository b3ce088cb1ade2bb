"""Contexts on the whole server: a killed worker, a front that drains, figures in /status and /metrics."""

import asyncio
import base64
import json
import signal
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import numpy as np
import pytest

from tests.system.oracle import sentences
from tests.system.reading import check
from tests.system.server import DEADLINE, Server, awaited
from tests.system.shared import SharedServer

TEXT = sentences(6)
PATH = "/v1/speak?encoding=linear16&sample_rate=24000"


async def heard(target: Server, kill: bool = False) -> np.ndarray[Any, np.dtype[np.int16]]:
    """A context that is written word by word; the worker is killed at its first audio if `kill`."""
    url, headers = f"http://127.0.0.1:{target.port}{PATH}", {"Cache-Control": "no-store"}
    async with aiohttp.ClientSession() as session, session.ws_connect(url, headers=headers) as socket:
        half = TEXT.index(" ", len(TEXT) // 2)
        for word in TEXT[:half].split(" "):
            await socket.send_json({"type": "Speak", "text": f"{word} "})
        data, rest = b"", [*TEXT[half + 1 :].split(" ")]
        async for message in socket:
            if message.type is aiohttp.WSMsgType.BINARY:
                data += message.data
                if kill:
                    target.child("worker").kill()
                    kill = False
                while rest:
                    await socket.send_json({"type": "Speak", "text": f"{rest.pop(0)} "})
                    if not rest:
                        await socket.send_json({"type": "Flush"})
            elif message.json()["type"] == "Flushed":
                await socket.send_json({"type": "Close"})
    return np.frombuffer(data, "<i2")


async def test_a_worker_killed_in_mid_context_changes_no_sample(miniature: Server) -> None:
    undisturbed = await heard(miniature)
    assert len(undisturbed) > 24_000
    assert np.array_equal(await heard(miniature, kill=True), undisturbed)
    status = miniature.get("/status")[1]
    assert (status["sockets"]["deepgram"], status["contexts"], status["active_streams"]) == (0, 0, 0)


async def written_as_body(target: Server, kill: str = "", last: bytes = b"") -> np.ndarray[Any, np.dtype[np.int16]]:
    """The same as a request's body, the second half of which waits for the first's audio; then that child is killed."""
    url = f"http://127.0.0.1:{target.port}/v1/audio/speech/text?response_format=pcm"
    sounds = asyncio.Event()
    half = TEXT.index(" ", len(TEXT) // 2)

    async def body() -> AsyncIterator[bytes]:
        for word in TEXT[:half].split(" "):
            yield f"{word} ".encode()
        await sounds.wait()
        for word in TEXT[half + 1 :].split(" "):
            yield f"{word} ".encode()
        yield last

    data = b""
    headers = {"Cache-Control": "no-store"}
    async with aiohttp.ClientSession() as session, session.post(url, data=body(), headers=headers) as response:
        assert response.status == 200
        async for piece in response.content.iter_any():
            data += piece
            if kill:
                target.child(kill).kill()
                kill = ""
            sounds.set()
    return np.frombuffer(data, "<i2")


async def test_a_body_is_spoken_while_it_is_written(miniature: Server) -> None:
    undisturbed = await written_as_body(miniature)
    check(TEXT, undisturbed)
    assert np.array_equal(await written_as_body(miniature, kill="worker"), undisturbed)
    with pytest.raises(aiohttp.ClientError):
        await written_as_body(miniature, kill="front")
    with pytest.raises(aiohttp.ClientError):
        await written_as_body(miniature, last=b"\xff")


@pytest.mark.parametrize(
    ("body", "code"), [(b" \n", "unspeakable"), (b"One.\xff", "invalid_text"), (b"", "unspeakable")]
)
async def test_a_body_without_text_is_refused(plain: SharedServer, body: bytes, code: str) -> None:
    url = f"http://127.0.0.1:{plain.calm().port}/v1/audio/speech/text"
    async with aiohttp.ClientSession() as session, session.post(url, data=body) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (400, code)


async def test_word_times_add_up_to_the_audio(plain: SharedServer) -> None:
    """Espeak-ng tells when words sound. The clients' running clock is the sum of the alignments."""
    text = "The first sentence has some words. The second one has more of them."
    base = f"http://127.0.0.1:{plain.calm().port}"
    path = f"{base}/v1/text-to-speech/af_heart/multi-stream-input?output_format=pcm_24000"
    async with aiohttp.ClientSession() as session, session.ws_connect(path) as socket:
        await socket.send_json({"text": f"{text} ", "context_id": "a"})
        await socket.send_json({"context_id": "a", "close_context": True})
        written, clock, samples, due = "", 0, 0, 0
        while not (message := await socket.receive_json(timeout=DEADLINE))["isFinal"]:
            samples += len(base64.b64decode(message["audio"])) // 2
            if times := message["alignment"]:
                written += "".join(times["chars"])
                clock += times["charStartTimesMs"][-1] + times["charDurationsMs"][-1]
                due = round(samples / 24)
                assert abs(clock - due) <= 1
        assert written == f"{text} "
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{base}/tts/websocket") as socket:
        voice = {"voice": {"mode": "id", "id": "af_heart"}, "context_id": "a", "add_timestamps": True}
        await socket.send_json({"transcript": text, **voice})
        words, starts = [], []
        while (message := await socket.receive_json(timeout=DEADLINE))["type"] != "done":
            if message["type"] == "timestamps":
                words += message["word_timestamps"]["words"]
                starts += message["word_timestamps"]["start"]
        assert " ".join(words) == text and starts == sorted(starts)


@pytest.mark.ends_server
async def test_open_sockets_are_shown_and_dont_delay_the_end(laborious: SharedServer) -> None:
    ending = laborious.calm()
    base = f"http://127.0.0.1:{ending.port}"
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{base}/tts/websocket") as socket:
        voice = {"voice": {"mode": "id", "id": "af_heart"}}
        await socket.send_json({"context_id": "a", "transcript": "Not whole", "continue": True, **voice})
        status = await asyncio.to_thread(awaited, lambda: ending.get("/status")[1], lambda seen: seen["contexts"] == 1)
        assert status["sockets"]["cartesia"] == 1
        metrics = (await asyncio.to_thread(ending.get, "/metrics"))[1]
        assert 'kokoro_live_sockets{protocol="cartesia"} 1.0' in metrics and "kokoro_live_contexts 1.0" in metrics
        stopping = asyncio.create_task(asyncio.to_thread(ending.stop, signal.SIGTERM))
        kinds = [json.loads(message.data)["type"] async for message in socket]
        assert kinds[-1] == "done" and "chunk" in kinds, "what was written is spoken before the end"
        assert await stopping == 0
