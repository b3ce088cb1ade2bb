"""A dialect's view of its client: the identity, and fields of messages that may have any type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import hdrs, web

from frontend.contexts.voicing import Voicing
from frontend.contract.errors import ApiError
from frontend.http.access.identity import API_KEY
from shm import request_id


def new_voicing(request: web.Request, name: str) -> Voicing:
    """A voicing whose request and client are known, and nothing else. Contexts of different names are different
    listeners."""
    user_agent = request.headers.get(hdrs.USER_AGENT, "")
    client = "/".join((request.get(API_KEY, ""), request.remote or "", user_agent, request_id.current.get(), name))
    fresh = "no-store" in request.headers.get(hdrs.CACHE_CONTROL, "").lower()
    return Voicing(request_id.current.get(), client, (), "", fresh=fresh)


def text_of(message: Mapping[str, Any], field: str) -> str:
    """A field that is text; absent and null are "".

    Raises:
        ApiError: 400, it is something else.
    """
    value = message.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ApiError(400, f"`{field}` is not a string.", param=field, code="invalid_value")
    return value


def number_of(fields: Mapping[str, Any], field: str) -> float | None:
    """A field that is a number; None if it is absent or null.

    Raises:
        ApiError: 400, it is something else.
    """
    value = fields.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ApiError(400, f"`{field}` is not a number.", param=field, code="invalid_value")
    try:
        return float(value)
    except OverflowError as error:
        raise ApiError(400, f"`{field}` is too large.", param=field, code="invalid_value") from error


def object_of(fields: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """A field that is an object; absent and null are empty.

    Raises:
        ApiError: 400, it is something else.
    """
    value = fields.get(field)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ApiError(400, f"`{field}` is not an object.", param=field, code="invalid_value")
    return value
