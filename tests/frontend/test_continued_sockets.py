"""A socket whose front is killed goes on from its successor: every event once, and the same audio."""

import random
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.frontend.conversations import CONVERSATIONS, Conversation, Told
from tests.frontend.killable_fronts import Client, Fronts, fronts

SLOW = pytest.mark.slow
"""Each test starts several fronts, a second of a core each: make test has one of each kind."""


@pytest.fixture(scope="module")
def made() -> Iterator[Fronts]:
    with fronts(cache_bytes=0) as started:
        yield started


def converse(
    made: Fronts, spoken: Conversation, kills: Sequence[int] = (), seed: int = 0
) -> tuple[dict[str, Told], int]:
    """Told contexts, and the number of their bytes. Half of the input is sent after the first kill.

    Args:
        kills: bytes of the answer after which the front is killed.
    """
    draw = random.Random(seed)
    client = Client(made, spoken.opening, wyoming=not spoken.path)
    if spoken.opening:
        client.wait(lambda wire: b"\r\n\r\n" in wire)
    half = len(spoken.input) // 2
    client.socket.sendall(b"".join(spoken.input[:half]))
    for number, at in enumerate(kills):
        client.read(at)
        made.kill(draw.choice((signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP)))
        if not number:
            client.socket.sendall(b"".join(spoken.input[half:]))
    if not kills:
        client.socket.sendall(b"".join(spoken.input[half:]))
    client.wait(lambda wire: spoken.told(bytes(wire))[1])
    client.socket.close()
    return spoken.told(bytes(client.heard))[0], len(client.heard)


SHORT = ("elevenlabs", "deepgram", "wyoming")


@pytest.mark.parametrize("name", [name if name in SHORT else pytest.param(name, marks=SLOW) for name in CONVERSATIONS])
def test_every_event_is_told_once_after_kills(made: Fronts, name: str) -> None:
    spoken, draw = CONVERSATIONS[name], random.Random(len(name))
    once, length = converse(made, spoken)
    told, _ = converse(made, spoken, sorted(draw.randrange(200, length) for _ in range(3)), len(name))
    assert told == once


@SLOW
@pytest.mark.parametrize("name", [*CONVERSATIONS])
@pytest.mark.parametrize("place", ["unit-kept", "unit-sent"])
def test_a_kill_at_each_place_of_a_write_costs_nothing(tmp_path: Path, place: str, name: str) -> None:
    with fronts(tmp_path, cache_bytes=0) as mortal:
        once, _ = converse(mortal, CONVERSATIONS[name])
        (tmp_path / f"MainProcess.{place}").write_text("5")
        spoken = CONVERSATIONS[name]
        client = Client(mortal, spoken.opening, wyoming=not spoken.path)
        with client.socket:
            if spoken.opening:
                client.wait(lambda wire: b"\r\n\r\n" in wire)
            client.socket.sendall(b"".join(spoken.input))
            client.allow()
            mortal.outlives()
            client.wait(lambda wire: spoken.told(bytes(wire))[1])
            assert spoken.told(bytes(client.heard))[0] == once
