"""The Home Assistant app's folder, against the format that its supervisor reads; and its start, with a supervisor that
this file plays."""

import json
import re
import runpy
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from kokoro_live.installation import Kind
from supervisor.settings.composition import SETTINGS
from supervisor.settings.options import variable

ROOT = Path(__file__).parents[2]
APP = ROOT / "deploy" / "home-assistant"
CONFIG: dict[str, Any] = yaml.safe_load((APP / "config.yaml").read_text())
_RANGE = r"(\(-?\d*\.?\d*,-?\d*\.?\d*\))?"
OPTION = rf"^((int|float|str|password){_RANGE}|bool|email|url|port|match\(.*\)|list\(.+\))\??$"
"""A type of an option as the supervisor reads it; `?` makes it optional."""
PORT = {"type": ["integer", "null"], "minimum": 1, "maximum": 65535}
FORMAT = {
    "type": "object",
    "required": ["name", "version", "slug", "description", "arch"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "version": {"type": "string"},
        "slug": {"type": "string", "pattern": r"^[-_.A-Za-z0-9]+$"},
        "description": {"type": "string"},
        "arch": {"type": "array", "items": {"enum": ["aarch64", "amd64"]}, "minItems": 1},
        "init": {"type": "boolean"},
        "startup": {"enum": ["initialize", "system", "services", "application", "once"]},
        "boot": {"enum": ["auto", "manual", "manual_only"]},
        "discovery": {"type": "array", "items": {"type": "string"}},
        "ports": {"type": "object", "propertyNames": {"pattern": r"^\d+(/tcp|/udp)?$"}, "additionalProperties": PORT},
        "ports_description": {"type": "object", "additionalProperties": {"type": "string"}},
        "watchdog": {"type": "string", "pattern": r"^(?:https?|\[PROTO:\w+\]|tcp):\/\/\[HOST\]:(\[PORT:\d+\]|\d+).*$"},
        "backup_exclude": {"type": "array", "items": {"type": "string"}},
        "homeassistant": {"type": "string", "pattern": r"^\d{4}\.\d+\.\d+$"},
        "options": {"type": "object"},
        "schema": {"type": "object", "additionalProperties": {"type": "string", "pattern": OPTION}},
    },
}
"""The keys that the app uses, with the values that the supervisor takes for them. It knows more."""


def start() -> dict[str, Any]:
    return runpy.run_path(str(APP / "run.py"))


def test_the_supervisor_would_take_its_configuration() -> None:
    jsonschema.validate(CONFIG, FORMAT)
    assert CONFIG["discovery"] == ["wyoming"]
    for wrong in (
        {"startup": "later"},
        {"ports": {"8880/http": 1}},
        {"schema": {"threads": "number"}},
        {"ingres": True},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(CONFIG | wrong, FORMAT)


def test_the_folder_has_what_the_store_shows() -> None:
    for name, size in (("icon.png", (128, 128)), ("logo.png", (250, 100))):
        head = (APP / name).read_bytes()[:24]
        assert head.startswith(b"\x89PNG") and struct.unpack(">II", head[16:]) == size
    documented = (APP / "DOCS.md").read_text()
    assert all(f"| `{name}` |" in documented for name in CONFIG["schema"])


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_option_and_port_has_words_in_each_language(language: str) -> None:
    words = yaml.safe_load((APP / "translations" / f"{language}.yaml").read_text())
    assert set(words) == {"configuration", "network"}
    assert set(words["configuration"]) == set(CONFIG["schema"]) and set(words["network"]) == set(CONFIG["ports"])
    assert all(set(each) == {"name", "description"} for each in words["configuration"].values())


def test_options_are_settings_of_the_server_and_reach_it(tmp_path: Path) -> None:
    assert set(CONFIG["schema"]) <= SETTINGS
    given = {"threads": 2, "wyoming_blends": "af_heart(2)+af_bella", "log_level": "debug", "idle_unload": 0.0}
    made = start()["variables"](given, tmp_path)
    for name, value in given.items():
        assert made[variable(name)] == str(value)
    ours = {name for name in made if name.startswith("KOKORO_LIVE_")}
    assert ours <= {variable(name) for name in SETTINGS}


@pytest.mark.parametrize(("keys", "host"), [(None, "127.0.0.1"), ("", "127.0.0.1"), ("secret", "0.0.0.0")])
def test_http_is_open_to_others_only_with_a_key(tmp_path: Path, keys: str | None, host: str) -> None:
    made = start()["variables"]({"api_keys": keys}, tmp_path)
    assert made["KOKORO_LIVE_HOST"] == host and made["KOKORO_LIVE_WYOMING_HOST"] == "0.0.0.0"
    assert ("KOKORO_LIVE_API_KEYS" in made) is bool(keys)


def test_the_supervisor_hears_of_the_wyoming_port_once_it_is_open() -> None:
    heard: list[tuple[str, str | None, Any]] = []

    class Supervisor(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            heard.append((self.path, self.headers["Authorization"], body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Supervisor) as supervisor, socket.socket() as wyoming:
        thread = threading.Thread(target=supervisor.handle_request)
        thread.start()
        wyoming.bind(("127.0.0.1", 0))
        wyoming.listen()
        port = wyoming.getsockname()[1]
        start()["announce"]("word", f"http://127.0.0.1:{supervisor.server_port}/discovery", "app", port)
        thread.join(30)
    told = {"service": "wyoming", "config": {"uri": f"tcp://app:{port}"}}
    assert heard == [("/discovery", "Bearer word", told)]


def test_its_image_says_what_it_is_and_builds_from_its_own_folder() -> None:
    """The supervisor builds with the folder alone: whatever is copied is in it, or `make dist` puts it there."""
    dockerfile = (APP / "Dockerfile").read_text()
    assert f'echo "{Kind.HOME_ASSISTANT}" > /opt/kokoro-live/installed-as' in dockerfile
    copied = [word for line in re.findall(r"^COPY (.*)", dockerfile, re.MULTILINE) for word in line.split()[:-1]]
    added = re.search(r"cp \$\(WHEEL\) (.*) build/kokoro_live", (ROOT / "Makefile").read_text())
    assert added is not None
    assert set(copied) <= {"kokoro_live-*.whl", *added[1].split(), *(path.name for path in APP.iterdir())}
