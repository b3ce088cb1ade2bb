"""The house's measures (heads, comments, imports), breaks that can be made, and the comparison of two checkouts."""

import ast
import base64
from typing import Any

import pytest

from benchmarks.breaks import MUTATIONS
from benchmarks.breaks.mutation import Mutation
from benchmarks.house import comments, figures, head, imported, is_made_once, notes
from benchmarks.late_loading import LATE, Late, cost
from benchmarks.mutations import ROOT
from benchmarks.same_bytes import Joined, body_of, differences, digest, masked

SOURCE = '''"""A file."""

from __future__ import annotations

import os
from a.b import c

# Why it is so.
ANSWER = "# no comment"  # beside code
"""Two lines
of a note."""


def late() -> None:
    from d import e
'''


def test_the_parts_of_a_file() -> None:
    tree = ast.parse(SOURCE)
    assert head(tree, SOURCE.count("\n")) == 8
    assert (comments(SOURCE), notes(tree)) == (1, 2)
    assert {"os", "a.b", "a.b.c", "d", "d.e"} <= set(imported(tree))
    assert head(ast.parse('"""Only a word."""\n'), 1) == 1


def test_a_protocol_of_one_class_is_told_from_one_of_several() -> None:
    tree = ast.parse("""
class Asked(Protocol):
    name: str
    def speak(self): ...

class Made:
    def __init__(self): self.name = ""
    def speak(self): ...

class Part:
    def speak(self): ...
""")
    asked, made, part = (node for node in tree.body if isinstance(node, ast.ClassDef))
    assert is_made_once(asked, (asked, made, part))
    assert not is_made_once(asked, (asked, made, made))


@pytest.mark.slow
def test_the_product_is_found() -> None:
    found = figures()
    assert int(found["files"]) > int(found["files with one importer"]) > 0
    assert float(found["heads of files"].partition("%")[0]) < 50


def test_only_what_is_loaded_counts() -> None:
    """Thirty megabytes count, and those that were there before don't."""
    _, size = cost(Late("bytes", "kept = b'x' * 30_000_000", "earlier = b'y' * 90_000_000"))
    assert 25_000_000 < size < 60_000_000


@pytest.mark.parametrize("late", LATE, ids=lambda late: late.name)
def test_each_row_is_a_program(late: Late) -> None:
    ast.parse(f"{late.before}\n{late.code}")


RECORD: dict[str, Any] = {
    "POST /v1/audio/speech": {"status": 200, "headers": {"x-engine": "kokoro"}, "body": digest(b"samples")},
    "POST /v1/speak": {"status": 400, "headers": {}, "body": {"err_code": "unknown_voice", "err_msg": "none"}},
    "socket": {"messages": [{"type": "Flushed"}], "audio": {"": digest(b"sound")}},
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("POST /v1/audio/speech", "body"), digest(b"samplez")),
        (("POST /v1/audio/speech", "headers", "x-engine"), "espeak-ng"),
        (("POST /v1/speak", "status"), 404),
        (("POST /v1/speak", "body", "err_msg"), "gone"),
        (("socket", "messages"), []),
        (("POST /v1/speak",), None),
    ],
)
def test_a_changed_answer_is_one_line_that_names_it(path: tuple[str, ...], value: object) -> None:
    changed = masked(RECORD)
    inside = changed
    for name in path[:-1]:
        inside = inside[name]
    if value is None:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    (line,) = differences(RECORD, changed)
    assert line.startswith(" › ".join(path))
    assert list(differences(RECORD, masked(RECORD))) == []


def test_pieces_of_a_stream_may_be_cut_anywhere() -> None:
    def said(*pieces: bytes) -> dict[str, Any]:
        joined = Joined()
        for piece in pieces:
            joined.add({"type": "chunk", "data": base64.b64encode(piece).decode(), "step_time": len(piece)})
        return joined.result()

    assert said(b"one", b"two") == said(b"o", b"netwo") != said(b"one", b"twp")


def test_only_the_random_serial_number_of_an_ogg_stream_is_overlooked() -> None:
    def page(serial: bytes, checksum: bytes, payload: bytes) -> bytes:
        return b"OggS" + bytes(10) + serial + bytes(4) + checksum + payload

    first = digest(page(b"abcd", b"1234", b"music"))
    assert digest(page(b"efgh", b"5678", b"music")) == first != digest(page(b"abcd", b"1234", b"nusic"))


def test_events_are_compared_by_their_joined_audio() -> None:
    def stream(*pieces: bytes) -> bytes:
        lines = [b'data: {"type":"speech.audio.delta","audio":"%b"}\n\n' % base64.b64encode(each) for each in pieces]
        return b"".join(lines) + b'data: {"type":"speech.audio.done","usage":{"input_tokens":3}}\n\n'

    kind = "text/event-stream"
    assert (
        body_of(kind, stream(b"ab", b"c")) == body_of(kind, stream(b"a", b"bc")) != body_of(kind, stream(b"a", b"bd"))
    )


def fits(mutation: Mutation) -> bool:
    whole = (ROOT / mutation.file).read_text()
    ast.parse(whole.replace(mutation.old, mutation.new), mutation.name)
    files = [name for name in mutation.tests if name.startswith("tests/")]
    is_noticed = files and all((ROOT / name.partition("::")[0]).exists() for name in files)
    return whole.count(mutation.old) == 1 and bool(is_noticed)


def test_breaks_fit_the_code_as_it_is() -> None:
    """Code that has moved leaves its break behind: name the file and the text where the rule is now."""
    assert [mutation.name for mutation in MUTATIONS if not fits(mutation)] == []
