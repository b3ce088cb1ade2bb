"""Ends fronts while answers of every kind are being sent, and compares each answer with an undisturbed one.

    python -m benchmarks.front_deaths [--ends 300] [--with-worker 50] [--twice 50] [--by SIGKILL SIGSEGV SIGSTOP]
        [--kinds NAME...] [--every 2] [--seed 1] [--may-pause] [--json F]

Listeners ask again and again, each in its own way: six formats, server-sent events, a whole clip, the sockets of three
services, and Wyoming. Fronts end by the signals of `--by` at random moments, one in `--every` seconds, and not before
somebody hears more (SIGSEGV looks as if the front had caused it); `--with-worker` times the worker is killed too,
`--twice` times the successor as well, as soon as there is one. The server has the miniature model, and caches nothing.
A *gap* is a moment at which a listener who began to play half a second after the first sound has nothing left to play;
each is told with the end that came before it. `--kinds` limits the listeners to some kinds.
Exits 1 if an answer isn't that of the undisturbed run, is cut or refused, or (unless `--may-pause`) if a larger share
of them has a gap than while the same listeners were undisturbed. Answers that the server declines because it is busy
are counted apart.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import itertools
import json
import operator
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import psutil
from wyoming.client import AsyncTcpClient
from wyoming.tts import Synthesize

from tests.chaos.listeners import some_text
from tests.chaos.loops import UNLIMITED
from tests.system.oracle import miniature_arguments
from tests.system.server import DEADLINE, Server, server

FORMATS = ("pcm", "wav", "mp3", "flac", "aac", "opus")
BYTES_PER_SECOND = 48_000
"""Of PCM at the model's rate."""
BUFFER = 0.5
"""Seconds after the first sound at which a listener begins to play."""
UNDISTURBED = 20
"""Pauses between ends for which the listeners are heard undisturbed, at most."""
ENDS = ("SIGKILL", "SIGSEGV", "SIGSTOP")


class Cut(Exception):
    """The answer broke off, and its listener knows that."""


class Refused(Exception):
    """The server answered with an error."""


Said = AsyncIterator[bytes]
"""The sound of an answer as its listener unpacks it, in pieces as they come."""


@dataclass(frozen=True)
class Asked:
    """Where listeners ask."""

    session: aiohttp.ClientSession
    host: str
    wyoming: int


async def _posted(asked: Asked, **body: object) -> Said:
    async with asked.session.post(f"http://{asked.host}/v1/audio/speech", json=body) as response:
        if response.status != 200:
            raise Refused(f"{response.status} {(await response.text())[:200]}")
        async for piece in response.content.iter_any():
            yield piece


def _speech(**fields: object) -> Callable[[Asked, str], Said]:
    return lambda asked, text: _posted(asked, input=text, **fields)


async def _events(asked: Asked, text: str) -> Said:
    rest, ended = b"", False
    async for piece in _posted(asked, input=text, response_format="pcm", stream_format="sse"):
        *events, rest = (rest + piece).split(b"\n\n")
        for event in events:
            data = next(line[5:] for line in event.splitlines() if line.startswith(b"data:"))
            fields = json.loads(data)
            ended |= fields["type"] == "speech.audio.done"
            if fields["type"] == "speech.audio.delta":
                yield base64.b64decode(fields["audio"])
    if not ended:
        raise Cut("no speech.audio.done")


async def _socket(
    asked: Asked, path: str, messages: list[dict[str, object]], read: Callable[[Any], tuple[bytes, bool]]
) -> Said:
    """`read` takes a message: its sound, and whether it is the last."""
    async with asked.session.ws_connect(f"http://{asked.host}{path}") as socket:
        for message in messages:
            await socket.send_json(message)
        async for said in socket:
            if said.type is aiohttp.WSMsgType.BINARY:
                yield said.data
            elif said.type is aiohttp.WSMsgType.TEXT:
                fields = said.json()
                if "error" in str(fields.get("type", "")).lower() or fields.get("error"):
                    raise Refused(said.data[:200])
                sound, last = read(fields)
                if sound:
                    yield sound
                if last:
                    return
    raise Cut(f"closed with {socket.close_code}")


