"""The bound on the system's send buffer, by the bytes that a real connection takes for a client that reads nothing."""

import asyncio
import socket
from types import SimpleNamespace
from typing import cast

import pytest

from frontend.serving.sending import bound_transport

CLIENTS_BUFFER = 8192


def taken(ring: float) -> int:
    """Bytes that leave for a client with a small buffer that reads nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, CLIENTS_BUFFER)
        deaf.connect(listener.getsockname())
        ours, _ = listener.accept()
        with ours:
            ours.setblocking(False)
            transport = SimpleNamespace(get_extra_info=lambda name: {"socket": ours}[name])
            bound_transport(cast(asyncio.BaseTransport, transport), ring)
            sent = 0
            while True:
                try:
                    sent += ours.send(bytes(4096))
                except BlockingIOError:
                    return sent


@pytest.mark.parametrize("ring", [20 * 48_000, 60 * 48_000, 120 * 48_000])
def test_a_client_that_reads_nothing_takes_less_than_half_a_ring(ring: int) -> None:
    assert taken(ring) < ring / 2


def test_a_longer_ring_has_a_larger_buffer() -> None:
    assert taken(4 * 48_000) < taken(40 * 48_000)
