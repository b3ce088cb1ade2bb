"""The API's description, with all routes and fields; lists that fill clients' menus, and what monitors ask."""

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp import web

from frontend.dialects.dialect import FILES
from frontend.http.app import make_app
from frontend.http.app import routes as declared
from frontend.http.openapi import build
from frontend.monitoring.metrics import Metrics
from frontend.serving.route import Access
from frontend.serving.services import Services
from frontend.settings.front import FrontSettings
from tests.frontend.http_fakes import ENGINE, FakeSpeaker, asking, serving, speech

ROUTES = declared(FrontSettings())

PAGE = {"/", "/static/{name}", "/favicon.ico", "/service-worker.js"}
"""Paths of the page for people, which the description leaves out."""

NASTY_HOST = "<b>x"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    built: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(build(ROUTES)))
    return built


def routes() -> set[tuple[str, str]]:
    """The API's, each with the `/v1` where it also answers without."""

    async def collect() -> set[tuple[str, str]]:
        app = make_app(Services(FakeSpeaker(), FrontSettings(), Metrics()))
        return {
            (route.method.lower(), route.resource.canonical)
            for route in app.router.routes()
            if route.method != "HEAD" and isinstance(route.resource, web.Resource)
        }

    found = asyncio.run(collect())
    doubled = {(method, path) for method, path in found if (method, f"/v1{path}") in found}
    return {(method, path) for method, path in found - doubled if path not in PAGE}


def test_every_route_is_in_the_description_and_vice_versa(document: dict[str, Any]) -> None:
    described = {(method, path) for path, methods in document["paths"].items() for method in methods}
    assert described == routes()
    identifiers = [operation["operationId"] for methods in document["paths"].values() for operation in methods.values()]
    assert len(identifiers) == len({*identifiers}) == len([route for route in ROUTES if route.tag])


