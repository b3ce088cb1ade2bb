"""The ends of messages in a WebSocket's bytes, however the bytes are cut."""

import random

import pytest
from aiohttp import WSMsgType

from frontend.serving.record import MessageEnds


def frame(draw: random.Random, opcode: int, length: int, *, final: bool = True) -> bytes:
    """A frame, masked or not."""
    masked = draw.random() < 0.5
    head = bytes([opcode | (0x80 if final else 0)])
    mask = 0x80 if masked else 0
    if length < 126:
        head += bytes([mask | length])
    elif length < 1 << 16:
        head += bytes([mask | 126]) + length.to_bytes(2, "big")
    else:
        head += bytes([mask | 127]) + length.to_bytes(8, "big")
    return head + (bytes(4) if masked else b"") + b"a" * length


@pytest.mark.parametrize("seed", range(20))
def test_messages_end_with_their_last_frame(seed: int) -> None:
    draw = random.Random(seed)
    wire, ends = b"", []
    for _ in range(30):
        match draw.choice(("text", "parts", "ping")):
            case "text":
                wire += frame(draw, WSMsgType.TEXT, draw.choice((0, 5, 125, 126, 300, 1 << 16)))
            case "parts":
                wire += frame(draw, WSMsgType.TEXT, draw.randrange(200), final=False)
                wire += frame(draw, WSMsgType.PING, 3)
                wire += frame(draw, WSMsgType.CONTINUATION, draw.randrange(200))
            case "ping":
                wire += frame(draw, WSMsgType.PING, draw.randrange(100))
                continue
        ends.append(len(wire))
    found, at = MessageEnds(), 0
    while at < len(wire):
        step = draw.choice((1, 2, 7, 1000, 1 << 17))
        found.feed(wire[at : at + step])
        at += step
    assert [*found.waiting] == ends
    assert found.whole == len(wire)
    found.feed(frame(draw, WSMsgType.CLOSE, 2))
    assert found.whole == len(wire), "the reader has yet to answer it"
