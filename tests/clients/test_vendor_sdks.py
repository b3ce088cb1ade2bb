"""The SDKs of ElevenLabs, Cartesia, Deepgram and Google for Python and Node, unchanged from the registries, call a real
server, without TLS and over it.

Slow because it installs them (25 s, and 60 s for Node's 165 MB), as `test_voice_agents.py` does; `.ci/run` runs it.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.test_openai_node import installed
from tests.clients.test_voice_agents import nothing_is_left, python_with, said
from tests.system.server import DEADLINE, ROOT, Server, server
from tests.system.test_tls import SecureServer, make

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

NODE = Path(__file__).with_name("node-vendors")
SDKS = [
    "elevenlabs==2.78.0",
    "cartesia[websockets]==4.2.0",
    "deepgram-sdk==7.17.0",
    "google-cloud-texttospeech==2.38.0",
]
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
    "deepgram speak.v2.connect interrupted": ["SpeechInterrupted", "The first move"],
    "deepgram manage.v1.models.list": 54,
    "google list_voices": 54,
    "google list_voices of a language": 1,
    "google synthesize_speech with marks": ["here", "there"],
    "azure cognitiveservices/voices/list": 54,
}
NOT_HERE = {
    "elevenlabs voices.get of nobody": "ApiError 404",
    "elevenlabs text_to_sound_effects.convert": "ApiError 404",
    "cartesia voices.get of nobody": "NotFoundError 404",
    "cartesia voices.clone": "APIStatusError 405",
    "deepgram listen.v1.media.transcribe_url": "ApiError 404",
    "google synthesize_speech of nobody": "BadRequest",
}
"""Calls that have no answer here, with the error that the SDK makes of it in its own service's shape."""
SEGMENTS = [["JBFqnCBsd6RMkjVDRZzb", 0], ["21m00Tcm4TlvDq8ikWAM", 1]]


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureServer]:
    made = make(tmp_path_factory.mktemp("certificate"))
    files = ("--tls-cert", str(made / "certificate.pem"), "--tls-key", str(made / "key.pem"))
    with server("--engine", "espeak", "--tls-port", "0", *files) as started:
        yield SecureServer(started, made)


@pytest.fixture(scope="module")
def espeak(secure: SecureServer) -> Server:
    return secure.plain


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return python_with(SDKS, tmp_path_factory.mktemp("sdks") / "venv")


@pytest.fixture(params=["http", "https"])
def address(request: pytest.FixtureRequest, secure: SecureServer) -> str:
    over_tls = request.param == "https"
    return f"https://localhost:{secure.port}" if over_tls else f"http://127.0.0.1:{secure.plain.port}"


def believing(secure: SecureServer) -> dict[str, str]:
    """The lines of an environment that make SDKs believe the server's certificate."""
    authority, all_of_them = str(secure.authority), str(secure.authority.with_name("authorities.pem"))
    return {"SSL_CERT_FILE": all_of_them, "REQUESTS_CA_BUNDLE": all_of_them, "NODE_EXTRA_CA_CERTS": authority}


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the SDKs have no wheels for it")
def test_each_call_answers(espeak: Server, secure: SecureServer, python: Path, address: str) -> None:
    found = said("sdks_speak.py", python, address, believing(secure))
    assert {name: found.pop(name) for name in LISTS} == LISTS
    assert {name: found.pop(name) for name in NOT_HERE} == NOT_HERE
    segments = (found.pop(f"elevenlabs text_to_dialogue.{each}_with_timestamps") for each in ("convert", "stream"))
    assert [*segments] == [SEGMENTS, sorted(voice for voice, _ in SEGMENTS)]
    assert found.pop("cartesia tts.generate_sse with timestamps")[-1] == "motion."
    for name in ("convert_with_timestamps", "stream_with_timestamps"):
        assert found.pop(f"elevenlabs text_to_speech.{name}") == 50  # characters
    assert len(found) == 20 and all(isinstance(size, int) and size > 10_000 for size in found.values()), found
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
    "google synthesizeSpeech with marks": ["here", "there"],
    "google synthesizeSpeech of nobody": "GaxiosError 400",
    "google listVoices": 54,
    "deepgram manage.v1.models.list": 54,
}


def test_each_call_of_node_answers(espeak: Server, secure: SecureServer, address: str) -> None:
    folder, environment = installed(NODE), os.environ | believing(secure)
    command = ["node", "speak.mjs", address]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=DEADLINE, env=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {name: found.pop(name) for name in OF_NODE} == OF_NODE
    assert len(found) == 11 + address.startswith("https") and all(
        isinstance(size, int) and size > 10_000 for size in found.values()
    ), found
    nothing_is_left(espeak)


def test_the_documents_table_has_every_call() -> None:
    programs = (ROOT / "tests" / "clients" / "agents" / "sdks_speak.py", NODE / "speak.mjs")
    text = "".join(program.read_text() for program in programs)
    calls = set(re.findall(r'"((?:elevenlabs|cartesia|deepgram|google) [\w. ]+)"', text))
    page = (ROOT / "docs" / "clients.md").read_text()
    assert len(calls) > 35
    for name in calls:
        service, _, call = name.partition(" ")
        assert f"`{call.removeprefix('async ').partition(' ')[0]}`" in page, (service, call)
