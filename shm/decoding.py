"""Decoders of JSON and msgpack that raise `msgspec.DecodeError`, and nothing else, for any wrong bytes.

msgspec itself passes on Python's own errors for invalid UTF-8 and for nesting that is too deep. A file that a disk has
damaged, or a message of a broken process, would then be an exception that its reader doesn't expect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

_Message = TypeVar("_Message")


def json_decoder(kind: type[_Message]) -> Callable[[bytes], _Message]:
    """Function that decodes a JSON document of that type.

    The function raises `msgspec.DecodeError`, also for a value of another type (`msgspec.ValidationError`).
    """
    return one_error(msgspec.json.Decoder(kind).decode)


def msgpack_decoder(kind: type[_Message]) -> Callable[[bytes], _Message]:
    """Function that decodes a msgpack message of that type, with the errors of `json_decoder`'s."""
    return one_error(msgspec.msgpack.Decoder(kind).decode)


def one_error(decode: Callable[[bytes], _Message]) -> Callable[[bytes], _Message]:
    """Wrap a decoder of msgspec's so that every invalid message raises `msgspec.DecodeError`."""

    def decode_or_refuse(data: bytes) -> _Message:
        try:
            return decode(data)
        except (UnicodeDecodeError, RecursionError) as error:
            raise msgspec.DecodeError(str(error)) from error

    return decode_or_refuse
