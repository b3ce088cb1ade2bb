"""What the kernel counts of a connection, on a real one."""

import select
import socket

import pytest

from frontend.serving.acceptor import is_untouched
from tests import platforms

pytestmark = platforms.linux_only("only Linux counts a connection's bytes")


@pytest.mark.parametrize("ends", [False, True], ids=["stays", "ends"])
@pytest.mark.parametrize("sent", [0, 10])
def test_a_connection_is_untouched_until_something_is_read_of_it(sent: int, ends: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        client.sendall(b"x" * sent)
        if ends:
            client.shutdown(socket.SHUT_WR)
        served, _ = listener.accept()
        with served:
            poll = select.poll()
            poll.register(served, select.POLLRDHUP if ends else select.POLLIN)
            if sent or ends:
                assert poll.poll(60_000)
            assert is_untouched(served)
            if sent:
                served.recv(1)
                assert not is_untouched(served)
