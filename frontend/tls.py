"""The process at which TLS ends: it decrypts what clients send, passes it on to the front over loopback, and encrypts
what comes back.

A front's connections outlive it (`supervisor.processes.connections`), and the state of a TLS connection couldn't: here
it has a process of its own, which reads no HTTP and knows no request. Little waits here for a client that reads slowly,
so that the front is held back as by a client of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import select
import socket
import ssl
from pathlib import Path
from typing import NoReturn

from setproctitle import setproctitle

from frontend.settings.front import FrontSettings
from shm.awake_loop import SupervisedProcess, run_and_exit
from shm.control import ControlSocket
from shm.listeners import BACKLOG, Listeners, TlsClients, allowed_files, own_address
from shm.messages import ControlMessage, SharedMemory, Started

HELD = 1 << 14
"""Bytes that may wait here, of each direction before and after its encryption: as many as a record of TLS has."""

SYSTEM_HELD = 1 << 16
"""Bytes in each of the system's two buffers of an answer. For a client that reads nothing it would let them grow to
4 MB, 90 s of PCM; with a quarter of this, a client gets no more than 1.7 MB in a second."""

SPARE_FILES = 64

FAREWELL = 2.0
"""Seconds in which a client may answer the end of TLS: one that keeps its connection for more requests reads none."""

log = logging.getLogger(__name__)


class BadCertificate(Exception):
    """The certificate or its key can't be used; the message says why."""


class Certificate:
    """A certificate with its key. Once their files have changed, connections that come get the new one."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """
        Raises:
            BadCertificate: it can't be used.
        """
        self._files = certificate, key
        self._times = self._changed()
        self._newest = self.context = self._load()
        """Context of new connections: `context` hands over to the newest one when their client has said hello."""
        self.context.sni_callback = self._hand_over

    def _load(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.set_alpn_protocols(["http/1.1"])
        certificate, key = self._files
        try:
            context.load_cert_chain(certificate, key, password=_no_password)
        except BadCertificate:
            raise
        except ssl.SSLError as error:
            reason = (error.reason or "no PEM").lower().replace("_", " ")
            raise BadCertificate(f"{certificate} with the key {key} is no certificate for TLS: {reason}") from error
        except OSError as error:
            missing = next((file for file in self._files if not os.access(file, os.R_OK)), certificate)
            cure = "`kokoro-live tls make` makes one for this machine."
            raise BadCertificate(f"{missing} can't be read: {error.strerror}. {cure}") from error
        return context

    def _changed(self) -> list[tuple[int, int]] | None:
        """Times of the files' last changes; None if one is gone."""
        with contextlib.suppress(OSError):
            return [(found.st_mtime_ns, found.st_ino) for found in map(os.stat, self._files)]
        return None

    def _hand_over(
        self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _context: ssl.SSLContext
    ) -> None:
        times = self._changed()
        if times and times != self._times:
            self._times = times
            try:
                self._newest = self._load()
                log.info("the certificate was renewed")
            except BadCertificate as error:
                log.error("the certificate stays as it was: %s", error)
        connection.context = self._newest


def _no_password() -> str:
    raise BadCertificate("the key needs a password; give --tls-key a key without one")


def run(
    control_end: socket.socket, listeners: Listeners, certificate: tuple[Path, Path], settings: FrontSettings
) -> NoReturn:
    """Run until the supervisor sends `Drain` and all clients have left, or the supervisor ends."""
    setproctitle("kokoro-live: tls")
    control_end.setblocking(False)
    run_and_exit(TlsProcess(ControlSocket(control_end), listeners, certificate, settings).serve())


class TlsProcess(SupervisedProcess):
    """Forwards the bytes of all clients that come by TLS."""

    def __init__(
        self, control: ControlSocket, listeners: Listeners, certificate: tuple[Path, Path], settings: FrontSettings
    ) -> None:
        super().__init__(control)
        assert listeners.tls is not None and listeners.behind_tls is not None
        self._listeners = listeners
        self._listener = listeners.tls
        self._front = own_address(listeners.behind_tls)
        self._certificate = certificate
        self._settings = settings
        self._addresses: TlsClients | None = None
        self._given = asyncio.Event()
        """Set once the supervisor has given the memory for addresses."""
        self._clients: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        self._listen()
        await self._given.wait()
        allowed_files(2 * self._settings.max_connections + SPARE_FILES)
        server = await asyncio.start_server(
            self._serve_client,
            sock=self._listener,
            limit=HELD,
            backlog=BACKLOG,
            ssl=Certificate(*self._certificate).context,
            ssl_handshake_timeout=self._settings.header_timeout,
            ssl_shutdown_timeout=self._settings.write_timeout,  # the answer's end is sent in it too
        )
        self._tell_supervisor(Started())
        await self._end.wait()
        server.close()
        if self._clients:
            await asyncio.wait(self._clients)

    def _follow(self, message: ControlMessage, fds: list[int]) -> None:
        if isinstance(message, SharedMemory):
            assert self._listeners.behind_tls is not None
            self._addresses = TlsClients(fds[0], self._listeners.behind_tls)
            os.close(fds[0])
            self._given.set()
            for listener in self._listeners.named().values():
                if listener is not self._listener:
                    listener.close()  # the supervisor's: they are to end with it

    async def _serve_client(self, taken: asyncio.StreamReader, given: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)
        end = given.get_extra_info("socket")  # a transport that its client has closed tells nothing
        try:
            await self._forward(taken, given)
            given.close()
            async with asyncio.timeout(self._settings.write_timeout):
                await _is_the_systems(end)
            async with asyncio.timeout(FAREWELL):
                await given.wait_closed()
        except OSError as error:
            log.debug("a connection has broken: %s", error)
        finally:
            given.transport.abort()
        self._note_progress()

    async def _forward(self, taken: asyncio.StreamReader, given: asyncio.StreamWriter) -> None:
        """Forward until the front closes the connection: it hears of a client's end.

        Raises:
            OSError: one of the two connections has broken, or the client reads nothing.
        """
        client, reached = given.get_extra_info("peername"), given.get_extra_info("sockname")
        if not (client and reached and self._addresses):
            return  # the client left before
        given.transport.set_write_buffer_limits(HELD)
        given.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SYSTEM_HELD)
        end = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SYSTEM_HELD)
            end.setblocking(False)
            end.bind((self._front[0], 0))
            self._addresses.note(end.getsockname()[1], client[0], reached[0])
            await asyncio.get_running_loop().sock_connect(end, self._front)
            answers, requests = await asyncio.open_connection(sock=end, limit=HELD)
        except BaseException:
            end.close()
            raise
        asking = asyncio.create_task(_ask(taken, requests))
        try:
            while data := await answers.read(HELD):
                given.write(data)
                async with asyncio.timeout(self._settings.write_timeout):
                    await given.drain()
        finally:
            asking.cancel()
            requests.transport.abort()


async def _is_the_systems(end: socket.socket) -> None:
    """Wait until the system has all that was written: it has room for more, and nothing has come to fill it."""
    loop, poll = asyncio.get_running_loop(), select.poll()
    with end.dup() as same:  # the transport watches its own
        poll.register(same, select.POLLOUT)
        has_room = asyncio.Event()
        while not poll.poll(0):
            loop.add_writer(same, has_room.set)
            try:
                await has_room.wait()
            finally:
                loop.remove_writer(same)
            has_room.clear()
            await asyncio.sleep(0)  # for the transport to write


async def _ask(client: asyncio.StreamReader, front: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await client.read(HELD):
            front.write(data)
            await front.drain()
    front.close()