def _elevenlabs(asked: Asked, text: str) -> Said:
    path = "/v1/text-to-speech/af_heart/stream-input?output_format=pcm_24000"
    messages: list[dict[str, object]] = [{"text": " "}, {"text": text + " "}, {"text": ""}]
    return _socket(
        asked, path, messages, lambda said: (base64.b64decode(said.get("audio") or ""), bool(said.get("isFinal")))
    )


def _cartesia(asked: Asked, text: str) -> Said:
    form = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}
    message: dict[str, object] = {"model_id": "m", "voice": {"mode": "id", "id": "af_heart"}, "output_format": form}
    return _socket(
        asked,
        "/tts/websocket",
        [message | {"transcript": text, "context_id": "c"}],
        lambda said: (base64.b64decode(said.get("data") or ""), said["type"] == "done"),
    )


def _deepgram(asked: Asked, text: str) -> Said:
    messages: list[dict[str, object]] = [{"type": "Speak", "text": text}, {"type": "Flush"}]
    path = "/v1/speak?encoding=linear16&sample_rate=24000"
    return _socket(asked, path, messages, lambda said: (b"", said["type"] == "Flushed"))


async def _wyoming(asked: Asked, text: str) -> Said:
    async with AsyncTcpClient("127.0.0.1", asked.wyoming) as client:
        await client.write_event(Synthesize(text).event())
        while event := await client.read_event():
            if event.type == "error":
                raise Refused(event.data["code"])
            if event.type == "audio-stop":
                return
            if event.payload:
                yield event.payload
    raise Cut("no audio-stop")


KINDS: dict[str, Callable[[Asked, str], Said]] = {
    **{name: _speech(response_format=name) for name in FORMATS},
    "whole": _speech(response_format="mp3", stream=False),
    "events": _events,
    "elevenlabs": _elevenlabs,
    "cartesia": _cartesia,
    "deepgram": _deepgram,
    "wyoming": _wyoming,
}
WHOLE = ("--growing-text", "sentence")
"""Flags for answers that are compared: what is spoken early of a sentence depends on when its text comes."""

PLAYED = {"pcm", "events", "elevenlabs", "cartesia", "deepgram", "wyoming"}
"""Kinds whose bytes are samples, so that it is known when they must have come."""


@dataclass
class Heard:
    """One answer."""

    kind: str
    sound: bytearray = field(default_factory=bytearray)
    fate: str = "complete"
    detail: str = ""
    seconds: float = 0.0
    """From the request to the answer's end."""
    dry: float = 0.0
    """Monotonic seconds at which nothing was left to play, for the first time; 0: never."""
    gap: str = ""
    """Description of the first gap; empty: there was none."""

    def take(self, sound: bytes, since: float) -> None:
        """`since`: when the first sound came, in monotonic seconds."""
        had, now = len(self.sound) / BYTES_PER_SECOND, time.monotonic()
        if self.kind in PLAYED and not self.gap and now > (dry := since + BUFFER + had):
            self.dry, self.gap = dry, f"nothing for {now - dry:.2f} s after {had:.2f} s of sound"
        self.sound += sound


def comparable(kind: str, sound: bytearray) -> bytes:
    """The bytes that every answer to the request has. Ogg's pages have a serial number, drawn for each answer, and a
    checksum over it: numbers that change within an answer stay different."""
    if kind != "opus":
        return bytes(sound)
    pages = bytes(sound).split(b"OggS")
    first = pages[1][10:14] if len(pages) > 1 else b""
    return b"OggS".join(page[:10] + _number(page[10:14], first) + page[22:] for page in pages)


def _number(found: bytes, first: bytes) -> bytes:
    """What stands for a serial number, or for the part of it at which an answer was cut."""
    return (b"same" if first.startswith(found) else b"else")[: len(found)]


