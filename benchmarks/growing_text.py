"""Text that is still being written, over a socket: first audio, gaps, barge-ins, a killed worker, many contexts.

    python -m benchmarks.growing_text [--engine espeak] [--model FILE --voices FILE] [--runs 10] [--barge-ins 100]

Tokens are written at 30 per second, as a language model writes them. A sentence is complete when the next one's first
token arrives; from then on its first audible sample may take as long as HTTP needs for the same sentence, and 20 ms
more. Exits 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import itertools
import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import psutil

from benchmarks.measuring.figures import median
from benchmarks.measuring.playback import Arrival, FirstAudible, play
from benchmarks.measuring.subjects import kokoro_live
from shm.audio import Pcm
from worker.settings import WorkerSettings

TOKENS_PER_SECOND = 30.0
ADDED = 0.020
"""Seconds that a socket may add to HTTP's first audio."""

LATER = 1.25
"""First audio after a barge-in may take so many times as long as without one."""

CONTEXTS = 20
WAIT = 120.0
"""Seconds after which an answer that hasn't come is an error."""

FRESH = {"Cache-Control": "no-store"}
SENTENCES = (
    "The harbour was quiet when the first boats of the morning came home from the open sea.",
    "A woman in a green coat counted all of the crates and wrote a number on each of them.",
    "By eight o'clock the whole of the square smelled of salt, of fresh bread and of wet rope.",
    "Nobody remembered the storm that had kept every one of them awake through half the night.",
)
TEXT = " ".join(SENTENCES)
FIELDS = {
    "model_id": "kokoro",
    "voice": {"mode": "id", "id": "af_heart"},
    "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000},
}


@dataclass
class Heard:
    """One context's audio, with the times at which it arrived."""

    arrivals: list[Arrival] = field(default_factory=list)
    data: bytearray = field(default_factory=bytearray)
    first_audible: float | None = None
    _finder: FirstAudible = field(default_factory=FirstAudible)

    def take(self, audio: bytes) -> None:
        now = time.perf_counter()
        self.arrivals.append((now, len(audio)))
        self.data += audio
        if self._finder.push(audio):
            self.first_audible = now

    @property
    def samples(self) -> Pcm:
        return np.frombuffer(bytes(self.data), "<i2")


class Client:
    """A socket of Cartesia's protocol, and HTTP, to one server."""

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self.session = session
        self.base = f"http://127.0.0.1:{port}"
        self._names = (f"context-{number}" for number in itertools.count())

    def connect(self, headers: Mapping[str, str] | None = None) -> Any:
        return self.session.ws_connect(f"{self.base}/tts/websocket", headers=headers or FRESH)

    def name(self) -> str:
        return next(self._names)

    async def http(self, text: str) -> float:
        """Seconds from the request to the first audible sample."""
        heard, started = Heard(), time.perf_counter()
        body = {"input": text, "voice": "af_heart", "response_format": "pcm"}
        async with self.session.post(f"{self.base}/v1/audio/speech", json=body, headers=FRESH) as response:
            response.raise_for_status()
            async for data in response.content.iter_any():
                heard.take(data)
        assert heard.first_audible is not None
        return heard.first_audible - started

    async def status(self) -> dict[str, Any]:
        async with self.session.get(f"{self.base}/status") as response:
            found: dict[str, Any] = await response.json()
            return found


def tokens(text: str) -> list[str]:
    """Pieces as a language model writes them: a space comes with the word after it, ideographs and kana by twos."""
    return re.findall(r"\s*[^\W\u3041-\u9fff]{1,6}|\s*\w{1,2}|\s*[^\w\s]", text)


