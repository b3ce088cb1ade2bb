"""Measures the pause between a front's death in the middle of an answer and the answer's next byte from its successor.

    python -m benchmarks.takeover [--kills 30] [--format pcm] [--sentences 40] [--no-standby] [--full]

A client reads as fast as it can on the miniature model, which caches nothing, so that what it hears after a kill was
sent after it. In each answer the front is killed (SIGKILL) once, between a third and two thirds of its length. Prints
the pauses' median and 95th percentile, and the proportional memory of the fronts. With `--full` the client stops
reading before each kill, as one does that plays in real time, until all buffers on the way are full; then a pause is
the longest one in the next minute of audio, and the audio is printed that a player had left at its end. Exits 1 if an
answer isn't that of the undisturbed run.
"""

from __future__ import annotations

import argparse
import json
import random
import select
import socket
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import psutil

from benchmarks.front_deaths import comparable
from benchmarks.measuring.figures import Summary
from frontend.audio.formats import FORMATS, output_of
from tests.chaos.loops import UNLIMITED
from tests.frontend.killable_fronts import Answer
from tests.system.oracle import miniature_arguments, sentences
from tests.system.server import DEADLINE, Server, awaited, server

IN_FLIGHT = 0.002
"""Seconds without a byte after which what the dead front had sent was read."""


FULL = 3.0
"""Seconds without reading after which all buffers are full."""

AFTER = 60.0
"""Seconds of audio after a kill in which a pause is looked for."""


def front(of: Server) -> psutil.Process:
    return awaited(lambda: of.children("front"))[0]


def answered(connection: socket.socket, body: dict[str, object]) -> bytearray:
    """Ask, and return the first bytes of the answer."""
    data = json.dumps(body).encode()
    head = (
        "POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
    )
    connection.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
    return bytearray(connection.recv(1 << 16))


def pause(of: Server, body: dict[str, object], at: int) -> tuple[float, bytes]:
    """Seconds from a kill, once so many bytes were read, to the next byte; and the whole answer."""
    victim = front(of)
    with closing(socket.create_connection(("127.0.0.1", of.port), DEADLINE)) as connection:
        heard = answered(connection, body)
        while len(heard) < at:
            heard += connection.recv(1 << 16)
        killed = time.monotonic()
        victim.kill()
        while select.select([connection], [], [], IN_FLIGHT)[0]:
            heard += connection.recv(1 << 16)
        select.select([connection], [], [], DEADLINE)
        seconds = time.monotonic() - killed
        return seconds, bytes(heard) + rest(connection)


def heard_late(of: Server, body: dict[str, object], at: int, rate: float) -> tuple[float, float, bytes]:
    """The longest pause after a kill, once so many bytes were read and all buffers are full; the audio that was left to
    play at its end, in seconds; and the whole answer."""
    victim = front(of)
    with closing(socket.create_connection(("127.0.0.1", of.port), DEADLINE)) as connection:
        heard = answered(connection, body)
        while len(heard) < at:
            heard += connection.recv(1 << 16)
        time.sleep(FULL)
        read, before = len(heard), time.monotonic()
        killed, longest, left = before, 0.0, 0.0
        victim.kill()
        while len(heard) - read < AFTER * rate and (got := connection.recv(1 << 16)):
            now = time.monotonic()
            if now - before > longest:
                longest, left = now - before, (len(heard) - read) / rate - (now - killed)
            before = now
            heard += got
        return longest, left, bytes(heard) + rest(connection)


def rest(connection: socket.socket) -> bytes:
    parts: list[bytes] = []
    while got := connection.recv(1 << 16):
        parts.append(got)
    return b"".join(parts)


def measured(of: Server, options: argparse.Namespace, standby: bool) -> tuple[list[float], int]:
    """The pauses, and the number of answers that weren't the undisturbed one."""
    rate = output_of(FORMATS[options.format]).bytes_per_second
    body: dict[str, object] = {"input": sentences(options.sentences), "response_format": options.format}
    with closing(socket.create_connection(("127.0.0.1", of.port), DEADLINE)) as connection:
        whole = bytes(answered(connection, body)) + rest(connection)
    rng = random.Random(options.seed)
    pauses, wrong = [], 0
    for _ in range(options.kills):
        awaited(lambda: of.children("front") and (not standby or of.children("spare front")))
        at = rng.randrange(len(whole) // 3, len(whole) * 2 // 3)
        if options.full:
            seconds, left, wire = heard_late(of, body, at, rate)
            print(f"at {at / rate:.0f} s of audio: {seconds:.2f} s, {left:.1f} s were left to play", flush=True)
        else:
            seconds, wire = pause(of, body, at)
        pauses.append(seconds)
        wrong += sound(options.format, wire) != sound(options.format, whole)
    return pauses, wrong


def sound(kind: str, wire: bytes) -> bytes:
    """An answer's body, without what differs between two answers."""
    return comparable(kind, bytearray(Answer(wire).body))


def memory(processes: list[psutil.Process]) -> list[int]:
    """Each one's proportional memory, in megabytes."""
    return [round(each.memory_full_info().pss / 1e6) for each in processes]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--format", default="pcm")
    parser.add_argument("--sentences", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-standby", action="store_true")
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    spare = () if options.no_standby else ("--standby-front",)
    with tempfile.TemporaryDirectory() as folder:
        flags = (*miniature_arguments(Path(folder), cost=1), *UNLIMITED, *spare)
        with server(*flags) as target:
            pauses, wrong = measured(target, options, bool(spare))
            awaited(lambda: target.children("spare front" if spare else "front"))
            print(f"PSS, MB: front {memory(target.children('front'))}, spare {memory(target.children('spare front'))}")
    found = Summary.of(pauses)
    worst = f"{found.p95:.3f}" if found.p95 is not None else "-"
    print(f"{found.count} kills: median {found.median:.3f} s, p95 {worst}, most {found.most:.3f}; {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
