"""Listeners who leave in mid-stream: their only ring is free for the next one at once."""

import contextlib
import http.client
import json
import random
import re
import time
from pathlib import Path

from tests.chaos.evidence import SEED, check
from tests.chaos.listeners import Heard, listen, some_text
from tests.chaos.residue import comes_back_to, settled, warm_up
from tests.system.oracle import miniature_arguments
from tests.system.server import Server, server

LEAVERS = 20


def ask(connection: http.client.HTTPConnection, text: str) -> None:
    body = json.dumps({"input": text, "response_format": "pcm"})
    connection.request("POST", "/v1/audio/speech", body, {"Content-Type": "application/json"})


def figure(of: Server, name: str) -> float:
    _, metrics = of.get("/metrics")
    found = re.search(rf"^kokoro_live_{name} (\S+)$", metrics, re.MULTILINE)
    assert found, name
    return float(found[1])


def test_who_leaves_before_the_first_sample_is_not_waited_for(tmp_path: Path) -> None:
    long = " ".join(["and the river goes on"] * 8)  # seconds of work for this model
    with server(*miniature_arguments(tmp_path, cost=100)) as target, contextlib.closing(target.connect()) as leaver:
        made = figure(target, "worker_blocks_total")
        ask(leaver, long)
        target.await_streams(1)
        leaver.close()
        target.await_streams(0)
        assert figure(target, "worker_blocks_total") == made, "the stream ended before anything was made of it"


def test_twenty_listeners_who_leave_cost_the_next_nothing(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    with server(*miniature_arguments(tmp_path), "--rings", "1", "--ring-seconds", "2") as target:
        warm_up(target)
        before = settled(target)
        for number in range(LEAVERS):
            with contextlib.closing(target.connect()) as leaver:
                ask(leaver, some_text(rng, least=6))
                leaver.getresponse().read(rng.randint(1, 48_000))
            if number % 10 == 0:
                heard = listen(target, Heard(number, some_text(rng, longest=2), time.monotonic()))
                check([heard], [], tmp_path, SEED)
        target.await_streams(0)
        assert comes_back_to(before, target) == before
