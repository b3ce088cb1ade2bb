"""The SDKs of ElevenLabs, Cartesia and Deepgram for Python and Node, unchanged from the registries, call a real server.

Slow because it installs them (25 s, and 60 s for Node's 138 MB), as `test_voice_agents.py` does; `.ci/run` runs it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.test_openai_node import installed
from tests.clients.test_voice_agents import nothing_is_left, said
from tests.system.server import DEADLINE, ROOT, Server, server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

NODE = Path(__file__).with_name("node-vendors")
SDKS = ["elevenlabs==2.78.0", "cartesia[websockets]==4.2.0", "deepgram-sdk==7.17.0"]
LISTS = {
    "elevenlabs voices.search": "bm_george",
    "elevenlabs voices.get_all": 54,
    "elevenlabs voices.get": "bm_george",
    "elevenlabs voices.settings.get": 1.0,
    "elevenlabs voices.settings.get_default": 1.0,
    "elevenlabs models.list": ["kokoro"],
    "elevenlabs user.get": "local",
    "elevenlabs user.subscription.get": "active",
    "elevenlabs history.list": 0,
    "cartesia voices.list": 54,
    "cartesia voices.get": "af_heart",
    "deepgram manage.v1.models.list": 54,
}
NOT_HERE = {
    "elevenlabs voices.get of nobody": "ApiError 404",
    "elevenlabs text_to_sound_effects.convert": "ApiError 404",
    "cartesia voices.get of nobody": "NotFoundError 404",
    "cartesia voices.clone": "APIStatusError 405",
    "deepgram listen.v1.media.transcribe_url": "ApiError 404",
}
"""Calls that have no answer here, with the error that the SDK makes of it in its own service's shape."""
SEGMENTS = [["JBFqnCBsd6RMkjVDRZzb", 0], ["21m00Tcm4TlvDq8ikWAM", 1]]


@pytest.fixture(scope="module")
def espeak() -> Iterator[Server]:
    with server("--engine", "espeak") as started:
        yield started


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the SDKs have no wheels for it")
def test_each_call_answers(espeak: Server, tmp_path: Path) -> None:
    found = said("sdks_speak.py", SDKS, tmp_path / "venv", espeak.port)
    assert {name: found.pop(name) for name in LISTS} == LISTS
    assert {name: found.pop(name) for name in NOT_HERE} == NOT_HERE
    segments = (found.pop(f"elevenlabs text_to_dialogue.{each}_with_timestamps") for each in ("convert", "stream"))
    assert [*segments] == [SEGMENTS, sorted(voice for voice, _ in SEGMENTS)]
    assert found.pop("cartesia tts.generate_sse with timestamps")[-1] == "motion."
    for name in ("convert_with_timestamps", "stream_with_timestamps"):
        assert found.pop(f"elevenlabs text_to_speech.{name}") == 50  # characters
    assert len(found) == 16 and all(isinstance(size, int) and size > 10_000 for size in found.values()), found
    nothing_is_left(espeak)


OF_NODE = {
    "elevenlabs textToSpeech.convertWithTimestamps": 50,
    "elevenlabs textToSpeech.streamWithTimestamps": 50,
    "elevenlabs textToDialogue.convertWithTimestamps": ["JBFqnCBsd6RMkjVDRZzb", "21m00Tcm4TlvDq8ikWAM"],
    "elevenlabs voices.search": "bm_george",
    "elevenlabs voices.getAll": 54,
    "elevenlabs voices.get": "bm_george",
    "elevenlabs voices.settings.get": 1,
    "elevenlabs models.list": ["kokoro"],
    "elevenlabs user.get": "local",
    "elevenlabs user.subscription.get": "active",
    "elevenlabs history.list": 0,
    "elevenlabs voices.get of nobody": "ElevenLabsError 404",
    "cartesia voices.list": 54,
    "cartesia voices.get": "af_heart",
    "cartesia voices.get of nobody": "NotFoundError 404",
    "deepgram manage.v1.models.list": 54,
}


def test_each_call_of_node_answers(espeak: Server) -> None:
    folder = installed(NODE)
    done = subprocess.run(
        ["node", "speak.mjs", str(espeak.port)], cwd=folder, capture_output=True, text=True, timeout=DEADLINE
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {name: found.pop(name) for name in OF_NODE} == OF_NODE
    assert len(found) == 9 and all(isinstance(size, int) and size > 10_000 for size in found.values()), found
    nothing_is_left(espeak)


def test_the_documents_table_has_every_call() -> None:
    programs = (ROOT / "tests" / "clients" / "agents" / "sdks_speak.py", NODE / "speak.mjs")
    text = "".join(program.read_text() for program in programs)
    calls = set(re.findall(r'"((?:elevenlabs|cartesia|deepgram) [\w. ]+)"', text))
    page = (ROOT / "docs" / "clients.md").read_text()
    assert len(calls) > 35
    for name in calls:
        service, _, call = name.partition(" ")
        assert f"`{call.removeprefix('async ').partition(' ')[0]}`" in page, (service, call)
