"""Short texts: espeak-ng says them at first, and the server's voice once it has made their sounds."""

import re
import string
from pathlib import Path
from typing import Any

import pytest

from shm.audio import SAMPLE_RATE
from supervisor.speechd.config import ModuleConfig
from tests.supervisor.speechd.dispatcher import Scripted, Sender, dispatcher, scripted

pytestmark = pytest.mark.xdist_group("speechd")

SILENCE, SOUND = bytes(SAMPLE_RATE), b"\x40\x40" * 6000


def make(sender: Sender, _: dict[str, Any]) -> None:
    sender.clip(SILENCE + SOUND + SILENCE)


def text_of(asked: dict[str, Any]) -> str:
    return re.sub("<[^>]*>", "", asked["input"])


@pytest.mark.parametrize(
    ("command", "message", "said"),
    [
        ("CHAR", "b", "b"),
        ("KEY", "Return", "Return"),
        ("SPEAK", '<speak>Save file<mark name="m"/></speak>', "Save file"),
    ],
)
def test_what_was_said_once_has_the_servers_voice_from_then_on(
    tmp_path: Path, command: str, message: str, said: str
) -> None:
    with scripted() as server, dispatcher(tmp_path, ModuleConfig(server.url)) as module:
        server.make = make
        by_espeak = module.spoken(command, message)
        assert text_of(server.made.get(timeout=60)) == said, "what was missed comes first"
        server.make = lambda sender, asked: sender.refuse(429, "listeners_first")
        server.made.get(timeout=60)
        audio, *marks = module.spoken(command, message)[1:-1]
        count, rate = map(int, audio.split()[1:])
        assert (rate, SAMPLE_RATE * 0.25 <= count <= SAMPLE_RATE * 0.35) == (SAMPLE_RATE, True), "without its silence"
        assert marks == [each for each in by_espeak if each.startswith("mark")]
        assert not server.asked


def test_letters_and_digits_are_made_ahead_for_each_manner(tmp_path: Path) -> None:
    with scripted() as server, dispatcher(tmp_path, ModuleConfig(server.url)) as module:
        server.make = make
        for rate in (0, 50):
            module.set(rate=rate)
            module.spoken("CHAR", "q")
            made = [server.made.get(timeout=60) for _ in string.ascii_lowercase + string.digits]
            assert {text_of(asked) for asked in made} == set(string.ascii_lowercase + string.digits)
            assert {asked["speed"] for asked in made} == {2.0 ** (rate / 50)}


@pytest.mark.parametrize("settings", [{"punctuation_mode": "all", "language": "es"}, {"cap_let_recogn": "spell"}])
def test_signs_and_capitals_that_are_named_stay_with_espeak(tmp_path: Path, settings: dict[str, str]) -> None:
    with scripted() as server, dispatcher(tmp_path, ModuleConfig(server.url)) as module:
        server.make = make
        module.set(**settings)
        for message in (",", "B"):
            module.spoken("CHAR", message)
        module.set(punctuation_mode="none", cap_let_recogn="none", language="en-US")
        module.spoken("CHAR", "z")
        made = [text_of(server.made.get(timeout=60)) for _ in range(36)]
        assert "," not in made and "B" not in made


def test_a_server_that_is_gone_is_asked_when_somebody_speaks_again(tmp_path: Path) -> None:
    with scripted() as server, dispatcher(tmp_path, ModuleConfig(server.url)) as module:
        lost: list[Scripted] = []

        def cut(sender: Sender, _: dict[str, Any]) -> None:
            lost.append(server)
            raise ConnectionError

        server.make = cut
        module.spoken("KEY", "space")
        server.made.get(timeout=60)
        server.make = make
        module.spoken("KEY", "space")
        assert text_of(server.made.get(timeout=60)) == "space"
        assert len(lost) == 1
