"""The API's description as one page of HTML, without scripts and without files from other hosts."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from html import escape
from typing import Any

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
            yield from _operation(document, path, method, operation, base_url)


def _operation(
    document: dict[str, Any], path: str, method: str, operation: dict[str, Any], base_url: str
) -> Iterator[str]:
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
