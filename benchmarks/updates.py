"""Updates a server again and again while answers of every kind are being sent, and compares each with an undisturbed
one.

    python -m benchmarks.updates [--updates 20] [--broken 5] [--streams 30] [--seed 1] [--json F]

The server runs from a copy of the program, of which a file is replaced before each update; `--broken` of the updates
are to a version that can't be read, whose front ends, that is silent or that is too quiet: these must be refused.
A third of the listeners take a minute of speech slowly, so that their answers span updates; the others ask again and
again, each in its own way (`benchmarks.front_deaths`). Exits 1 if an answer is cut or isn't that of the undisturbed
run, if a good version isn't taken or a broken one is, or if something is left of an earlier version at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.front_deaths import WHOLE, Asked, Crowd, Heard, comparable, fates
from tests.chaos.loops import UNLIMITED
from tests.system.installed import Installation
from tests.system.oracle import miniature_arguments, sentences
from tests.system.server import Server, awaited, server

SLOW_KINDS = ("pcm", "mp3", "flac", "wav")
SLOW_TEXT = sentences(40)
PIECE = 1 << 15
PAUSE = 0.3
"""Seconds between two pieces of a slow listener, in which PCM sounds for 0.7 s."""

BREAKS = {
    "unreadable": ("supervisor/commands/rehearse.py", "import os\n", "import os of\n"),
    "front-ends": ("frontend/process.py", "    setproctitle(_SPARE)\n", "    sys.exit(5)\n"),
    "silent": ("worker/engines/kokoro.py", "to_pcm(Gain(", "to_pcm(0 * Gain("),
    "quiet": ("worker/pcm.py", "FULL_SCALE = 32_767", "FULL_SCALE = 3_000"),
}
TAKEN, REFUSED = "dB; it takes this one's place", "not updated, this version goes on"


async def hear_slowly(asked: Asked, kind: str) -> Heard:
    heard = Heard(kind)
    body = {"input": SLOW_TEXT, "response_format": kind}
    try:
        async with asked.session.post(f"http://{asked.host}/v1/audio/speech", json=body) as response:
            if response.status != 200:
                heard.fate, heard.detail = "refused", await response.text()
                return heard
            while piece := await response.content.read(PIECE):
                heard.sound += piece
                await asyncio.sleep(PAUSE)
    except (aiohttp.ClientError, ConnectionError) as error:
        heard.fate, heard.detail = "cut", repr(error)
    return heard


class SlowCrowd:
    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._expected: dict[str, bytes] = {}
        self.heard: list[Heard] = []
        self.going = True

    async def listen_undisturbed(self) -> None:
        for heard in await asyncio.gather(*(hear_slowly(self._asked, kind) for kind in SLOW_KINDS)):
            assert heard.fate == "complete", heard
            self._expected[heard.kind] = bytes(heard.sound)

    async def listen(self, kind: str) -> None:
        while self.going:
            heard = await hear_slowly(self._asked, kind)
            if heard.fate == "complete" and comparable(kind, heard.sound) != self._expected[kind]:
                heard.fate, heard.detail = "wrong", f"{len(heard.sound)} bytes of {len(self._expected[kind])}"
            heard.sound.clear()
            self.heard.append(heard)


async def update(target: Server, installed: Installation, broken: str) -> str:
    """One update; what was wrong with it, or nothing."""
    start = len(target.log)
    if broken:
        installed.change(*BREAKS[broken])
    target.process.send_signal(signal.SIGUSR2)
    said = await asyncio.to_thread(target.logs, f"{TAKEN}|{REFUSED}.*", start)
    if broken:
        file, old, new = BREAKS[broken]
        installed.change(file, new, old)
    if (TAKEN in said[0]) == bool(broken):
        return f"{broken or 'a good version'}: {said.string}"
    if not broken:
        await asyncio.to_thread(target.announced)
    return ""


def bad_ones(heard: list[Heard]) -> list[str]:
    bad = [each for each in heard if each.fate not in ("complete", "declined")]
    return [f"{each.kind}: {each.fate} {each.detail}" for each in bad]


def plan(options: argparse.Namespace) -> list[str]:
    """The updates in order: empty for a good one, else what is broken."""
    kinds = list(itertools.islice(itertools.cycle(BREAKS), options.broken))
    planned = [*kinds, *[""] * (options.updates - options.broken)]
    random.Random(options.seed).shuffle(planned)
    return planned


async def run(options: argparse.Namespace, target: Server, installed: Installation, wyoming: int) -> dict[str, Any]:
    wrong: list[str] = []
    seconds: list[float] = []
    slow = options.streams // 3
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    patience = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=connector, read_bufsize=PIECE, timeout=patience) as session:
        asked = Asked(session, f"127.0.0.1:{target.port}", wyoming)
        crowd, slow_crowd = Crowd(asked, options.seed), SlowCrowd(asked)
        await crowd.listen_undisturbed()
        await slow_crowd.listen_undisturbed()
        async with crowd.listening(options.streams - slow) as quick, asyncio.TaskGroup() as group:
            for _, kind in zip(range(slow), itertools.cycle(SLOW_KINDS), strict=False):
                group.create_task(slow_crowd.listen(kind))
            for broken in plan(options):
                began = time.monotonic()
                if found := await update(target, installed, broken):
                    wrong.append(found)
                seconds.append(time.monotonic() - began)
                heard = quick + slow_crowd.heard
                print(f"{broken or 'good'}: {fates(heard)}", *bad_ones(heard), sep="\n", file=sys.stderr, flush=True)
            slow_crowd.going = False
    awaited(lambda: target.children("predecessor"), lambda living: not living)
    return {"heard": quick + slow_crowd.heard, "wrong": wrong, "seconds": seconds}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--updates", type=int, default=20, help="all, those to broken versions included")
    parser.add_argument("--broken", type=int, default=5)
    parser.add_argument("--streams", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        installed = Installation(Path(folder, "installed"))
        flags = (*miniature_arguments(Path(folder)), *UNLIMITED, "--wyoming-port", "0", "--standby-front", *WHOLE)
        with server(*flags, root=installed.root) as target:
            wyoming = int(target.logs(r"answered on tcp://\S+:(\d+)")[1])
            found = asyncio.run(run(options, target, installed, wyoming))
            pid = target.process.pid
            left = [each for each in target.family() if each.pid != pid and each.status() == "zombie"]
            stopped = target.stop()
    heard: list[Heard] = found["heard"]
    figures = fates(heard) | {"updates": options.updates, "refused updates": options.broken}
    print("  ".join(f"{name} {count}" for name, count in figures.items()))
    print(f"seconds for an update: {sorted(found['seconds'])[len(found['seconds']) // 2]:.1f} at the median")
    problems = [*found["wrong"], *(f"left: {each}" for each in left), *([f"status {stopped}"] if stopped else [])]
    problems += bad_ones(heard)
    for problem in problems:
        print(problem, file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
