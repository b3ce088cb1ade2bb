"""The fields of a JSON body that its type doesn't have, at any depth: msgspec reads over them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import msgspec
from msgspec import inspect

_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


def unknown_in(body: bytes, kind: type[msgspec.Struct]) -> list[str]:
    """Paths of the unknown fields of a body that was decoded as `kind` before: `foo`, `turns[0].foo`."""
    return list(_unknown(body.strip(), _described(kind), ""))


def names_of(kind: type[msgspec.Struct]) -> list[str]:
    """The names that the fields of the kind have in JSON and in addresses."""
    return [field.encode_name for field in msgspec.structs.fields(kind)]


@cache
def _described(kind: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(kind)


def _unknown(value: bytes | msgspec.Raw, kind: inspect.Type, path: str) -> Iterator[str]:
    """Args:
    path: the place of `value`; empty for the whole body.
    """
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
        case inspect.ListType() if opening == b"[":
            for number, inner in enumerate(_decode_list(value)):
                yield from _unknown(inner, kind.item_type, f"{path}[{number}]")
        case _:
            return
