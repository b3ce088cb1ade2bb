"""Voice agents: answers written as a language model writes them, spoken by a speech server of any kind.

    python -m benchmarks.agents [URL ...] [--ways elevenlabs cartesia deepgram openai wyoming espeak-ng] [--key KEY]
        [--voice af_heart] [--rates 20 62 150] [--listeners 1 4 16] [--answers 60] [--out FOLDER]

A URL (http://host:port, tcp://host:port for Wyoming) is any server that speaks the protocols named by `--ways`; without
one, a server of this checkout is started, and with `--model` and `--voices` kokoro-onnx's beside it. `openai` is asked
for one sentence after another, as agents ask it; `espeak-ng` is the command, for one sentence after another. From the
first token: the first byte, and the first 10 ms of sound whose root mean square is above 0.01; gaps as a listener hears
them who plays at once; and from an interruption to the next answer's sound. Each round asks all ways in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import itertools
import re
import shutil
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import numpy as np
from wyoming.audio import AudioChunk
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.tts import SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeStopped, SynthesizeVoice

from benchmarks.growing_text import FIELDS, FRESH, tokens
from benchmarks.measuring.evaluation.sentences import answers
from benchmarks.measuring.figures import median
from benchmarks.measuring.machine import machine
from benchmarks.measuring.playback import Arrival, play
from benchmarks.measuring.plots import Plot
from benchmarks.measuring.report import Cell, Report, Table, write
from benchmarks.measuring.subjects import free_port, kokoro_live, kokoro_onnx_server
from shm.audio import SAMPLE_RATE
from worker.settings import WorkerSettings

LENGTHS = (1, 3, 6)
"""Sentences of an answer, in turn."""

_FRAME = SAMPLE_RATE // 100
_LOUD = 0.01
_ESPEAK_RATE = 22_050
_SENTENCE = re.compile(r"(?<=[.!?])\s+")

Written = AsyncIterator[str]
"""An answer's tokens, as they are written."""


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    voice: str
    key: str
    session: aiohttp.ClientSession

    @property
    def headers(self) -> dict[str, str]:
        return {**FRESH, "Authorization": f"Bearer {self.key}", "xi-api-key": self.key, "X-API-Key": self.key}

    def socket(self, path: str) -> aiohttp.client._WSRequestContextManager:
        return self.session.ws_connect(self.url + path, headers=self.headers, max_msg_size=0)


