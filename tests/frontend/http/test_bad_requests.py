"""Every bad request of the corpus gets its status in OpenAI's shape, opens no stream, and harms nobody."""

import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from frontend.settings.front import FrontSettings
from tests.frontend.http_fakes import FakeSpeaker, serving, speech

CORPUS = json.loads(Path(__file__).with_name("bad_requests.json").read_text())
LIMITS = FrontSettings(max_body_bytes=250_000, max_input_characters=5000)


def body_of(case: dict[str, Any]) -> bytes:
    match case:
        case {"body": body}:
            return json.dumps(body).encode()
        case {"raw": text}:
            return text.encode()
        case {"raw_hex": digits}:
            return bytes.fromhex(digits)
        case {"repeat": [before, part, times, after]}:
            return (before + part * times + after).encode()
    raise AssertionError(f"{case['name']} has no body")


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CORPUS])
async def test_is_refused_in_shape(case: dict[str, Any]) -> None:
    speaker = FakeSpeaker(speech(10))
    async with serving(speaker, LIMITS) as server, aiohttp.ClientSession(server.url) as client:
        async with client.post(
            case.get("path", "/v1/audio/speech"), data=body_of(case), headers=case.get("headers")
        ) as response:
            answer = await response.json()
            assert response.status == case["status"], answer
            assert response.headers["X-Request-Id"]
        error = answer["error"]
        assert answer == {"error": error}
        assert set(error) == {"message", "type", "param", "code"}
        assert error["type"] == "invalid_request_error"
        assert (error["param"], error["code"]) == (case.get("param"), case["code"]), error
        assert case.get("says", "") in error["message"]
        assert 0 < len(error["message"]) < 400
        assert speaker.opened == []
        async with client.post("/v1/audio/speech", json={"input": "still well"}) as response:
            assert response.status == 200
