"""Wrong bytes are `msgspec.DecodeError`, whatever is wrong, and every stored file and message is read so."""

import re
import subprocess
from pathlib import Path

import msgspec
import pytest

from shm.decoding import json_decoder, msgpack_decoder

ROOT = Path(__file__).parents[2]

BY_HAND = {
    "frontend/dialects/socket.py": "answers its client with what is wrong",
    "frontend/dialects/wyoming/events.py": "the same",
    "frontend/serving/json_body.py": "the same",
    "frontend/serving/no_effect.py": "reads what was decoded before",
    "shm/decoding.py": "wraps",
    "shm/messages.py": "wraps a union, which is no type",
    "shm/playing.py": "the same",
    "shm/espeak/helper.py": "its orders come from its parent's memory, and it may die of them",
    "text/espeak/espeak.py": "its answers come from a helper process that is replaced when it fails",
    "worker/tuning/messages.py": "settings come from the parent that started it",
}
"""Files that decode without `shm.decoding`, and why they may."""


class Stored(msgspec.Struct):
    name: str
    inner: list[object] = []


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b'{"name": 1}', b'{"name": "\xff"}', b"\xff", b'{"name": "", "inner": ' + b"[" * 100_000],
    ids=["empty", "cut", "array", "number", "no UTF-8 inside", "no UTF-8", "nested"],
)
def test_wrong_json_is_one_kind_of_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        json_decoder(Stored)(data)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x81", b"\x90", b"\x81\xa4name\x01", b"\x81\xa4name\xa1\xff", b"\x81\xa5inner" + b"\x91" * 100_000],
    ids=["empty", "cut", "array", "number", "no UTF-8 inside", "nested"],
)
def test_wrong_msgpack_is_one_kind_of_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        msgpack_decoder(Stored)(data)


def test_what_is_right_is_decoded() -> None:
    assert json_decoder(Stored)(b'{"name": "a"}') == Stored("a") == msgpack_decoder(Stored)(b"\x81\xa4name\xa1a")


def test_every_file_and_message_is_decoded_so() -> None:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    ours = [name for name in listed.stdout.split() if not name.startswith(("tests/", "benchmarks/", "deploy/"))]
    decodes = re.compile(r"msgspec\.(json|msgpack)\.(decode|Decoder)\(")
    found = {name for name in ours if decodes.search((ROOT / name).read_text())}
    assert found == BY_HAND.keys()
