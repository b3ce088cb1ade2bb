"""The id of the request being handled: the client's own, or a fresh one."""

from __future__ import annotations

import re
import uuid
from contextvars import ContextVar

HEADER = "X-Request-Id"

current: ContextVar[str] = ContextVar("request_id", default="-")
"""The id, set once per request, which is handled in a context of its own; `-` if aiohttp rejected the request
earlier."""

_SANE = re.compile(r"[A-Za-z0-9._-]{1,128}")


def choose(offered: str | None) -> str:
    """The client's own id if it is valid in headers and logs (at most 128 of `A-Z a-z 0-9 . _ -`), else a new one."""
    if offered is not None and _SANE.fullmatch(offered):
        return offered
    return uuid.uuid4().hex