@asynccontextmanager
async def meanwhile(sending: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Send within the block, while the answer is heard; sending is given up when the listener leaves."""
    task = asyncio.create_task(sending)
    try:
        yield
        await task
    finally:
        task.cancel()


async def _sentences(written: Written) -> AsyncIterator[str]:
    """Sentences as soon as the next one has begun, as agents cut them for servers that take whole texts."""
    text = ""
    async for token in written:
        text += token
        *whole, text = _SENTENCE.split(text)
        for sentence in whole:
            yield sentence
    if text.strip():
        yield text


async def by_openai(server: Server, written: Written) -> AsyncIterator[bytes]:
    async for sentence in _sentences(written):
        body = {"model": "tts-1", "input": sentence, "voice": server.voice, "response_format": "pcm"}
        async with server.session.post(f"{server.url}/v1/audio/speech", json=body, headers=server.headers) as answer:
            answer.raise_for_status()
            async for data in answer.content.iter_any():
                yield data


async def by_elevenlabs(server: Server, written: Written) -> AsyncIterator[bytes]:
    query = "model_id=eleven_flash_v2_5&output_format=pcm_24000"
    async with server.socket(f"/v1/text-to-speech/{server.voice}/stream-input?{query}") as socket:

        async def send() -> None:
            await socket.send_json({"text": " "})
            async for token in written:
                await socket.send_json({"text": token})
            await socket.send_json({"text": ""})

        async with meanwhile(send()):
            async for message in socket:
                told = message.json()
                if told.get("audio"):
                    yield base64.b64decode(told["audio"])
                if told.get("isFinal"):
                    break


async def by_cartesia(server: Server, written: Written) -> AsyncIterator[bytes]:
    fields = {**FIELDS, "voice": {"mode": "id", "id": server.voice}, "context_id": "answer"}
    async with server.socket("/tts/websocket?cartesia_version=2026-03-01") as socket:

        async def send() -> None:
            async for token in written:
                await socket.send_json({**fields, "transcript": token, "continue": True})
            await socket.send_json({**fields, "transcript": "", "continue": False})

        async with meanwhile(send()):
            async for message in socket:
                match message.json():
                    case {"type": "chunk", "data": data}:
                        yield base64.b64decode(data)
                    case {"type": "done"}:
                        break
                    case {"type": "error"} as told:
                        raise ConnectionError(str(told))


async def by_deepgram(server: Server, written: Written) -> AsyncIterator[bytes]:
    async with server.socket(f"/v1/speak?encoding=linear16&sample_rate=24000&model={server.voice}") as socket:

        async def send() -> None:
            async for token in written:
                await socket.send_json({"type": "Speak", "text": token})
            await socket.send_json({"type": "Flush"})

        async with meanwhile(send()):
            async for message in socket:
                if message.type is aiohttp.WSMsgType.BINARY:
                    yield message.data
                elif message.json()["type"] == "Flushed":
                    break


async def by_wyoming(server: Server, written: Written) -> AsyncIterator[bytes]:
    address = urlsplit(server.url)
    async with AsyncTcpClient(address.hostname or "127.0.0.1", address.port or 10200) as client:

        async def send() -> None:
            await client.write_event(SynthesizeStart(voice=SynthesizeVoice(name=server.voice)).event())
            async for token in written:
                await client.write_event(SynthesizeChunk(token).event())
            await client.write_event(SynthesizeStop().event())

        async with meanwhile(send()):
            while (event := await client.read_event()) and not SynthesizeStopped.is_type(event.type):
                if AudioChunk.is_type(event.type):
                    yield AudioChunk.from_event(event).audio
                elif Error.is_type(event.type):
                    raise ConnectionError(Error.from_event(event).text)


async def by_espeak(server: Server, written: Written) -> AsyncIterator[bytes]:
    async for sentence in _sentences(written):
        process = await asyncio.create_subprocess_exec(
            "espeak-ng", "--stdout", "--", sentence, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout
        await process.stdout.readexactly(44)  # the WAV's header
        while data := await process.stdout.read(1 << 14):
            yield data
        await process.wait()


Way = Callable[[Server, Written], AsyncIterator[bytes]]
WAYS: dict[str, Way] = {
    "elevenlabs": by_elevenlabs,
    "cartesia": by_cartesia,
    "deepgram": by_deepgram,
    "openai": by_openai,
    "wyoming": by_wyoming,
    "espeak-ng": by_espeak,
}


@dataclass
class Heard:
    """One answer, in seconds from its first token."""

    began: float = field(default_factory=time.perf_counter)
    arrivals: list[Arrival] = field(default_factory=list)
    sound: float | None = None
    """The first sound of 10 ms."""
    _rest: bytes = b""

    def take(self, data: bytes, rate: int) -> None:
        now = time.perf_counter() - self.began
        self.arrivals.append((now, len(data) * SAMPLE_RATE // rate))
        if self.sound is None:
            data = self._rest + data
            whole = len(data) - len(data) % (2 * _FRAME)
            frames = np.frombuffer(data[:whole], "<i2").reshape(-1, _FRAME).astype(np.float64) / 32_768
            self._rest = data[whole:]
            if (np.sqrt((frames**2).mean(axis=1)) > _LOUD).any():
                self.sound = now

    @property
    def gaps(self) -> int:
        return play(self.arrivals).underruns


async def written_at(text: str, rate: float) -> Written:
    """Tokens at so many per second."""
    began = time.perf_counter()
    for number, token in enumerate(tokens(text)):
        await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        yield token


async def hear(way: str, server: Server, text: str, rate: float, leaves: bool = False) -> Heard:
    """An answer to its end; one who `leaves` closes the connection at the first sound."""
    heard = Heard()
    async with aclosing(WAYS[way](server, written_at(text, rate))) as audio:  # type: ignore[type-var]
        async for data in audio:
            heard.take(data, _ESPEAK_RATE if way == "espeak-ng" else SAMPLE_RATE)
            if leaves and heard.sound is not None:
                break
    if heard.sound is None:
        raise ConnectionError(f"{way}: nothing was heard of {text!r}")
    return heard


async def round_of(way: str, server: Server, texts: Sequence[str], rate: float, listeners: int) -> list[Heard]:
    """All texts, so many at once."""
    found: list[Heard] = []
    for start in range(0, len(texts), listeners):
        found += await asyncio.gather(*(hear(way, server, text, rate) for text in texts[start : start + listeners]))
    return found


async def interrupted(way: str, server: Server, texts: Sequence[str], rate: float) -> float:
    """Seconds from the next answer's first token to its sound, whose listener has just left another one."""
    found: list[float] = []
    for first, second in itertools.pairwise(texts):
        await hear(way, server, first, rate, leaves=True)
        found.append((await hear(way, server, second, rate)).sound or 0.0)
    return median(found)


Subject = tuple[str, str, str]
"""Name of a measured server, the way in which it is asked, and its URL."""


async def compared(arguments: argparse.Namespace, subjects: Sequence[Subject]) -> Report:
    """All subjects in turn, for each rate and number of listeners."""
    texts = spoken_answers(arguments.answers)
    rows: list[list[Cell]] = []
    lines: dict[str, list[tuple[float, float]]] = {name: [] for name, _, _ in subjects}
    raw: dict[str, list[float | None]] = {}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        servers = {name: Server(url, arguments.voice, arguments.key, session) for name, _, url in subjects}
        for name, way, _ in subjects:
            await hear(way, servers[name], texts[0], 1000.0)
        for rate, listeners in itertools.product(arguments.rates, arguments.listeners):
            for name, way, _ in subjects:
                heard = await round_of(way, servers[name], texts, rate, listeners)
                sounds = [each.sound or 0.0 for each in heard]
                raw[f"{name}, {rate:g} tokens/s, {listeners} listeners"] = list(sounds)
                after = await interrupted(way, servers[name], texts[:5], rate) if listeners == 1 else None
                first = median([each.arrivals[0][0] for each in heard])
                ninth = float(np.quantile(sounds, 0.9))
                rows.append([name, rate, listeners, first, median(sounds), ninth, sum(e.gaps for e in heard), after])
                if listeners == arguments.listeners[0]:
                    lines[name].append((rate, median(sounds)))
                print(f"  {rows[-1]}", file=sys.stderr, flush=True)
    columns = ("server", "tokens/s", "listeners", "first byte, s", "sound, s", "of ten, the ninth, s", "gaps")
    table = Table(f"From the first token, {len(texts)} answers", (*columns, "after an interruption, s"), rows)
    plot = Plot("From the first token to the sound", "tokens per second", "seconds", lines)
    return Report("Voice agents", "the servers named", [table], [], raw=raw, plots=[plot])


def spoken_answers(count: int) -> list[str]:
    """Answers of one, three and six sentences, in turn."""
    sentences = itertools.cycle(answers())
    return [" ".join(itertools.islice(sentences, length)) for length, _ in zip(itertools.cycle(LENGTHS), range(count))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urls", nargs="*", metavar="URL")
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--key", default="none")
    parser.add_argument("--voice", default="af_heart")
    parser.add_argument("--rates", type=float, nargs="+", default=[20.0, 62.0, 150.0])
    parser.add_argument("--listeners", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--answers", type=int, default=60)
    parser.add_argument("--engine", default="auto", help="the engine of the server that is started")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--voices", type=Path)
    parser.add_argument("--out", type=Path, help="a folder for bench.json, bench.md and, with matplotlib, pictures")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        subjects: list[Subject] = [
            (f"{way} at {url}", way, url.rstrip("/"))
            for url in arguments.urls
            for way in arguments.ways
            if (way == "wyoming") == url.startswith("tcp:") and way != "espeak-ng"
        ]
        if not arguments.urls:
            settings = WorkerSettings(engine=arguments.engine, model=arguments.model, voices=arguments.voices)
            port = free_port()
            own = stack.enter_context(kokoro_live(settings, "--wyoming-port", str(port)))
            urls = dict.fromkeys(WAYS, f"http://127.0.0.1:{own.port}") | {"wyoming": f"tcp://127.0.0.1:{port}"}
            subjects += [(f"kokoro-live, {way}", way, urls[way]) for way in arguments.ways if way != "espeak-ng"]
        if arguments.model and arguments.voices:
            other = stack.enter_context(kokoro_onnx_server(arguments.model, arguments.voices))
            subjects.append(("kokoro-onnx", "openai", f"http://127.0.0.1:{other.port}"))
        if "espeak-ng" in arguments.ways and not shutil.which("espeak-ng"):
            print("NOT MEASURED, because it isn't installed: espeak-ng", file=sys.stderr)
        elif "espeak-ng" in arguments.ways:
            subjects.append(("espeak-ng", "espeak-ng", ""))
        report = asyncio.run(compared(arguments, subjects))
    print(report.as_markdown())
    print(f"\nOn {', '.join(f'{name} {value}' for name, value in machine().items())}.")
    if arguments.out:
        write([report], machine(), " ".join(["python -m benchmarks.agents", *sys.argv[1:]]), False, arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
