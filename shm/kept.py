"""The kinds of files that are kept on a disk, the version of each, and how a file tells it.

A version is raised whenever a program that knows only the one before would misread the file. A reader takes every
version up to its own; a file without a version is of the first. A file of a later one is like a damaged file, which
is made again or refused, depending on its reader; docs/reliability.md has the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from shm.decoding import json_decoder

_Shape = TypeVar("_Shape")

FIELD = "version"


class LaterVersion(msgspec.DecodeError):
    """A newer kokoro-live has written the file."""


class _Versioned(msgspec.Struct):
    version: int = 1


_version_of = json_decoder(_Versioned)


@dataclass(frozen=True, slots=True)
class KeptKind:
    """One kind of file, or of a line or an entry in one."""

    name: str
    version: int

    def check(self, version: int) -> None:
        """
        Raises:
            LaterVersion: the version is one that this program doesn't know.
        """
        if version > self.version:
            raise LaterVersion(f"a newer kokoro-live has written it ({self.name}, version {version} of {self.version})")

    def encode(self, content: msgspec.Struct | Mapping[str, Any]) -> bytes:
        """The content as a JSON object with the version."""
        fields = msgspec.structs.asdict(content) if isinstance(content, msgspec.Struct) else content
        return msgspec.json.encode({FIELD: self.version, **fields})

    def decoder(self, shape: type[_Shape]) -> Callable[[bytes], _Shape]:
        """Function that decodes what `encode` gave, and raises `msgspec.DecodeError` for all else (`LaterVersion`)."""
        decode = json_decoder(shape)

        def decode_known(data: bytes) -> _Shape:
            self.check(_version_of(data).version)
            return decode(data)

        return decode_known


CHAPTER = KeptKind("chapter", 1)
"""Text in time of a book's finished chapter."""
CHECKSUMS = KeptKind("checksums", 1)
JOB = KeptKind("job", 1)
"""Order and journal of a book that the server makes."""
ORIGIN = KeptKind("origin", 1)
"""Source of a model file."""
PASSAGE = KeptKind("passage", 1)
"""Speech of a half-made book."""
PROFILE = KeptKind("profile", 2)
"""Result of `kokoro-live tune`."""
SEGMENT = KeptKind("segment", 1)
"""Entry of the disk cache."""
SELFCHECK = KeptKind("selfcheck", 1)
SPEEDS = KeptKind("speeds", 1)
"""Usual real-time factors."""
STAGES = KeptKind("stages", 9)
"""The model's stages: raised whenever other files would be made of the same model."""
VERDICT = KeptKind("verdict", 2)
"""A trial of an execution provider: raised whenever it is reached in another way, too."""

KINDS = (CHAPTER, CHECKSUMS, JOB, ORIGIN, PASSAGE, PROFILE, SEGMENT, SELFCHECK, SPEEDS, STAGES, VERDICT)
