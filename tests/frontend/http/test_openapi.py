"""The API's description: all routes and nothing else, every field explained, and answers that are as it says."""

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
from tests.frontend.http_fakes import FakeSpeaker, asking, serving, speech

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
    """A GET's answer."""
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
