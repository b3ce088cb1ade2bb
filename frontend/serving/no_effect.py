"""`X-Warning`: a request's fields and parameters that change nothing are named, so that nobody waits for their effect.

Three kinds are found without a line of a handler: those that the type doesn't have, those of which the type says when
they have no effect (`another_name`, `no_effect_if`), and a query's. A handler adds what depends on more than the body.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import msgspec
from aiohttp import web
from msgspec import Meta, inspect

from frontend.serving.route import KEY_PARAMETER, route_of

HEADER = "X-Warning"

_NOTED = web.RequestKey("NO_EFFECT", list[str])
"""The names that `note_no_effect` has collected for a request."""

_LIMITED = web.RequestKey("LIMITED", list[str])
"""The places that `note_limited` has collected for a request."""

_RULE = "no_effect_if"
_NAME = re.compile(r"[\w.:\[\]-]{1,64}", re.ASCII)
_MOST = 12

_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode

Rule = Callable[[Any, Any], bool]
"""Tells if a field with this value (never null), in this struct, has no effect."""


def no_effect_if(rule: Rule, description: str, **more: Any) -> Meta:
    """A field's words, with the case in which it has no effect.

    A rule that uses names of its module stands outside the annotation, because msgspec evaluates annotations without
    them.
    """
    return Meta(description=description, extra={_RULE: rule}, **more)


def another_name(field: str, **more: Any) -> Meta:
    """The words of a field that is another name for one that wins."""
    words = f"Another name for `{field}`, which wins where both are given."
    return no_effect_if(lambda _, body: getattr(body, field) is not None, words, **more)


def unknown_in(body: bytes, kind: type) -> list[str]:
    """Paths of a body's fields that the type doesn't have, at any depth: msgspec reads over them."""
    return list(_unknown(body.strip(), _described(kind), ""))


@functools.cache
def _described(kind: type) -> inspect.Type:
    return inspect.type_info(kind)


def overruled_in(value: object, path: str = "") -> Iterator[str]:
    """Paths of the fields that by their type's own rules have no effect: `model_id`, `turns[0].voice_id`."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            if isinstance(item, list | msgspec.Struct):
                yield from overruled_in(item, f"{path}[{number}]")
    elif isinstance(value, msgspec.Struct):
        described = _described(type(value))
        assert isinstance(described, inspect.StructType)
        for field in described.fields:
            inner, place = getattr(value, field.name), f"{path}.{field.encode_name}" if path else field.encode_name
            extra = field.type.extra if isinstance(field.type, inspect.Metadata) else None
            if inner is not None and extra and _RULE in extra and extra[_RULE](inner, value):
                yield place
            else:
                yield from overruled_in(inner, place)


def _unknown(value: bytes | msgspec.Raw, kind: inspect.Type, path: str) -> Iterator[str]:
    opening = bytes(memoryview(value)[:1])
    match kind:
        case inspect.Metadata():
            yield from _unknown(value, kind.type, path)
        case inspect.UnionType():
            for each in kind.types:
                yield from _unknown(value, each, path)
        case inspect.StructType() if opening == b"{":
            fields = {field.encode_name: field.type for field in kind.fields}
            for name, inner in _decode_object(value).items():
                place = f"{path}.{name}" if path else name
                if name in fields:
                    yield from _unknown(inner, fields[name], place)
                else:
                    yield place
        case inspect.DictType() if opening == b"{":
            for name, inner in _decode_object(value).items():
                yield from _unknown(inner, kind.value_type, f"{path}.{name}")
        case inspect.ListType(item_type=inspect.FloatType()):
            return
        case inspect.ListType() if opening == b"[":
            for number, inner in enumerate(_decode_list(value)):
                yield from _unknown(inner, kind.item_type, f"{path}[{number}]")
        case _:
            return


def note_no_effect(request: web.Request, names: Iterable[str]) -> None:
    """Have the answer name these fields of the request's body; before the answer is prepared."""
    request.setdefault(_NOTED, []).extend(names)


def note_limited(request: web.Request, places: Iterable[str]) -> None:
    """Have the answer name these places of the request's body, whose values are taken as far as the model can speak."""
    request.setdefault(_LIMITED, []).extend(places)


async def warn(request: web.Request, response: web.StreamResponse) -> None:
    """The signal that adds the header to each successful answer of the API: unknown and repeated parameters of the
    address come first, then the names noted for the request."""
    route = route_of(request)
    if route is None or not route.tag or response.status >= 400:
        return
    fields = msgspec.structs.fields(route.query) if route.query else ()
    known = {KEY_PARAMETER, *(field.encode_name for field in fields)}
    # Of a parameter that stands there twice, one value has no effect.
    times = Counter(name for name, _ in request.query.items())
    dead = [name for name in times if name not in known or times[name] > 1]
    notes = [("no effect", [*dead, *request.get(_NOTED, ())]), ("limited", request.get(_LIMITED, []))]
    if shown := "; ".join(f"{note}: {_listed(names)}" for note, names in notes if names):
        response.headers[HEADER] = shown


def no_effect(names: Collection[str]) -> str:
    """`no effect: instructions, foo`. Names that a header can't hold are left out, and counted."""
    return f"no effect: {_listed(names)}"


def _listed(names: Collection[str]) -> str:
    shown = [name for name in names if _NAME.fullmatch(name)][:_MOST]
    rest = len(names) - len(shown)
    return ", ".join([*shown, *([f"{rest} more"] if rest else [])])
