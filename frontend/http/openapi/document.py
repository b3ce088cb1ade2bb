"""The API's description, OpenAPI 3.1, built from the table of routes and from the types that parse their bodies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import msgspec

from frontend.dialects.all import DIALECTS
from frontend.http.routes import answer_types
from frontend.http.routes.route import JSON, Answer, Operation, Route
from frontend.serving import warning
from frontend.serving.access.rules import Access
from frontend.serving.errors import REFUSAL_STATUS

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
    "X-Engine": ("The engine.", {"enum": ["kokoro", "espeak-ng"]}),
    "X-Sample-Rate": ("The audio's, in Hz.", {"type": "integer"}),
    "X-Cache": ("`hit` where nothing had to be synthesised for the first of it.", {"enum": ["hit"]}),
    "X-Speakable": ("`none` where the text has no sound: the audio is a short silence.", {"enum": ["none"]}),
    warning.HEADER: ("The request's fields and parameters that have no effect.", {"type": "string"}),
    "X-Download-Path": ("Where the whole audio is afterwards, for `return_download_link`.", {"type": "string"}),
    "X-Primed-Silence": ("Seconds of silence that come before the speech.", {"type": "number"}),
    "Retry-After": ("Seconds.", {"type": "integer", "minimum": 1}),
    "WWW-Authenticate": ("Bearer.", {"type": "string"}),
}

_REQUEST_HEADERS = {
    "X-Session": "The session of the request, for `on_busy`.",
    "X-Request-Id": "An id for the request, which the log and the answer repeat.",
    "Cache-Control": "`no-store`: make the audio again, and keep nothing of it.",
    REFUSAL_STATUS: "`503`: if there is no place, it answers 503, not 429, as some proxies try elsewhere only then.",
}

_SCHEMAS = "#/components/schemas/"

_ERROR_SHAPES: tuple[type, ...] = (answer_types.Error, *(dialect.error for dialect in DIALECTS))

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
    """The document of the routes that have documentation, as JSON's types."""
    documented = [(route, route.operation) for route in routes if route.operation is not None]
    kinds = [*_ERROR_SHAPES, *_kinds([operation for _, operation in documented])]
    refs, schemas = msgspec.json.schema_components(kinds, ref_template=f"{_SCHEMAS}{{name}}")
    schema = {id(kind): ref for kind, ref in zip(kinds, refs, strict=True)}
    paths: dict[str, dict[str, Any]] = {}
    for route, operation in documented:
        described = _operation(route, operation, schema)
        described["parameters"] = [*_parameters(route, operation), *_query(operation, schemas)]
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
            "responses": {
                _error_name(status, shape): _error(status, shape) for shape in _ERROR_SHAPES for status in _ERRORS
            },
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _kinds(operations: Sequence[Operation]) -> list[Any]:
    found = [kind for operation in operations for kind in (operation.body, operation.query)]
    found += [
        kind for operation in operations for answer in operation.answers.values() for kind in answer.content.values()
    ]
    return list({id(kind): kind for kind in found if kind is not None}.values())


def _operation(route: Route, operation: Operation, schema: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    errors = sorted({*operation.errors, *((401,) if route.access is not Access.OPEN else ())} - {*operation.answers})
    shape = route.error_form or answer_types.Error
    described: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", f"{route.method} {route.path.removeprefix('/v1')}").strip("_"),
        "tags": [operation.tag],
        "summary": operation.summary,
        "security": _SECURITY[route.access],
        "responses": {
            **{str(status): _answer(status, answer, schema) for status, answer in operation.answers.items()},
            **{str(status): {"$ref": f"#/components/responses/{_error_name(status, shape)}"} for status in errors},
        },
    }
    if operation.description:
        described["description"] = operation.description
    if operation.body is not None:
        content = {"schema": schema[id(operation.body)], "example": operation.example}
        described["requestBody"] = {"required": True, "content": {operation.body_type: content}}
    return described


def _parameters(route: Route, operation: Operation) -> list[dict[str, Any]]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", route.path)
    ]
    in_header = [
        {"name": name, "in": "header", "description": _REQUEST_HEADERS[name], "schema": {"type": "string"}}
        for name in operation.request_headers
    ]
    return in_path + in_header


def _answer(status: int, answer: Answer, schema: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    return {
        "description": answer.description,
        "headers": _header_refs("X-Request-Id", *((warning.HEADER,) if status < 400 else ()), *answer.headers),
        "content": {
            content_type: {"schema": schema[id(kind)]} if kind is not None else {}
            for content_type, kind in answer.content.items()
        },
    }


def _error_name(status: int, shape: type) -> str:
    return str(status) if shape is answer_types.Error else f"{shape.__name__}{status}"


def _error(status: int, shape: type) -> dict[str, Any]:
    extra = ["Retry-After"] if status in _RETRIED else ["WWW-Authenticate"] if status == 401 else []
    content = {JSON: {"schema": {"$ref": f"{_SCHEMAS}{shape.__name__}"}}}
    return {"description": _ERRORS[status], "headers": _header_refs("X-Request-Id", *extra), "content": content}


def _header_refs(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _query(operation: Operation, schemas: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A parameter for each field of the query's type that a query can hold: an object has no place there."""
    if operation.query is None:
        return []
    found = []
    for name, field in schemas[operation.query.__name__]["properties"].items():
        kind = field.get("anyOf", [field])[0]
        if schemas.get(kind.get("$ref", "").removeprefix(_SCHEMAS), kind).get("type") == "object":
            continue
        schema = {key: value for key, value in field.items() if key not in ("description", "default")}
        found.append({"name": name, "in": "query", "description": field.get("description", ""), "schema": schema})
    return found
