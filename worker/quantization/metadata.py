"""What a variant's file says of itself: read without its weights, and added to its end.

An ONNX file is a protobuf message. Its fields may come in any order and its lists in parts, so properties can be
appended to a written file, and the graph, which is all but a few hundred bytes, can be passed over (protobuf's encoding
guide).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import onnx
from google.protobuf.message import DecodeError

_PROPERTIES = onnx.ModelProto.METADATA_PROPS_FIELD_NUMBER
_VARINT, _FIXED_64, _LENGTH, _FIXED_32 = 0, 1, 2, 5
"""How a field's value is written."""


def properties_of(model: Path) -> dict[str, str]:
    """The file's metadata.

    Raises:
        ValueError: it isn't an ONNX file, or not a whole one.
        OSError: it can't be read.
    """
    found: dict[str, str] = {}
    size = model.stat().st_size
    with model.open("rb") as file:
        while file.tell() < size:
            tag = _varint(file)
            if tag & 7 == _VARINT:
                _varint(file)
                continue
            if tag & 7 not in (_LENGTH, _FIXED_64, _FIXED_32):
                raise ValueError(f"{model} is no ONNX file")
            length = {_FIXED_64: 8, _FIXED_32: 4}.get(tag & 7) or _varint(file)
            if file.tell() + length > size:
                raise ValueError(f"{model} is no ONNX file, or cut off")
            if tag == _PROPERTIES << 3 | _LENGTH:
                try:
                    entry = onnx.StringStringEntryProto.FromString(file.read(length))
                except DecodeError as error:
                    raise ValueError(f"{model} is no ONNX file") from error
                found[entry.key] = entry.value
            else:
                file.seek(length, 1)
    return found


def append_properties(model: Path, properties: Mapping[str, str]) -> None:
    """Add metadata, all of new keys.

    Raises:
        OSError: the file can't be written.
    """
    entries = [onnx.StringStringEntryProto(key=key, value=value) for key, value in properties.items()]
    with model.open("ab") as file:
        file.write(onnx.ModelProto(metadata_props=entries).SerializeToString())


def _varint(file: BinaryIO) -> int:
    value = shift = 0
    while shift < 70:
        byte = file.read(1)
        if not byte:
            break
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
        shift += 7
    raise ValueError(f"{file.name} is no ONNX file, or cut off")
