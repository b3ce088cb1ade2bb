"""Many at once: idle connections, far more streams than can be spoken, and the first listeners who must not notice.

    python -m benchmarks.crowd [--idle 4000] [--streams 300] [--listeners 10] [--seconds 60] [--hold]

A server with default limits and the miniature model, whose samples are foretold, speaks long texts to the first
listeners, who play them at their pace. Then the idle connections open and stay, and all other streams are asked for at
once. Asked:

- every request for a stream is answered: 200 and all of its samples, or 429 or 503 with `Retry-After`; a connection
  that is closed without an answer, or an answer that ends early, is none;
- the first listeners hear every sample, without a gap of more than half a second of buffer would hide;
- the server's memory (PSS of all its processes) grows by no more than `MOST_MEMORY_MB`.

With --no-verdict the figures are printed and the exit status is 0.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import psutil

from benchmarks.measuring.playback import Arrival, play
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE
from tests.platforms import many_files
from tests.system.oracle import miniature_arguments, samples_of
from tests.system.server import Server, server

MOST_MEMORY_MB = 100.0
BUFFER = 0.5
"""Seconds that a player holds before it begins."""

PATIENCE = 120.0
"""Seconds after which a request counts as not answered."""

_PIECE = 4800
_WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_HONEST = (200, 429, 503)


@dataclass(slots=True)
class Answer:
    """One request's answer, as its client saw it."""

    text: str
    status: int = 0
    """0: none came."""
    retry_after: bool = False
    whole: bool = False
    heard: bytearray = field(default_factory=bytearray)
    arrivals: list[Arrival] = field(default_factory=list)
    seconds: float = 0.0
    """From the request to the status."""

    @property
    def right(self) -> bool:
        """True if all samples are those that the text has."""
        return self.whole and np.array_equal(np.frombuffer(self.heard, "<i2"), samples_of(self.text))

    @property
    def honest(self) -> bool:
        """True for a whole and right answer, and for a refusal that says when to come again."""
        return self.right if self.status == 200 else self.status in _HONEST and self.retry_after


@dataclass(frozen=True, slots=True)
class Outcome:
    answers: dict[str, int]
    """Requests by status; `none` without one, `cut` for an incomplete 200."""
    dishonest: int
    gaps: int
    gap_seconds: float
    listeners_right: int
    idle_opened: int
    idle_left: int
    """Idle connections that the server still holds at the end."""
    memory_mb: float
    """PSS of all processes before the crowd."""
    growth_mb: float
    slowest_refusal: float


def text_of(number: int, seconds: float) -> str:
    """A text of about that many seconds, no sentence of which another text has."""
    sentences = []
    for place in range(max(1, round(seconds / 3))):
        words = " ".join(_WORDS[(number * 7 + place * 5 + each) % 12] for each in range(6))
        sentences.append(f"Text {_WORDS[number % 12]} says {words} and {_WORDS[place % 12]}.")
    return " ".join(sentences)


async def ask(port: int, text: str, *, paced: bool = False, begun: asyncio.Event | None = None) -> Answer:
    """Ask for a stream of PCM and read it; `paced`: no faster than it plays."""
    answer, asked = Answer(text), time.monotonic()
    with suppress(OSError, EOFError, TimeoutError, ValueError):
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            body = json.dumps({"input": text, "response_format": "pcm", "voice": "af_heart"}).encode()
            head = f"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            answer.status, answer.seconds = int(first.split()[1]), time.monotonic() - asked
            headers = {line.partition(":")[0].lower() for line in lines}
            answer.retry_after = "retry-after" in headers
            if begun is not None:
                begun.set()
            if answer.status == 200:
                await _chunks(reader, answer, paced)
                answer.whole = True
            writer.close()
    if begun is not None:
        begun.set()
    return answer


async def _chunks(reader: asyncio.StreamReader, answer: Answer, paced: bool) -> None:
    heard, began = answer.heard, 0.0
    while size := int(await reader.readline(), 16):
        left = size
        while left:
            piece = await reader.read(min(left, _PIECE))
            if not piece:
                raise EOFError
            now = time.monotonic()
            began = began or now
            answer.arrivals.append((now, len(piece)))
            heard += piece
            left -= len(piece)
            if paced and (ahead := len(heard) / SAMPLE_BYTES / SAMPLE_RATE - (now - began) - BUFFER) > 0:
                await asyncio.sleep(ahead)
        await reader.readline()