async def hear(asked: Asked, kind: str, text: str, came: Callable[[], None] = lambda: None) -> Heard:
    """Ask, and hear it out whatever happens. `came` is called with each piece."""
    heard, asked_at = Heard(kind), time.monotonic()
    try:
        async with asyncio.timeout(DEADLINE):
            first = 0.0
            async for sound in KINDS[kind](asked, text):
                first = first or time.monotonic()
                heard.take(sound, first)
                came()
    except Refused as error:
        heard.detail = str(error)
        heard.fate = "declined" if re.search("overloaded|leave no room", heard.detail) else "refused"
    except TimeoutError:
        heard.fate = "unfinished"
    except (Cut, aiohttp.ClientError, ConnectionError, asyncio.IncompleteReadError) as error:
        heard.fate, heard.detail = "cut", repr(error)
    heard.seconds = time.monotonic() - asked_at
    return heard


class Crowd:
    """One listener of each kind, with a few texts, whose undisturbed answers are known."""

    def __init__(self, asked: Asked, seed: int, kinds: Sequence[str] = tuple(KINDS)) -> None:
        self._asked, self._seed, self._kinds = asked, seed, kinds
        rng = random.Random(seed)
        texts = {kind: [some_text(rng, 8, 4) for _ in range(4)] for kind in KINDS}
        self._texts = {kind: texts[kind] for kind in kinds}
        self._expected: dict[tuple[str, str], Heard] = {}
        self._heard: list[Heard] = []
        self._going = False
        self._came = asyncio.Event()

    async def listen_undisturbed(self) -> None:
        """Note what all must hear."""
        for kind, texts in self._texts.items():
            for text in texts:
                self._expected[kind, text] = heard = await hear(self._asked, kind, text)
                assert heard.fate == "complete" and heard.sound, (kind, heard.fate, heard.detail)

    @asynccontextmanager
    async def listening(self, listeners: int = 0) -> AsyncIterator[list[Heard]]:
        """So many listen at once within the block, one of each kind by default; its value is what they hear, whole when
        the block has ended."""
        self._going, self._heard = True, []
        async with asyncio.TaskGroup() as group:
            for number, kind in zip(range(listeners or len(self._kinds)), itertools.cycle(self._kinds), strict=False):
                group.create_task(self._listen(kind, random.Random(f"{self._seed} {number}")))
            yield self._heard
            self._going = False

    async def goes_on(self) -> None:
        """Wait until somebody hears more."""
        self._came.clear()
        await self._came.wait()

    async def _listen(self, kind: str, rng: random.Random) -> None:
        while self._going:
            text = rng.choice(self._texts[kind])
            heard, due = await hear(self._asked, kind, text, self._came.set), self._expected[kind, text]
            found, wanted = comparable(kind, heard.sound), comparable(kind, due.sound)
            right = found == wanted if heard.fate == "complete" else wanted.startswith(found)
            if heard.fate in ("complete", "cut") and not right:
                same = sum(itertools.takewhile(bool, map(operator.eq, found, wanted)))
                heard.detail = f"{heard.fate}, {len(found)} bytes of {len(wanted)}, {same} of them the same"
                heard.fate = "wrong"
            heard.sound.clear()
            self._heard.append(heard)


async def end_front(to: Server, rng: random.Random, ends: Sequence[str]) -> int:
    """End the front that serves; its process id."""
    while not (fronts := to.children("front")):  # noqa: ASYNC110 - another process tells nobody
        await asyncio.sleep(0.02)
    with contextlib.suppress(psutil.NoSuchProcess):
        fronts[0].send_signal(signal.Signals[rng.choice(ends)])
    return int(fronts[0].pid)


async def strike(to: Server, rng: random.Random, ends: Sequence[str], *, worker: bool, twice: bool) -> None:
    """End the front, and whatever else is to end with it; return when another one serves."""
    ended = await end_front(to, rng, ends)
    if worker:
        for dying in to.children("worker[")[:1]:  # none, if the last one has just died
            dying.kill()
    for _ in range(1 + twice):
        while all(front.pid == ended for front in to.children("front")):  # noqa: ASYNC110 - the same
            await asyncio.sleep(0.02)
        if twice:
            ended, twice = await end_front(to, rng, ends), False