async def write(socket: aiohttp.ClientWebSocketResponse, name: str, text: str, rate: float | None) -> list[float]:
    """Write a context's text, at so many tokens per second or at once; the time at which each token was sent."""
    sent = []
    started = time.perf_counter()
    for number, token in enumerate(tokens(text) if rate else [text]):
        if rate:
            await asyncio.sleep(max(0.0, started + number / rate - time.perf_counter()))
        sent.append(time.perf_counter())
        await socket.send_json({**FIELDS, "context_id": name, "transcript": token, "continue": True})
    await socket.send_json({**FIELDS, "context_id": name, "transcript": "", "continue": False})
    return sent


async def listen(socket: aiohttp.ClientWebSocketResponse, names: Sequence[str]) -> dict[str, Heard]:
    """The whole audio of these contexts; those that the server has no room for are absent.

    Raises:
        ConnectionError: the server reports another error.
    """
    heard, open_names = {name: Heard() for name in names}, {*names}
    while open_names:
        message = json.loads(await socket.receive_str(timeout=WAIT))
        if message["type"] == "error":
            if message["error_code"] != "overloaded":
                raise ConnectionError(message["message"])
            open_names.discard(message["context_id"])
            heard.pop(message["context_id"], None)
        elif message["type"] == "done":
            open_names.discard(message["context_id"])
        elif message["type"] == "chunk" and message["context_id"] in heard:
            heard[message["context_id"]].take(base64.b64decode(message["data"]))
    return heard


async def first_audio(client: Client, runs: int) -> dict[str, float]:
    """First audio after the first sentence's end, HTTP's for that sentence, and the gaps that a listener hears."""
    added, waits, https, gaps = [], [], [], 0
    for _ in range(runs):
        https.append(await client.http(SENTENCES[0]))
        async with client.connect() as socket:
            name = client.name()
            writing = asyncio.create_task(write(socket, name, TEXT, TOKENS_PER_SECOND))
            heard = (await listen(socket, [name]))[name]
            sent = await writing
        complete = sent[len(tokens(SENTENCES[0]))]  # the next sentence's first token
        assert heard.first_audible is not None
        waits.append(heard.first_audible - complete)
        added.append(waits[-1] - https[-1])
        gaps += play(heard.arrivals).underruns
    return {"http": median(https), "socket": median(waits), "added": median(added), "gaps": gaps}