def memory_mb(serving: Server) -> float:
    """PSS of the server's processes; RSS where the system doesn't tell."""
    total = 0
    for process in serving.family():
        with suppress(psutil.NoSuchProcess):
            found = process.memory_full_info()
            total += getattr(found, "pss", found.rss)
    return total / 1e6


async def crowd(serving: Server, idle: int, streams: int, listeners: int, seconds: float) -> Outcome:
    before = peak = memory_mb(serving)
    port = serving.port
    sounding = [asyncio.Event() for _ in range(listeners)]
    first = [
        asyncio.create_task(ask(port, text_of(number, seconds), paced=True, begun=event))
        for number, event in enumerate(sounding)
    ]
    await asyncio.gather(*(event.wait() for event in sounding))
    loop, opened = asyncio.get_running_loop(), []
    for _ in range(idle):
        each = socket.socket()
        each.setblocking(False)
        opened.append(each)
        await loop.sock_connect(each, ("127.0.0.1", port))
    rest = [
        asyncio.create_task(ask(port, text_of(listeners + each, seconds / 2), paced=True))
        for each in range(streams - listeners)
    ]
    while any(not task.done() for task in (*first, *rest)):
        await asyncio.wait((*first, *rest), timeout=0.5, return_when=asyncio.ALL_COMPLETED)
        peak = max(peak, await asyncio.to_thread(memory_mb, serving))
    heard, others = [task.result() for task in first], [task.result() for task in rest]
    idle_left = sum(_is_open(each) for each in opened)
    for each in opened:
        each.close()
    everybody = [*heard, *others]
    played = [play(answer.arrivals, BUFFER) for answer in heard]
    return Outcome(
        dict(Counter(_named(answer) for answer in everybody)),
        sum(not answer.honest for answer in everybody),
        sum(each.underruns for each in played),
        sum(each.gap_seconds for each in played),
        sum(answer.right for answer in heard),
        len(opened),
        idle_left,
        before,
        peak - before,
        max((answer.seconds for answer in others if answer.status != 200), default=0.0),
    )


def _named(answer: Answer) -> str:
    if answer.status == 200:
        return "200" if answer.right else "cut or wrong"
    return str(answer.status) if answer.status else "none"


def _is_open(each: socket.socket) -> bool:
    try:
        return each.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--idle", type=int, default=4000)
    parser.add_argument("--streams", type=int, default=300)
    parser.add_argument("--listeners", type=int, default=10, help="who come first")
    parser.add_argument("--seconds", type=float, default=60.0, help="length of their texts, about")
    parser.add_argument("--cost", type=int, default=0, help="work for each phoneme, about 0.3 ms on one thread each")
    parser.add_argument("--hold", action="store_true", help="have the server hold all idle connections to the end")
    parser.add_argument("--json", type=Path, help="where the figures go")
    parser.add_argument("--no-verdict", action="store_true")
    asked = parser.parse_args()
    with ExitStack() as stack:
        stack.enter_context(many_files(asked.idle + asked.streams + 1000))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        room = (
            ("--max-connections", str(asked.idle + asked.streams + 10), "--header-timeout", "600") if asked.hold else ()
        )
        serving = stack.enter_context(server(*miniature_arguments(folder, asked.cost), *room))
        serving.hear(input="Warm.", response_format="pcm")
        outcome = asyncio.run(crowd(serving, asked.idle, asked.streams, asked.listeners, asked.seconds))
    figures = asdict(outcome) | {"load": os.getloadavg()[0]}
    print(json.dumps(figures, indent=1))
    if asked.json:
        asked.json.write_text(json.dumps(figures))
    wrong = [
        f"{outcome.dishonest} requests without an honest answer" if outcome.dishonest else "",
        f"{outcome.gaps} gaps" if outcome.gaps else "",
        f"{asked.listeners - outcome.listeners_right} listeners heard something else"
        if outcome.listeners_right < asked.listeners
        else "",
        f"{outcome.growth_mb:.0f} MB more" if outcome.growth_mb > MOST_MEMORY_MB else "",
    ]
    print("; ".join(filter(None, wrong)) or "all as asked")
    return 1 if any(wrong) and not asked.no_verdict else 0


if __name__ == "__main__":
    sys.exit(main())
