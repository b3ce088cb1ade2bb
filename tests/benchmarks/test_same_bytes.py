"""What the comparison of two checkouts' answers notices, and what it overlooks on purpose."""

import base64
from typing import Any

import pytest

from benchmarks.same_bytes import Joined, body_of, differences, digest, masked

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
