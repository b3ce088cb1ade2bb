"""JSON bodies: read into a struct, with errors in one form, and written from one."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from aiohttp import web

from frontend.contract.errors import ApiError
from frontend.serving.no_effect import note_no_effect, overruled_in, unknown_in

_PATH = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<param>[^`]*)`)?", re.DOTALL)
"""The form in which msgspec names the place of an error in a document."""

_FROM_TEXT = {"int": "a whole number", "float": "a number", "bool": "true or false"}
"""Types that are read from a query's text, in the words of an error: all that stands in a query is text."""

Fields = TypeVar("Fields")


def read_json(decode: Callable[[str], Fields], body: bytes) -> Fields:
    """The body's fields, whatever its Content-Type.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    try:
        return decode(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ApiError(400, f"The body is not UTF-8 (byte {error.start}).", code="invalid_json") from error
    except msgspec.ValidationError as error:
        raise of_validation(error) from error
    except (msgspec.DecodeError, RecursionError) as error:
        message = f'The body is not JSON that can be read: {error}. Send an object such as {{"input": "Hello."}}.'
        raise ApiError(400, message, code="invalid_json") from error


async def fields_of(request: web.Request, kind: type[Fields]) -> Fields:
    """The fields of the request's JSON body; X-Warning will name those that by their type have no effect.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    body = await request.read()
    fields: Fields = read_json(_decoder(kind).decode, body)  # type: ignore[arg-type]
    note_no_effect(request, [*unknown_in(body, type(fields)), *overruled_in(fields)])
    return fields


def prepare(kind: type) -> None:
    """Make what reads a body of that type, before one comes: a first one would wait 30 ms for it."""
    _decoder(kind)
    unknown_in(b"{}", kind)


@functools.cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def fields_in(message: Mapping[str, Any], kind: type[Fields]) -> Fields:
    """The fields of an object that was decoded before.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    try:
        return msgspec.convert(message, kind)
    except msgspec.ValidationError as error:
        raise of_validation(error) from error


def query_of(request: web.Request, kind: type[Fields], **usual: str) -> Fields:
    """The fields of the request's query; X-Warning will name those that by their type have no effect.

    Args:
        usual: values of parameters that the address leaves out, or leaves empty.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    fields = read_query({**request.query, **{name: usual[name] for name in usual if not request.query.get(name)}}, kind)
    note_no_effect(request, overruled_in(fields))
    return fields


def read_query(query: Mapping[str, str], kind: type[Fields]) -> Fields:
    """The fields of a URL's query; numbers and booleans are read from their text.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    try:
        return msgspec.convert(dict(query), kind, strict=False)
    except msgspec.ValidationError as error:
        found = of_validation(error)
        wanted = next((words for name, words in _FROM_TEXT.items() if f"Expected `{name}`" in str(found)), None)
        if wanted and found.param and found.param in query:
            message = f"`{found.param}`: {query[found.param][:40]!r} is not {wanted}."
            found = ApiError(400, message, param=found.param, code="invalid_value")
        raise found from error


def of_validation(error: msgspec.ValidationError) -> ApiError:
    """The 400 error for a value that doesn't fit its field, naming the field."""
    match = _PATH.fullmatch(str(error))
    assert match is not None
    what, param = match["what"].replace(" | null", ""), match["param"] or None
    message = f"`{param}`: {what}." if param else f"The body: {what}."
    return ApiError(400, message, param=param, code="invalid_value")


def json_response(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    encoded = msgspec.json.encode(body)
    return web.Response(body=encoded, status=status, headers=headers, content_type="application/json", charset="utf-8")
