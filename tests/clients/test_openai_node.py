"""OpenAI's own Node SDK against a real server."""

import json
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.clients.keys import LIMITED_KEYS
from tests.system.shared import SharedServer

HERE = Path(__file__).with_name("node")
*_, KEY, LIMITED = LIMITED_KEYS
OLDEST = 20
"""The oldest Node that the SDK supports."""


def node_version() -> int:
    if shutil.which("npm") is None or (node := shutil.which("node")) is None:
        return 0
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"v(\d+)", said)
    return int(found[1]) if found else 0


def installed(here: Path) -> Path:
    """The script of that folder alongside its pinned SDKs, which are kept in the virtual environment from one run to
    the next."""
    if (version := node_version()) < OLDEST:
        pytest.skip(
            f"NODE'S SDKS WERE NOT TESTED: they need node {OLDEST} and npm; this machine has {version or 'none'}"
        )
    lock = (here / "package-lock.json").read_bytes()
    folder = Path(sys.prefix, "node", sha256(lock).hexdigest()[:16])
    folder.mkdir(parents=True, exist_ok=True)
    for file in here.iterdir():
        shutil.copy(file, folder)
    if not (folder / "node_modules" / ".package-lock.json").exists():
        install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(install, cwd=folder, check=True, capture_output=True, timeout=300)
    return folder


@pytest.fixture(scope="package")  # as long as the server: a key's minute is used up once
def heard(limited_house: SharedServer) -> Any:
    folder = installed(HERE)
    url = f"http://127.0.0.1:{limited_house.calm().port}/v1"
    command = ["node", "speak.mjs", url, KEY, LIMITED]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_format(heard: dict[str, Any]) -> None:
    sizes = heard["formats"]
    assert {*sizes} == {"mp3", "opus", "aac", "flac", "wav", "pcm"}
    assert sizes["wav"] == sizes["pcm"] + 44
    assert all(5_000 < sizes[name] < sizes["pcm"] for name in ("mp3", "opus", "aac", "flac"))


def test_a_stream_comes_piece_by_piece_and_is_the_same(heard: dict[str, Any]) -> None:
    streamed = heard["streamed"]
    assert streamed["chunks"] > 1
    assert (streamed["sha256"], streamed["engine"], streamed["type"]) == (heard["pcm"], "espeak-ng", "audio/pcm")
    assert heard["parallel"] == [heard["pcm"]] * 4


def test_the_models(heard: dict[str, Any]) -> None:
    assert {"kokoro", "tts-1"} <= {*heard["models"]}


@pytest.mark.parametrize(
    ("which", "error"),
    [
        ("badVoice", ("BadRequestError", 400, "unknown_voice", "voice")),
        ("badKey", ("AuthenticationError", 401, "invalid_api_key", None)),
        ("limited", ("RateLimitError", 429, "rate_limit_exceeded", None)),
    ],
)
def test_errors_are_the_sdks(heard: dict[str, Any], which: str, error: tuple[str, int, str, str | None]) -> None:
    got = heard[which]
    assert (got["name"], got["status"], got["code"], got["param"]) == error
    assert got["type"] == "invalid_request_error"


def test_it_comes_again_when_it_was_told(heard: dict[str, Any]) -> None:
    assert heard["retried"]["statuses"] == [429, 200]
    assert heard["retried"]["length"] == heard["formats"]["mp3"]
