"""The named places of worker, front and shm code at which a process can be killed, and streams during which one is."""

import random
import threading
import time
from pathlib import Path

from tests.chaos.evidence import SEED, Kill
from tests.chaos.listeners import Heard, listen, some_text
from tests.chaos.loops import UNLIMITED
from tests.system.server import Server

FLAGS = (*UNLIMITED, "--ring-seconds", "2")
"""Settings of the server: rings so short that blocks wrap and wait for room."""

WORKER = {
    "order-read": 3,
    "release-read": 3,
    "forget-read": 1,
    "before-block": 3,
    "block-made": 3,
    "ring-half": 3,
    "written": 3,
    "committed": 3,
    "before-done": 3,
    "frame-half": 8,
}
"""Each place, and at which of its passages within a stream the kill may come."""

FRONT = {
    "parsed": 1,
    "dispatched": 3,
    "frame-half": 3,
    "before-seal": 3,
    "sealed": 3,
    "before-headers": 1,
    "after-headers": 1,
    "chunk": 10,
    "released": 3,
}

REACHED = 60.0
"""Seconds within which a place must be passed after the streams' ends."""


class Victim:
    """Streams against a server, in each of which a process is killed at one place."""

    def __init__(self, to: Server, orders: Path, role: str, place: str, passages: int, seed: int = SEED) -> None:
        self.to = to
        self.role = role
        self.place = place
        self.order = orders / f"{role}.{place}"
        self.rng = random.Random(f"{seed} {role} {place}")
        self.passages = passages
        self.histories: list[Heard] = []
        self.kills: list[Kill] = []

    def hear_two(self) -> list[Heard]:
        """Two streams at once, the order to kill being given before."""
        self.order.write_text(str(self.rng.randint(1, self.passages)))
        heard = [Heard(number, some_text(self.rng, least=5), time.monotonic()) for number in range(2)]
        threads = [threading.Thread(target=listen, args=(self.to, one)) for one in heard]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.histories += heard
        end = time.monotonic() + REACHED
        while self.order.exists():  # the worker may read that a stream is over after its listener has all of it
            assert time.monotonic() < end, f"{self.order.name} was not reached"
            time.sleep(0.005)
        self.kills.append(Kill(self.order.name, heard[0].ended))
        return heard

    def hear_one(self) -> Heard:
        """A stream that nothing is to happen to."""
        heard = listen(self.to, Heard(2, some_text(self.rng), time.monotonic()))
        self.histories.append(heard)
        return heard
