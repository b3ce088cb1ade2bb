"""docs/coming-from.md and docs/clients.md: requests of other servers' clients; addresses, settings, tests named."""

import io
import json
import re
import wave
from pathlib import Path
from typing import Any

import pytest

from supervisor.settings.composition import SETTINGS
from tests.system.server import Server

DOCUMENT = (Path(__file__).parents[2] / "docs" / "coming-from.md").read_text()
GONE = ["/performance-stats", "/optimization-status", "/cache-status", "/startup-progress"]
GONE += ["/debug/threads", "/debug/storage", "/debug/system", "/dev/unload", "/web/"]


def section(name: str) -> str:
    return DOCUMENT.partition(f"\n## {name}\n")[2].partition("\n## ")[0]


def ask(server: Server, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = server.connect()
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    found = response.status, dict(response.headers), response.read()
    connection.close()
    return found


OLDER = {"text": "The older server's call.", "voice": "af_heart", "speed": 1.0, "lang": "en-us"}


def test_the_older_servers_stream_is_raw_samples(espeak: Server) -> None:
    body = OLDER | {"stream": True, "format": "pcm"}
    status, headers, samples = ask(espeak, "POST", "/v1/audio/speech", body, Accept="audio/pcm")
    assert (status, headers["Content-Type"]) == (200, "audio/pcm")
    assert "X-Warning" not in headers and len(samples) > 24_000
    assert samples[:4] != b"RIFF"


def test_the_older_servers_clip_is_one_exact_wav(espeak: Server) -> None:
    status, headers, clip = ask(espeak, "POST", "/v1/audio/speech", OLDER, Accept="audio/x-wav")
    assert status == 200 and int(headers["Content-Length"]) == len(clip)
    with wave.open(io.BytesIO(clip)) as file:
        assert (file.getframerate(), file.getnchannels()) == (24_000, 1)
        assert file.getnframes() * 2 == len(clip) - 44


@pytest.mark.parametrize("language", ["en-us", "en", "a"])
@pytest.mark.parametrize("field", ["lang", "lang_code"])
def test_languages_may_be_named_as_either_server_does(espeak: Server, field: str, language: str) -> None:
    body = {"model": "kokoro", "input": "Hello.", "voice": "af_heart", "response_format": "pcm", field: language}
    status, headers, _ = ask(espeak, "POST", "/v1/audio/speech", body)
    assert status == 200 and "X-Warning" not in headers


def test_kokoro_fastapis_request_needs_no_change(espeak: Server) -> None:
    body = {
        "model": "kokoro",
        "input": "Hello world!",
        "voice": "af_bella",
        "response_format": "mp3",
        "download_format": "mp3",
        "speed": 1.0,
        "stream": True,
        "return_download_link": True,
        "lang_code": "a",
        "volume_multiplier": 1.0,
        "normalization_options": {"normalize": True},
    }
    status, headers, audio = ask(espeak, "POST", "/v1/audio/speech", body)
    assert status == 200 and audio and "X-Warning" not in headers
    assert ask(espeak, "GET", headers["X-Download-Path"])[0] == 200


@pytest.mark.parametrize("path", GONE)
def test_an_address_that_is_gone_names_its_place(espeak: Server, path: str) -> None:
    assert f"`{path}`" in section("Addresses")
    status, _, body = ask(espeak, "GET", path)
    assert status == 404
    assert " Here " in json.loads(body)["error"]["message"]


def test_each_address_that_is_the_same_is_answered(espeak: Server) -> None:
    rows = [line for line in section("Addresses").splitlines() if "the same" in line]
    paths = {path for row in rows for path in re.findall(r"`(/[\w/]+)`", row)}
    assert len(paths) == 12
    assert not [path for path in paths if ask(espeak, "GET", path)[0] == 404]


def test_each_setting_that_is_named_exists() -> None:
    named = {name.replace("-", "_") for name in re.findall(r"`--([a-z-]+)`", DOCUMENT)}
    assert len(named) > 15
    assert not named - set(SETTINGS)


ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "clients.md").read_text()
EXPLAINS = "Keys and other machines"


def test_every_section_names_a_test_that_is_there() -> None:
    _, *sections = PAGE.split("\n## ")
    for section in sections:
        title = section.splitlines()[0]
        named = re.findall(r"Checked by `(tests/[\w/]+\.py)`", section)
        assert len(named) == (0 if title == EXPLAINS else 1), title
        assert all((ROOT / name).is_file() for name in named), title


def test_every_test_of_a_client_is_named() -> None:
    tests = {f"tests/clients/{file.name}" for file in Path(__file__).parent.glob("test_*.py")} - {
        f"tests/clients/{Path(__file__).name}"
    }
    assert tests <= {*re.findall(r"`(tests/clients/\w+\.py)`", PAGE)}
