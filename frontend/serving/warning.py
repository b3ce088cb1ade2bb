"""The header that names a request's fields without effect, so that nobody waits for one in vain."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable

from aiohttp import web

HEADER = "X-Warning"

NO_EFFECT = web.RequestKey("NO_EFFECT", list[str])
"""The names that `note_no_effect` has collected for a request."""

_NAME = re.compile(r"[\w.\[\]-]{1,64}", re.ASCII)
_MOST = 12


def note_no_effect(request: web.Request, names: Iterable[str]) -> None:
    """Have the answer name these fields of the request's body; before the answer is prepared."""
    request.setdefault(NO_EFFECT, []).extend(names)


def warn(query_of: Callable[[str, str], Collection[str] | None]) -> Callable[..., Awaitable[None]]:
    """The signal that adds the header to each successful answer: unknown and repeated parameters of the address come
    first, then the names noted for the request.

    Args:
        query_of: the parameters that a method on a route's template takes; None for a route that isn't part of the API.
    """

    async def name_fields(request: web.Request, response: web.StreamResponse) -> None:
        resource = request.match_info.route.resource
        known = query_of(request.method, resource.canonical) if resource and response.status < 400 else None
        if known is None:
            return
        # Of a parameter that stands there twice, one value has no effect.
        times = Counter(name for name, _ in request.query.items())
        dead = [name for name in times if name not in known or times[name] > 1]
        if names := [*dead, *request.get(NO_EFFECT, ())]:
            response.headers[HEADER] = no_effect(names)

    return name_fields


def no_effect(names: Collection[str]) -> str:
    """`no effect: instructions, foo`. Names that a header can't hold are left out, and counted."""
    shown = [name for name in names if _NAME.fullmatch(name)][:_MOST]
    rest = len(names) - len(shown)
    return f"no effect: {', '.join([*shown, *([f'{rest} more'] if rest else [])])}"
