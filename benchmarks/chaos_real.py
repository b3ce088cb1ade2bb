"""Kills the worker of a server that speaks with a real model, and compares each sample with an undisturbed run's.

    python -m benchmarks.chaos_real --model MODEL [--voices VOICES] [--kills 20] [--listeners 3] [--seed 1]

`benchmarks.chaos` does the same with the miniature, thousands of times, and knows each sample beforehand. Here each
text is asked for once before the first kill, and again and again by all listeners while the worker is killed: at a
random moment, once every listener has heard something since the last kill. Each text is one segment, so kills hit
segments in their midst; a text of several may be cut elsewhere when its listener is about to run dry, by design.
`stall` is from a kill to the next sample of each listener who was waiting for one. Exits with 1 if a stream isn't
complete, or a sample differs.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.chaos_forms import percentile
from benchmarks.measuring.machine import described
from benchmarks.measuring.report import Table
from tests.system.server import DEADLINE, Server, server
from worker.voices.kokoro_voices import EMBEDDED

TEXTS = (
    "The morning train was late again and nobody on the platform said anything about it.",
    "Two women shared an umbrella beside the only bench under the station clock.",
    "Seven swans swam slowly past the sunken ship in the old harbor.",
    "Did anyone remember to feed the cat before we locked the door?",
    "Most of the paint had peeled off the door but the brass handle still shone.",
    "Good morning everyone.",
)

SEALED_BEFORE = 0.02
"""Seconds after a kill in which a listener may still get what was sealed before it."""

LATEST = 0.5
"""Seconds, at most, from the moment when every listener has heard something to the next kill."""


@dataclass
class Heard:
    """One request: what came when, and how it ended."""

    text: str
    started: float
    pieces: list[tuple[float, bytes]] = field(default_factory=list)
    """Monotonic seconds, and what came then."""
    ended: float | None = None
    """None while it is under way."""
    failure: str = ""

    @property
    def samples(self) -> bytes:
        return b"".join(piece for _, piece in self.pieces)


class Listeners:
    """Threads that ask for the texts in turn, each beginning with another one, until they are dismissed."""

    def __init__(self, to: Server, count: int) -> None:
        self.histories: list[list[Heard]] = [[] for _ in range(count)]
        self._to = to
        self._changed = threading.Condition()
        self._going = True
        self._threads = [threading.Thread(target=self._listen, args=(number,)) for number in range(count)]
        for thread in self._threads:
            thread.start()

    def _listen(self, number: int) -> None:
        for place in itertools.count(number):
            if not self._going:
                return
            heard = Heard(TEXTS[place % len(TEXTS)], time.monotonic())
            self.histories[number].append(heard)
            if again_after := ask(self._to, heard, self._notice):
                self.histories[number].pop()
                time.sleep(again_after)

    def _notice(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def wait_until_all_hear(self, since: float) -> None:
        """Wait until each listener has heard something since then.

        Raises:
            TimeoutError: somebody hears nothing.
        """

        def hear() -> bool:
            latest = [next((heard.pieces[-1][0] for heard in reversed(h) if heard.pieces), 0.0) for h in self.histories]
            return all(at > since for at in latest)

        with self._changed:
            if not self._changed.wait_for(hear, 10 * DEADLINE):
                raise TimeoutError("a listener hears nothing any more")

    def leave(self) -> list[Heard]:
        """Hear out what is under way; every request."""
        self._going = False
        for thread in self._threads:
            thread.join()
        return [heard for history in self.histories for heard in history]


def ask(to: Server, heard: Heard, notice: Callable[[], None] = lambda: None) -> float:
    """Ask for the text and hear it out, whatever happens.

    Returns:
        Seconds after which a server without room for it wants to be asked again; 0 if it had room.
    """
    connection = http.client.HTTPConnection("127.0.0.1", to.port, timeout=10 * DEADLINE)
    try:
        body = json.dumps({"input": heard.text, "response_format": "pcm"})
        connection.request("POST", "/v1/audio/speech", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status == 429:
            return float(response.headers["Retry-After"])
        if response.status != 200:
            heard.failure = f"{response.status} {response.read()!r}"
        while response.status == 200 and (data := response.read1(1 << 16)):
            heard.pieces.append((time.monotonic(), data))
            notice()
    except (http.client.HTTPException, OSError) as error:
        heard.failure = repr(error)
    finally:
        heard.ended = time.monotonic()
        connection.close()
        notice()
    return 0.0


def kill_worker(to: Server) -> float:
    """SIGKILL the worker, and wait until the next one is ready; when the kill was."""
    start = len(to.log)
    (victim, *_) = to.children("worker[")
    os.kill(victim.pid, signal.SIGKILL)
    killed = time.monotonic()
    to.logs(r"worker\[\d+\] is ready", start)
    return killed


def stalls(histories: list[Heard], kills: list[float]) -> list[float]:
    """Seconds that each listener waited at each kill for the next sample."""
    found = []
    for kill in kills:
        for heard in histories:
            later = [at for at, _ in heard.pieces if at > kill + SEALED_BEFORE]
            if heard.started < kill and later:
                found.append(later[0] - kill)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, default=EMBEDDED)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--listeners", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--standby", default="imported", choices=("off", "imported", "loaded"))
    options = parser.parse_args()
    rng = random.Random(options.seed)
    files = ("--model", str(options.model.resolve()), "--voices", str(options.voices.resolve()))
    flags = ("--engine", "kokoro", *files, "--no-adapt-plans", "--cache-bytes", "0", "--standby", options.standby)
    kills: list[float] = []
    with server(*flags, patience=10 * DEADLINE) as target:
        first = [Heard(text, time.monotonic()) for text in TEXTS]
        for heard in first:
            while again_after := ask(target, heard):
                time.sleep(again_after)
        undisturbed = {heard.text: heard.samples for heard in first}
        listeners = Listeners(target, options.listeners)
        try:
            for number in range(options.kills):
                listeners.wait_until_all_hear(kills[-1] + SEALED_BEFORE if kills else 0.0)
                time.sleep(rng.uniform(0, LATEST))
                kills.append(kill_worker(target))
                print(f"killed {number + 1} of {options.kills}", file=sys.stderr, flush=True)
        finally:
            histories = listeners.leave()
    wrong = [heard for heard in histories if heard.samples != undisturbed[heard.text][: len(heard.samples)]]
    short = [heard for heard in histories if heard.failure or len(heard.samples) != len(undisturbed[heard.text])]
    waits = stalls(histories, kills)
    row = (len(kills), len(histories), len(wrong), len(short), percentile(waits, 0.5), max(waits, default=None))
    columns = ("kills", "streams", "with another sample", "not complete", "stall s, median", "longest")
    print(Table(f"{options.model.name}, {options.listeners} listeners", columns, [row]).as_markdown())
    print(described())
    for heard in short:
        print(f"{heard.text!r}: {len(heard.samples)} bytes, {heard.failure or 'ended'}", file=sys.stderr)
    return 1 if wrong or short or not all(undisturbed.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