async def barge_ins(client: Client, count: int) -> dict[str, float]:
    """Contexts that are cancelled at their first audio; the first audio of those after them."""
    undisturbed: list[float] = []
    after: list[float] = []
    async with client.connect() as socket:
        for times, cancel, runs in ((undisturbed, False, max(count // 10, 3)), (after, True, count)):
            times += [await _first(socket, client.name(), cancel) for _ in range(runs)]
        status = await client.status()
    later = median(after[1:] or after) / median(undisturbed)
    return {"times_undisturbed": later, "streams": status["active_streams"], "contexts": status["contexts"]}


async def _first(socket: aiohttp.ClientWebSocketResponse, name: str, cancel: bool) -> float:
    started = time.perf_counter()
    heard = Heard()
    await write(socket, name, TEXT if cancel else SENTENCES[0], None)
    while True:
        message = json.loads(await socket.receive_str(timeout=WAIT))
        if message["context_id"] != name:
            continue
        if message["type"] == "done":
            assert heard.first_audible is not None
            return heard.first_audible - started
        if message["type"] == "chunk":
            heard.take(base64.b64decode(message["data"]))
            if cancel and heard.first_audible is not None:
                await socket.send_json({"context_id": name, "cancel": True})
                cancel = False


async def killed(client: Client) -> dict[str, float]:
    """A worker killed in the middle of a context: samples that differ from an undisturbed run's."""
    results = []
    for kills in (False, True):
        async with client.connect() as socket:
            name = client.name()
            writing = asyncio.create_task(write(socket, name, TEXT, TOKENS_PER_SECOND))
            if kills:
                message = json.loads(await socket.receive_str(timeout=WAIT))
                first = base64.b64decode(message["data"])
                processes = (await client.status())["processes"]
                pids = [each["pid"] for each in processes if each["role"] == "worker" and "pid" in each]
                psutil.Process(pids[0]).kill()
            heard = (await listen(socket, [name]))[name]
            await writing
            results.append(np.concatenate([np.frombuffer(first, "<i2"), heard.samples]) if kills else heard.samples)
    plain, disturbed = results
    same = len(plain) == len(disturbed)
    wrong = int(np.count_nonzero(plain != disturbed)) if same else abs(len(plain) - len(disturbed))
    return {"samples": len(plain), "wrong": wrong}


async def many(client: Client) -> dict[str, float]:
    """Contexts of one socket at the same time: how many had no room, and those with other samples than the first one.

    The cache is on, so that their number isn't bounded by the engine's speed.
    """
    async with client.connect({"Cache-Control": "max-age=0"}) as socket:
        heard = await _together(client, socket, 1)
        heard += await _together(client, socket, CONTEXTS)
    wrong = sum(not np.array_equal(each.samples, heard[0].samples) for each in heard)
    return {"contexts": len(heard) - 1, "wrong": wrong}


async def _together(client: Client, socket: aiohttp.ClientWebSocketResponse, count: int) -> list[Heard]:
    names = [client.name() for _ in range(count)]
    writing = asyncio.gather(*(write(socket, name, SENTENCES[0], TOKENS_PER_SECOND) for name in names))
    heard = await listen(socket, names)
    await writing
    return list(heard.values())


async def measure(port: int, runs: int, count: int) -> dict[str, dict[str, float]]:
    """The figures of a server with its usual settings, by part."""
    async with aiohttp.ClientSession() as session:
        client = Client(session, port)
        for _ in range(3):
            await client.http(SENTENCES[1])
        return {
            "first audio": await first_audio(client, runs),
            "barge-ins": await barge_ins(client, count),
            "contexts of one socket": await many(client),
        }


async def measure_kill(port: int) -> dict[str, dict[str, float]]:
    """The figures of a server with `--no-adapt-plans`.

    A listener who runs dry has the rest of the text cut again, on purpose, so samples after a kill compare only where
    plans follow the text alone.
    """
    async with aiohttp.ClientSession() as session:
        return {"worker killed": await killed(Client(session, port))}


def missed(found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The targets that were missed."""
    targets = {
        f"first audio {ADDED * 1e3:g} ms after HTTP's": found["first audio"]["added"] <= ADDED,
        "no gap": not found["first audio"]["gaps"],
        f"first audio after a barge-in {LATER:g} times as late": found["barge-ins"]["times_undisturbed"] <= LATER,
        "nothing left of barge-ins": not (found["barge-ins"]["streams"] or found["barge-ins"]["contexts"]),
        "samples of a killed worker's context": not found["worker killed"]["wrong"],
        "samples of many contexts": not found["contexts of one socket"]["wrong"],
        f"{CONTEXTS} contexts of one socket": found["contexts of one socket"]["contexts"] == CONTEXTS,
    }
    return [name for name, met in targets.items() if not met]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--engine", choices=("kokoro", "espeak"), default="kokoro")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--voices", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--barge-ins", type=int, default=100)
    parser.add_argument("--no-verdict", action="store_true", help="show that everything works; judge nothing")
    arguments = parser.parse_args()
    settings = WorkerSettings(engine=arguments.engine, model=arguments.model, voices=arguments.voices)
    with kokoro_live(settings) as subject:
        found = asyncio.run(measure(subject.port, arguments.runs, arguments.barge_ins))
    with kokoro_live(settings, "--no-adapt-plans") as subject:
        found |= asyncio.run(measure_kill(subject.port))
    for part, figures in found.items():
        shown = ", ".join(
            f"{name} {value:.3f}" if value % 1 else f"{name} {value:.0f}" for name, value in figures.items()
        )
        print(f"  {part:24}{shown}")
    broken = [] if arguments.no_verdict else missed(found)
    for target in broken:
        print(f"MISSED: {target}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
