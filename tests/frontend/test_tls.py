"""The process at which TLS ends, with a clock that the test turns."""

import asyncio
import contextlib
import socket
import ssl
import time
from pathlib import Path

from frontend.settings.front import FrontSettings
from frontend.tls import TlsProcess
from shm.control import ControlSocket, control_pair
from shm.listeners import Listeners, TlsClients
from shm.memory import reserve
from shm.messages import Drain, SharedMemory
from tests.system.test_tls import make

ANSWER = bytes(165_000)
"""More than the system keeps of an answer that isn't read, so that its end waits in the process."""


def listening() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


def heard(secure: ssl.SSLSocket) -> int:
    """Bytes until the end of TLS, to which it doesn't answer."""
    count = 0
    while data := secure.recv(1 << 16):
        count += len(data)
    return count


def test_who_pauses_at_the_end_gets_it_and_who_keeps_the_connection_holds_nothing_up(tmp_path: Path) -> None:
    certificate, hours = make(tmp_path), 0.0
    context = ssl.create_default_context(cafile=str(certificate / "authority.pem"))

    async def clients() -> int:
        nonlocal hours
        loop, listeners = asyncio.get_running_loop(), Listeners(listening(), tls=listening(), behind_tls=listening())
        loop.time = lambda: time.monotonic() + 3600 * hours  # type: ignore[method-assign]
        left = asyncio.Event()

        async def front(taken: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
            answer.write(ANSWER)
            answer.write_eof()
            with contextlib.suppress(ConnectionError):
                await taken.read()
            left.set()
            answer.close()

        assert listeners.behind_tls and listeners.tls
        behind = await asyncio.start_server(front, sock=listeners.behind_tls.dup())
        supervisor, theirs = control_pair()
        theirs.setblocking(False)
        files = certificate / "certificate.pem", certificate / "key.pem"
        process = TlsProcess(ControlSocket(theirs), listeners, files, FrontSettings(write_timeout=24 * 3600))
        serving = asyncio.create_task(process.serve())
        supervisor.send(SharedMemory("clients"), [reserve(TlsClients.BYTES)])
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.settimeout(60)
            await asyncio.to_thread(client.connect, listeners.tls.getsockname())
            with await asyncio.to_thread(context.wrap_socket, client, server_hostname="localhost") as secure:
                await left.wait()
                supervisor.send(Drain())
                await process._end.wait()
                hours = 1
                for _ in range(8):
                    await asyncio.sleep(0)
                count = await asyncio.to_thread(heard, secure)
                hours = 2
                await serving
        behind.close()
        for each in (supervisor, theirs, *listeners.named().values()):
            each.close()
        return count

    assert asyncio.run(asyncio.wait_for(clients(), 3600 * 3)) == len(ANSWER)
