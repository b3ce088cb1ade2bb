"""Servers that the tests of clients share, each started once."""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from tests.clients.keys import KEY, LIMITED_KEYS
from tests.clients.limited import PER_MINUTE
from tests.system.server import Server
from tests.system.shared import SharedServer, shared
from tests.system.sound_card import HAS_PULSEAUDIO, SoundCard, sound_card


@pytest.fixture(scope="package")
def open_house() -> Iterator[SharedServer]:
    """A server without keys, which makes one stream at a time, and has a Wyoming port."""
    with shared("--engine", "espeak", "--max-streams", "1", "--wyoming-port", "0") as house:
        yield house


@pytest.fixture
def espeak(open_house: SharedServer) -> Server:
    return open_house.calm()


@pytest.fixture(scope="package")
def card() -> Iterator[SoundCard | None]:
    """The sound card of the server with a key; None where PulseAudio isn't installed."""
    with sound_card() if HAS_PULSEAUDIO else nullcontext() as found:
        yield found


@pytest.fixture(scope="package")
def keyed_house(card: SoundCard | None) -> Iterator[SharedServer]:
    environment = card.environment if card else None
    with shared("--engine", "espeak", "--api-keys", KEY, environment=environment) as house:
        yield house


@pytest.fixture
def keyed(keyed_house: SharedServer) -> Server:
    return keyed_house.calm()


@pytest.fixture(scope="package")
def limited_house() -> Iterator[SharedServer]:
    """A server that answers each of `LIMITED_KEYS` `PER_MINUTE` times a minute."""
    keys = ",".join(LIMITED_KEYS)
    with shared("--engine", "espeak", "--api-keys", keys, "--requests-per-minute", str(PER_MINUTE)) as house:
        yield house


@pytest.fixture
def limited(limited_house: SharedServer) -> Server:
    return limited_house.calm()
