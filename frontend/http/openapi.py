"""The API's description, OpenAPI 3.1, built from the table of routes and from the types that parse their bodies."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib import metadata
from typing import Any

import msgspec

from frontend.serving import no_effect
from frontend.serving.errors import REFUSAL_STATUS, Error, ErrorAnswer
from frontend.serving.route import JSON, Access, Answer, Route

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8885; } summary { cursor: pointer; padding: .3rem 0; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; } .method { font-weight: bold; }
pre { background: #8882; padding: .7rem; overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0; border-top: 1px solid #8884; }
@media (prefers-color-scheme: dark) { body { background: #151515; color: #ddd; } a { color: #8bf; } }
"""


def render(document: dict[str, Any], base_url: str) -> str:
    """Render the page; `base_url` is the address in its curl lines."""
    return "".join(_page(document, base_url))


def _page(document: dict[str, Any], base_url: str) -> Iterator[str]:
    info = document["info"]
    title = escape(f"{info['title']} {info['version']}")
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<h1>{title}</h1>"
    yield from (f"<p>{_text(paragraph)}</p>" for paragraph in info["description"].strip().split("\n\n"))
    yield '<p>For programs: <a href="openapi.json">openapi.json</a></p>'
    tag = ""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if operation["tags"][0] != tag:
                tag = operation["tags"][0]
                yield f"<h2>{escape(tag)}</h2>"
            yield from _shown(document, path, method, operation, base_url)


def _shown(document: dict[str, Any], path: str, method: str, operation: dict[str, Any], base_url: str) -> Iterator[str]:
    name = f'<span class="method">{method.upper()}</span> <code>{escape(path)}</code>'
    opened = " open" if "requestBody" in operation else ""
    yield f'<details id="{operation["operationId"]}"{opened}><summary>{name}: {escape(operation["summary"])}</summary>'
    yield f"<p>{_text(operation.get('description', ''))}</p>"
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    yield f"<pre>{escape(_curl(method, base_url + path, body and body['example']))}</pre>"
    for parameter in operation.get("parameters", []):
        yield f"<p><code>{escape(parameter['name'])}</code> ({parameter['in']}): "
        yield f"{_text(parameter.get('description', ''))}</p>"
    if body:
        yield "<table><tr><th>field<th>type<th>meaning"
        for field, schema in _resolved(document, body["schema"]).get("properties", {}).items():
            yield f"<tr><td><code>{escape(field)}</code><td>{escape(_kind(schema))}"
            yield f"<td>{_text(schema.get('description', ''))}"
        yield "</table>"
    yield "<table><tr><th>status<th>type<th>meaning"
    for status, response in operation["responses"].items():
        response = _resolved(document, response)
        kinds = ", ".join(response["content"])
        yield f"<tr><td>{status}<td>{escape(kinds)}<td>{_text(response['description'])}"
    yield "</table></details>"


