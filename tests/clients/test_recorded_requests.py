"""The requests of clients that can't be run here, as their sources write them, against a server with a key."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients.keys import KEY
from tests.frontend.audio.hearing import hear, loudness
from tests.system.server import Server

REQUESTS = json.loads(Path(__file__).with_name("requests.json").read_text())


@pytest.mark.parametrize("recorded", [pytest.param(case, id=case["client"]) for case in REQUESTS])
def test_is_answered_as_the_client_wants_it(keyed: Server, recorded: dict[str, Any]) -> None:
    headers = {name: value.format(key=KEY) for name, value in recorded["headers"].items()}
    body = json.dumps(recorded["body"]) if "body" in recorded else None
    with contextlib.closing(keyed.connect()) as connection:
        connection.request(recorded["method"], recorded["path"], body, headers)
        response = connection.getresponse()
        data = response.read()
    assert response.status == 200, data
    kind = response.getheader("Content-Type", "")
    assert kind.split(";")[0] == recorded["type"]
    if "has" in recorded:
        found = json.loads(data)
        for step in recorded["has"]:
            found = found[step]
        assert isinstance(found, str) and found
    elif kind == "audio/pcm":
        assert not data.startswith(b"RIFF") and len(data) % 2 == 0 and len(data) > 10_000
    else:
        assert loudness(hear(data).samples) > 500