async def run(options: argparse.Namespace, target: Server, wyoming: int) -> tuple[list[Heard], list[Heard]]:
    """Answers heard undisturbed, and those heard while fronts ended, whose gaps are told with the end before them."""
    rng = random.Random(options.seed)
    strikes = [(True, False)] * options.with_worker + [(False, True)] * options.twice
    strikes += [(False, False)] * (options.ends - len(strikes))
    rng.shuffle(strikes)
    ended: list[tuple[float, str]] = []
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, read_bufsize=1 << 16) as session:
        crowd = Crowd(Asked(session, f"127.0.0.1:{target.port}", wyoming), options.seed, options.kinds)
        await crowd.listen_undisturbed()
        async with crowd.listening() as undisturbed:
            await asyncio.sleep(min(len(strikes), UNDISTURBED) * options.every)
        async with crowd.listening() as heard:
            for number, (worker, twice) in enumerate(strikes):
                await asyncio.sleep(rng.uniform(0.05, 1.95) * options.every)
                ended.append(
                    (time.monotonic(), "a front and the worker" if worker else "two fronts" if twice else "a front")
                )
                await strike(target, rng, options.by, worker=worker, twice=twice)
                await crowd.goes_on()
                if number % max(len(strikes) // 10, 1) == 0:
                    print(f"{number} ends: {fates(heard)}", file=sys.stderr, flush=True)
    for each in heard:
        before = [(each.dry - at, what) for at, what in ended if each.gap and each.dry - BUFFER - 10 < at < each.dry]
        each.gap += "".join(f"; {what} ended {since:.2f} s before" for since, what in reversed(before))
    return undisturbed, heard


def fates(heard: list[Heard]) -> dict[str, int]:
    return dict(Counter(each.fate for each in heard)) | {"with gaps": gaps(heard)}


def gaps(heard: list[Heard]) -> int:
    return sum(bool(each.gap) for each in heard)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--ends", type=int, default=300, help="of fronts, those of the next two included")
    parser.add_argument("--with-worker", type=int, default=50)
    parser.add_argument("--twice", type=int, default=50)
    parser.add_argument("--by", nargs="+", choices=ENDS, default=ENDS)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=tuple(KINDS), help="of listeners")
    parser.add_argument("--every", type=float, default=2.0, metavar="SECONDS", help="mean pause between two ends")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--may-pause", action="store_true", help="a gap breaks no promise: the machine is busy")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        flags = (
            *miniature_arguments(Path(folder), cost=1),
            *UNLIMITED,
            "--standby",
            "imported",
            "--standby-front",
            *WHOLE,
        )
        with server(*flags, "--wyoming-port", "0") as target:
            wyoming = int(target.logs(r"answered on tcp://\S+:(\d+)")[1])
            undisturbed, heard = asyncio.run(run(options, target, wyoming))
            lines = [line for line in target.log if re.search(r" is (cut|refused)", line)]
            print(*lines, sep="\n", file=sys.stderr)
    parts = {kind: fates([each for each in heard if each.kind == kind]) for kind in options.kinds}
    parts |= {"undisturbed": fates(undisturbed), "all": fates(heard)}
    for part, found in parts.items():
        slowest = max((each.seconds for each in heard if each.kind == part), default=0.0)
        told = f"  the slowest took {slowest:.1f} s" * bool(slowest)
        print(f"{part:12}" + "  ".join(f"{name} {count}" for name, count in found.items()) + told)
    if options.json:
        options.json.write_text(json.dumps(parts, indent=2))
    failed = [each for each in undisturbed + heard if each.fate not in ("complete", "declined")]
    for each in failed:
        print(f"{each.kind}: {each.fate} {each.detail}", file=sys.stderr)
    for each in filter(lambda each: each.gap, undisturbed + heard):
        print(f"{each.kind}: a gap, {each.gap}", file=sys.stderr)
    paused = gaps(heard) * len(undisturbed) > gaps(undisturbed) * len(heard)
    return int(bool(failed) or (paused and not options.may_pause))


if __name__ == "__main__":
    sys.exit(main())