def _resolved(document: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in found:
        return found
    path = str(found["$ref"]).removeprefix("#/").split("/")
    return functools.reduce(lambda inside, part: inside[part], path, document)


def _kind(schema: dict[str, Any]) -> str:
    """A short description of a schema's type."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "enum" in schema:
        return " or ".join(str(value) for value in schema["enum"] if value is not None)
    if "anyOf" in schema:
        return " or ".join(_kind(option) for option in schema["anyOf"] if option.get("type") != "null")
    limits = [f"{schema['minimum']:g} to {schema['maximum']:g}"] if {"minimum", "maximum"} <= {*schema} else []
    return " ".join([str(schema.get("type", "anything")), *limits])


def _curl(method: str, url: str, body: dict[str, Any] | None) -> str:
    if body is None:
        return f"curl -s {url}"
    data = json.dumps(body).replace("'", "'\\''")
    return f"curl -s {url} -H 'Content-Type: application/json' \\\n     -d '{data}' -o speech"


def _text(prose: str) -> str:
    """HTML of a text that has `code` in it."""
    parts = escape(prose).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))


_DESCRIPTION = """\
A local speech server. Operations under `/v1` also answer without the `/v1`. Errors have the shape of OpenAI's API,
those of the other protocols' operations the shape of their own service.

Where the server has API keys, operations with the `key` scheme need one. The lists, `/metrics` and `/status` answer
clients on the server's own machine without one.
"""

_ERRORS = {
    400: "The request is wrong; `param` names the field.",
    401: "It has no key of this server's.",
    403: "The Host is not one of this server's, or a web page asks that may not (`--cors-origins`).",
    404: "There is no such thing.",
    406: "`Accept` names only types that can't be made here.",
    408: "The body didn't come in time.",
    409: "A later request of the same session interrupted this one, nothing is being played, or the state of the "
    "jobs forbids it.",
    413: "The body is too long.",
    415: "The body is compressed, or of another type.",
    426: "It doesn't ask for a WebSocket, and there is nothing else at this address.",
    429: "Too much is asked: come again after `Retry-After` seconds.",
    500: "The server failed; its log has the reason under this `X-Request-Id`.",
    501: "This machine has no sound card that the server can use.",
    503: "Nothing can speak now: come again after `Retry-After` seconds.",
    507: "The disk has no room, or the jobs have taken all that they may.",
}

_RETRIED = (429, 503)

_HEADERS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "X-Request-Id": ("The client's own, if it was fit for logs, else a new one.", {"type": "string"}),
    "X-Engine": ("The engine.", {"type": "string", "examples": ["kokoro", "espeak-ng"]}),
    "X-Sample-Rate": ("The audio's, in Hz.", {"type": "integer"}),
    "X-Cache": ("`hit` where nothing had to be synthesised for the first of it.", {"enum": ["hit"]}),
    "X-Speakable": ("`none` where the text has no sound: the audio is a short silence.", {"enum": ["none"]}),
    no_effect.HEADER: ("The request's fields and parameters that have no effect.", {"type": "string"}),
    "X-Download-Path": ("Where the whole audio is afterwards, for `return_download_link`.", {"type": "string"}),
    "X-Primed-Silence": ("Seconds of silence that come before the speech.", {"type": "number"}),
    "Retry-After": ("Seconds.", {"type": "integer", "minimum": 1}),
    "WWW-Authenticate": ("Bearer.", {"type": "string"}),
}

_REQUEST_HEADERS = {
    "X-Session": "The session of the request, for `on_busy`.",
    "X-Request-Id": "An id for the request, which the log and the answer repeat.",
    "Cache-Control": "`no-store`: make the audio again, and keep nothing of it.",
    "X-Microsoft-OutputFormat": "The audio's format, `riff-24khz-16bit-mono-pcm` where it is left out.",
    "Last-Event-ID": "With `stream_format`, the last event's or line's `id`: the answer begins after its audio.",
    REFUSAL_STATUS: "`503`: if there is no place, it answers 503, not 429, as some proxies try elsewhere only then.",
}

_SCHEMAS = "#/components/schemas/"

_KEYED: dict[str, list[str]] = {"key": []}
_SECURITY: Mapping[Access, list[dict[str, list[str]]]] = {
    Access.OPEN: [],
    Access.NEAR: [{}, _KEYED],
    Access.LOCAL: [{}, _KEYED],
    Access.HERE: [{}, _KEYED],
    Access.KEY: [_KEYED],
    Access.SOCKET: [_KEYED],
}


def build(routes: Sequence[Route]) -> dict[str, Any]:
    """The document of the routes that have documentation, as JSON's types; operations of one tag stand together."""
    tags = list(dict.fromkeys(route.tag for route in routes))
    documented = sorted((route for route in routes if route.tag), key=lambda route: tags.index(route.tag))
    forms: list[type[ErrorAnswer]] = list(dict.fromkeys((Error, *(route.error_form for route in documented))))
    kinds = [*(form for form in forms if form.content_type == JSON), *_kinds(documented)]
    refs, schemas = msgspec.json.schema_components(kinds, ref_template=f"{_SCHEMAS}{{name}}")
    schema = {id(kind): ref for kind, ref in zip(kinds, refs, strict=True)}
    paths: dict[str, dict[str, Any]] = {}
    for route in documented:
        described = _operation(route, schema)
        described["parameters"] = [*_parameters(route), *_query(route, schemas)]
        paths.setdefault(route.path, {})[route.method] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kokoro-live",
            "version": metadata.version("kokoro-live"),
            "description": _DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "headers": {name: {"description": says, "schema": of} for name, (says, of) in _HEADERS.items()},
            "responses": {_error_name(status, form): _error(status, form) for form in forms for status in _ERRORS},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _kinds(routes: Sequence[Route]) -> list[Any]:
    found = [kind for route in routes for kind in (route.body, route.query)]
    found += [kind for route in routes for answer in route.answers.values() for kind in answer.content.values()]
    return list({id(kind): kind for kind in found if kind is not None}.values())


def _operation(route: Route, schema: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    errors = sorted({*route.errors, *((401,) if route.access is not Access.OPEN else ())} - {*route.answers})
    described: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", f"{route.method} {route.path.removeprefix('/v1')}").strip("_"),
        "tags": [route.tag],
        "summary": route.summary,
        "security": _SECURITY[route.access],
        "responses": {
            **{str(status): _answer(status, answer, schema) for status, answer in route.answers.items()},
            **{
                str(status): {"$ref": f"#/components/responses/{_error_name(status, route.error_form)}"}
                for status in errors
            },
        },
    }
    if route.description:
        described["description"] = route.description
    if route.body is not None:
        content = {"schema": schema[id(route.body)], "example": route.example}
        described["requestBody"] = {"required": route.needs_body, "content": {route.body_type: content}}
    return described


def _parameters(route: Route) -> list[dict[str, Any]]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", route.path)
    ]
    in_header = [
        {"name": name, "in": "header", "description": _REQUEST_HEADERS[name], "schema": {"type": "string"}}
        for name in route.request_headers
    ]
    return in_path + in_header


def _answer(status: int, answer: Answer, schema: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    return {
        "description": answer.description,
        "headers": _header_refs("X-Request-Id", *((no_effect.HEADER,) if status < 400 else ()), *answer.headers),
        "content": {
            content_type: {"schema": schema[id(kind)]} if kind is not None else {}
            for content_type, kind in answer.content.items()
        },
    }


def _error_name(status: int, form: type) -> str:
    return str(status) if form is Error else f"{form.__name__}{status}"


def _error(status: int, form: type[ErrorAnswer]) -> dict[str, Any]:
    extra = ["Retry-After"] if status in _RETRIED else ["WWW-Authenticate"] if status == 401 else []
    schema = {"$ref": f"{_SCHEMAS}{form.__name__}"} if form.content_type == JSON else {"type": "string"}
    content = {form.content_type: {"schema": schema}}
    return {"description": _ERRORS[status], "headers": _header_refs("X-Request-Id", *extra), "content": content}


def _header_refs(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _query(route: Route, schemas: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A parameter for each field of the query's type that a query can hold: an object has no place there."""
    if route.query is None:
        return []
    found = []
    for name, field in schemas[route.query.__name__]["properties"].items():
        kind = field.get("anyOf", [field])[0]
        if schemas.get(kind.get("$ref", "").removeprefix(_SCHEMAS), kind).get("type") == "object":
            continue
        schema = {key: value for key, value in field.items() if key not in ("description", "default")}
        found.append({"name": name, "in": "query", "description": field.get("description", ""), "schema": schema})
    return found
