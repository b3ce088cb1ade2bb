"""The name of the request being handled: what the client called it, or a fresh one."""

from __future__ import annotations

import re
import uuid
from contextvars import ContextVar

HEADER = "X-Request-Id"

current: ContextVar[str] = ContextVar("request_id", default="-")
"""Set once per request, of which each is handled in a context of its own; `-` where aiohttp refused it before that."""

_SANE = re.compile(r"[A-Za-z0-9._-]{1,128}")


def choose(offered: str | None) -> str:
    """The client's own id if it is fit for headers and logs (at most 128 of `A-Z a-z 0-9 . _ -`), else a new one."""
    if offered is not None and _SANE.fullmatch(offered):
        return offered
    return uuid.uuid4().hex
