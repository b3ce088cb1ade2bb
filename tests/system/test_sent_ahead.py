"""The audio that leaves for a client that reads nothing is bounded, in seconds, whatever the format."""

import json
import socket
import time

import pytest

from tests.system.conftest import CommonServer
from tests.system.oracle import sentences
from tests.system.server import DEADLINE, Server

RING = 20.0
"""Seconds: the default of `--ring-seconds`."""
CLIENTS_BUFFER = 8192
"""Bytes that the client's own system takes, as it was told to; the system allows itself twice that."""


def sent_at_rest(of: Server) -> float:
    """Seconds that have left for the only stream, once no more leave."""
    last, since = -1.0, time.monotonic()
    end = since + DEADLINE
    while time.monotonic() < end:
        streams = of.get("/status")[1]["streams"]
        sent = streams[0]["seconds_sent"] if streams else 0.0
        assert sent >= last, "all of it has left"
        if sent != last:
            last, since = sent, time.monotonic()
        elif sent and time.monotonic() - since > 2.0:
            return float(sent)
        time.sleep(0.1)
    raise TimeoutError


@pytest.mark.parametrize(("response_format", "bytes_per_second"), [("pcm", 48_000), ("mp3", 8_000)])
def test_a_reader_who_reads_nothing_is_sent_no_more_than_a_ring(
    common: CommonServer, response_format: str, bytes_per_second: int
) -> None:
    started = common.calm()
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, CLIENTS_BUFFER)
        deaf.connect(("127.0.0.1", started.port))
        body = json.dumps({"input": sentences(36), "response_format": response_format}).encode()
        head = f"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        deaf.sendall(head.encode() + body)
        sent = sent_at_rest(started)
        assert sent <= RING + 2 * CLIENTS_BUFFER / bytes_per_second