def references(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"]
        for value in part.values():
            yield from references(value)
    elif isinstance(part, list):
        for value in part:
            yield from references(value)


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    for reference in {*references(document)}:
        found = document
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
        assert found


def test_every_field_and_parameter_that_a_client_may_send_is_explained(document: dict[str, Any]) -> None:
    kinds = [kind for route in ROUTES for kind in (route.body, route.query)]
    schemas = document["components"]["schemas"]
    reached, seen = {kind.__name__ for kind in kinds if isinstance(kind, type)}, set[str]()
    while names := reached - seen:
        seen |= names
        parts = json.dumps([schemas[name]["properties"] for name in names if "properties" in schemas[name]])
        reached |= set(re.findall(r"#/components/schemas/(\w+)", parts))
    dumb = [
        f"{name}.{field}"
        for name in seen
        for field, schema in schemas.get(name, {}).get("properties", {}).items()
        if not schema.get("description")
    ]
    assert dumb == []


@pytest.mark.parametrize("path", ["/v1/audio/speech", "/v1/audio/dialogue", "/dev/captioned_speech"])
def test_headers_that_speech_obeys_are_described(document: dict[str, Any], path: str) -> None:
    parameters = document["paths"][path]["post"]["parameters"]
    named = {each["name"] for each in parameters if each["in"] == "header"}
    events = set() if "captioned" in path else {"Last-Event-ID"}
    assert named == {"X-Session", "X-Request-Id", "Cache-Control", "X-Refusal-Status"} | events


def test_what_needs_a_key_says_so(document: dict[str, Any]) -> None:
    for route in ROUTES:
        if route.tag:
            operation = document["paths"][route.path][route.method]
            keyed = {"key": []} in operation["security"]
            assert keyed == (route.access is not Access.OPEN) == ("401" in operation["responses"])
    assert document["paths"]["/v1/audio/speech"]["post"]["security"] == [{"key": []}]


async def test_it_is_served_as_it_was_built(document: dict[str, Any]) -> None:
    response, body = await got("/openapi.json")
    assert (response.status, response.content_type) == (200, "application/json")
    assert json.loads(body) == document
    assert document["openapi"].startswith("3.1")


async def got(path: str, speaker: FakeSpeaker | None = None, **headers: str) -> tuple[aiohttp.ClientResponse, bytes]:
    async with asking(
        speaker or FakeSpeaker(),
        path,
        settings=FrontSettings(allowed_hosts=(NASTY_HOST,)),
        method="GET",
        headers=headers,
    ) as response:
        return response, await response.read()


async def test_the_examples_work_and_get_a_described_type(document: dict[str, Any]) -> None:
    async with serving(FakeSpeaker(speech(2400))) as server, aiohttp.ClientSession(server.url) as client:
        body = document["paths"]["/v1/audio/speech"]["post"]["requestBody"]["content"]["application/json"]["example"]
        for name in ("mp3", "opus", "aac", "flac", "wav", "pcm"):
            async with client.post("/v1/audio/speech", json=body | {"response_format": name}) as response:
                assert response.status == 200 and response.content_type in FILES
                assert await response.read()


async def test_the_page_shows_all_of_it_and_asks_nobody_else(document: dict[str, Any]) -> None:
    response, body = await got("/docs", Host="localhost:8880")
    assert (response.status, response.content_type) == (200, "text/html")
    assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
    page = body.decode()
    for path in document["paths"]:
        assert f"<code>{path}</code>" in page
        assert f"curl -s http://localhost:8880{path}" in page
    for field in document["components"]["schemas"]["SpeechBody"]["properties"]:
        assert f"<td><code>{field}</code>" in page
    assert not re.search(r"<script|<link|<img|<iframe|@import|url\(", page)
    assert re.findall(r'(?:href|src)="([^"]*)"', page) == ["openapi.json"]


async def test_the_page_can_not_be_written_into_through_the_host() -> None:
    response, body = await got("/docs", Host=NASTY_HOST)
    assert response.status == 200
    assert b"<b>x" not in body and b"&lt;b&gt;x" in body


MODELS = ["kokoro", "tts-1", "tts-1-hd", "gpt-4o-mini-tts"]


@pytest.mark.parametrize("prefix", ["/v1", ""])
@pytest.mark.parametrize("speaking", [True, False])
async def test_models_are_known_whether_anything_speaks_or_not(prefix: str, speaking: bool) -> None:
    speaker = FakeSpeaker(engine=ENGINE if speaking else None)
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        async with client.get(f"{prefix}/models") as response:
            listing = await response.json()
        async with client.get(f"{prefix}/audio/models") as response:
            assert [model["id"] for model in (await response.json())["models"]] == MODELS
        for model in listing["data"]:
            async with client.get(f"{prefix}/models/{model['id']}") as response:
                assert (response.status, await response.json()) == (200, model)
    assert listing["object"] == "list"
    assert [model["id"] for model in listing["data"]] == MODELS
    for model in listing["data"]:
        assert set(model) == {"id", "object", "created", "owned_by"}
        assert model["object"] == "model" and isinstance(model["created"], int)


@pytest.mark.parametrize("name", ["whisper-1", "a/b", "kokoro%20"])
async def test_an_unknown_model_is_404_in_shape(name: str) -> None:
    async with serving(FakeSpeaker()) as server, aiohttp.ClientSession() as client:
        async with client.get(f"{server.url}/v1/models/{name}") as response:
            error = (await response.json())["error"]
        assert (response.status, error["param"], error["code"]) == (404, "model", "model_not_found")


@pytest.mark.parametrize("path", ["/v1/audio/voices", "/audio/voices", "/v1/voices", "/voices"])
async def test_voices_are_the_engines(path: str) -> None:
    async with asking(FakeSpeaker(), path, method="GET") as response:
        voices = (await response.json())["voices"]
    assert [voice["id"] for voice in voices] == list(ENGINE.voice_names)
    by_id = {voice["id"]: voice for voice in voices}
    heart = {"id": "af_heart", "name": "af_heart", "language": "en-us", "gender": "female"}
    heart |= {"engine": "kokoro", "grade": "A"}
    besides = {} if "audio" in path else {"voice_id": "af_heart", "category": "premade"}
    assert by_id["af_heart"] == heart | besides
    assert (by_id["am_echo"]["gender"], by_id["bf_emma"]["language"]) == ("male", "en-gb")
    assert by_id["zf_xiaobei"]["language"] == "cmn"


_CARTESIA, _ELEVENLABS, _DEEPGRAM = {"Cartesia-Version": "1"}, {"xi-api-key": "any"}, {"Authorization": "Token any"}


@pytest.mark.parametrize(
    ("path", "headers", "status", "fields"),
    [
        ("/v1/models", _ELEVENLABS, 200, {"model_id", "token_cost_factor"}),
        ("/v1/models", _DEEPGRAM, 200, {"stt", "tts"}),
        ("/v1/models", _CARTESIA, 200, {"object", "data"}),
        ("/v1/voices", _CARTESIA, 200, {"data", "has_more"}),
        ("/v1/voices", _DEEPGRAM, 200, {"voices"}),
        ("/v1/voices/af_heart", _CARTESIA, 200, {"tagline", "locales"}),
        ("/v1/voices/af_heart", {}, 200, {"voice_id", "preview_url"}),
        ("/nowhere", _CARTESIA, 404, {"title", "status_code"}),
        ("/nowhere", _ELEVENLABS, 404, {"detail"}),
        ("/nowhere", _DEEPGRAM, 404, {"err_code", "err_msg"}),
        ("/nowhere", {}, 404, {"error"}),
    ],
)
async def test_shared_paths_answer_in_the_shape_of_the_service_whose_client_asks(
    path: str, headers: dict[str, str], status: int, fields: set[str]
) -> None:
    async with asking(FakeSpeaker(), path, method="GET", headers=headers) as response:
        found = await response.json()
    assert response.status == status
    assert fields <= set(found[0] if isinstance(found, list) else found)


async def test_voices_are_503_while_nothing_speaks() -> None:
    async with asking(FakeSpeaker(engine=None), "/v1/audio/voices", method="GET") as response:
        assert (response.status, response.headers["Retry-After"]) == (503, "3")
        assert (await response.json())["error"]["message"] == "the model is loading"


async def test_ready_follows_the_speaker_and_health_does_not() -> None:
    speaker = FakeSpeaker(engine=None)
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        async with client.get("/ready") as response:
            assert (response.status, response.headers["Retry-After"]) == (503, "3")
            assert await response.json() == {"ready": False, "reason": "the model is loading"}
        async with client.get("/health") as response:
            assert (response.status, await response.json()) == (200, {"status": "ok"})
        speaker.engine = ENGINE
        async with client.get("/ready") as response:
            assert response.status == 503, "its worker is being restarted: requests wait, but nothing speaks"
        speaker.reason = ""
        async with client.get("/ready") as response:
            assert response.status == 200
            assert await response.json() == {
                "ready": True,
                "engine": "kokoro",
                "provider": "CPUExecutionProvider",
                "model": "tiny.onnx",
            }
