"""The requirements of a server's start. `serve` ends at the first requirement that isn't met, with its status; `doctor`
makes the same checks and names them all."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from frontend.settings.access import read_keys
from shm.audio import SAMPLE_BYTES
from shm.listeners import BACKLOG, Listeners
from shm.memory import NoMemory, reserve
from supervisor.processes.standing import ExitCode
from supervisor.settings.composition import Settings
from supervisor.settings.supervisor import LOOPBACK


class PortTaken(Exception):
    """The address can't be listened on. The message gives the address, the cause and the remedy."""


def listen(host: str, port: int, flag: str = "--port") -> socket.socket:
    """A listening TCP socket; port 0 takes any free one. `flag`: the option that chooses the port.

    Raises:
        PortTaken: another program listens there, or this machine doesn't have the address.
    """
    family, kind, protocol, _, address = resolved(host, port, flag)
    try:
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise _taken(host, port, flag, error) from error
    listener.setblocking(False)
    return listener


def resolved(host: str, port: int, flag: str = "--port") -> tuple[int, int, int, str, tuple[Any, ...]]:
    """The first address of `getaddrinfo` for a listening socket.

    Raises:
        PortTaken: there is none.
    """
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, ValueError) as error:  # ValueError: a label that is too long, or a NUL
        raise _taken(host, port, flag, error) from error


def _taken(host: str, port: int, flag: str, error: Exception) -> PortTaken:
    reason = getattr(error, "strerror", None) or error
    cure = f"Stop what listens there, or choose another with {flag}."
    if isinstance(error, PermissionError):
        cure = f"Choose a port above 1023 with {flag}."
    elif isinstance(error, socket.gaierror | ValueError) or getattr(error, "errno", 0) == errno.EADDRNOTAVAIL:
        cure = f"Name an address of this machine with {'--wyoming-host' if 'wyoming' in flag else '--host'}."
    return PortTaken(f"can't listen on {host}:{port}: {reason}. {cure}")


FIRST_DESCRIPTOR = 3


class BadActivation(Exception):
    """The passed descriptors aren't a usable listening socket. The message gives the remedy."""


def activated_listener(environment: MutableMapping[str, str], pid: int) -> socket.socket | None:
    """The socket that was passed to this process; None if there is none.

    The activation variables are removed from the environment, so that no child mistakes its own descriptors for
    sockets.

    Raises:
        BadActivation: several were passed, or one that isn't a listening TCP socket. They are closed.
    """
    for_pid = environment.pop("LISTEN_PID", "")
    count = environment.pop("LISTEN_FDS", "")
    names = environment.pop("LISTEN_FDNAMES", "")
    if for_pid != str(pid) or count in ("", "0"):
        return None
    if not count.isdecimal():
        raise BadActivation(f"LISTEN_FDS={count} is no number of sockets.")
    if count != "1":
        for descriptor in range(FIRST_DESCRIPTOR, FIRST_DESCRIPTOR + int(count)):
            os.close(descriptor)
        raise BadActivation(f"{count} sockets were passed ({names}). Give the .socket unit one ListenStream=.")
    try:
        os.set_inheritable(FIRST_DESCRIPTOR, False)
        listener = socket.socket(fileno=FIRST_DESCRIPTOR)
    except OSError as error:
        raise BadActivation(
            f"descriptor {FIRST_DESCRIPTOR}, which was passed, is no socket: {error.strerror}."
        ) from error
    if not _serves(listener):
        listener.close()
        raise BadActivation(
            f"the socket that was passed ({names}) is no listening TCP socket. Use ListenStream=HOST:PORT."
        )
    listener.setblocking(False)
    return listener


def _serves(listener: socket.socket) -> bool:
    if listener.family not in (socket.AF_INET, socket.AF_INET6) or listener.type != socket.SOCK_STREAM:
        return False
    return listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1


class Refused(Exception):
    """A requirement isn't met. The message is the line of `serve`'s log."""


@dataclass(slots=True)
class Opening:
    """A server that is about to start: its settings, and its sockets, which a service manager or another version has
    passed, or the checks have opened."""

    settings: Settings
    http: socket.socket | None = None
    wyoming: socket.socket | None = None
    tls: socket.socket | None = None
    behind_tls: socket.socket | None = None

    @property
    def addresses(self) -> list[str]:
        """The IP addresses on which the server listens, or would."""
        own = self.settings.supervisor
        opened = [str(each.getsockname()[0]) for each in (self.http, self.tls) if each is not None]
        return opened or [str(resolved(own.host, own.port)[4][0])]

    @property
    def listeners(self) -> Listeners:
        assert self.http is not None
        return Listeners(self.http, self.wyoming, self.tls, self.behind_tls)

    def close(self) -> None:
        for opened in (self.http, self.wyoming, self.tls, self.behind_tls):
            if opened is not None:
                opened.close()


@dataclass(frozen=True, slots=True)
class Requirement:
    """Something without which `serve` ends at once."""

    title: str
    """A word or two, as `doctor` shows it."""
    status: ExitCode
    check: Callable[[Opening], str]
    """Returns what was found, for people; raises `Refused`."""
    cure: str


def _port(opening: Opening) -> str:
    own = opening.settings.supervisor
    if opening.http is None:
        opening.http = _listening(own.plain_host, own.port, "--port")
    return f"{written(opening.http)} is free"


def _wyoming_port(opening: Opening) -> str:
    own = opening.settings.supervisor
    if own.wyoming_port is None:
        return "none is asked for"
    if opening.wyoming is None:
        opening.wyoming = _listening(own.wyoming_host, own.wyoming_port, "--wyoming-port")
    return f"{written(opening.wyoming)} is free"


def _tls_port(opening: Opening) -> str:
    own = opening.settings.supervisor
    if own.tls_port is None:
        return "none is asked for"
    if opening.tls is None:
        opening.tls = _listening(own.host, own.tls_port, "--tls-port")
    opening.behind_tls = opening.behind_tls or _listening(LOOPBACK, 0, "--tls-port")
    return f"{written(opening.tls)} is free"


def _certificate(opening: Opening) -> str:
    own = opening.settings.supervisor
    if own.tls_port is None:
        return "none is needed"
    from frontend.tls import BadCertificate, Certificate

    try:
        Certificate(*own.certificate)
    except BadCertificate as error:
        raise Refused(str(error)) from error
    return f"{own.certificate[0]} can be used"


def _access(opening: Opening) -> str:
    try:
        for address in opening.addresses:
            assert_wanted(address, opening.settings)
    except (ValueError, PortTaken) as error:
        raise Refused(str(error)) from error
    return f"{' and '.join(opening.addresses)} is open to those who may use it"


def assert_wanted(address: str, settings: Settings) -> None:
    """Check an address; `address` is the IP address on which the server listens.

    Raises:
        ValueError: others can reach it without a key, or the file of keys can't be used. The message says what to do.
    """
    front = settings.front
    if front.api_key_file is not None:
        read_keys(front.api_key_file)
    allowed = front.api_keys or front.api_key_file or settings.supervisor.allow_unauthenticated
    if not allowed and not ipaddress.ip_address(address).is_loopback:
        raise ValueError(
            f"whoever can reach {address} could use this server, as it has no API key. Give it one (--api-key-file or "
            "KOKORO_LIVE_API_KEYS), listen on 127.0.0.1, or say --allow-unauthenticated."
        )


def _placement(opening: Opening) -> str:
    worker = opening.settings.worker
    if not (worker.worker_cpus or worker.worker_nice):
        return "a worker runs where the system puts it"
    from worker.engine import EngineUnavailable
    from worker.machine import try_placement

    try:
        try_placement(worker)
    except EngineUnavailable as error:
        raise Refused(str(error)) from error
    return "a worker can be placed as asked"


def _arena(opening: Opening) -> str:
    own = opening.settings.supervisor
    size = own.rings * own.ring_samples() * SAMPLE_BYTES
    try:
        os.close(reserve(size))
    except NoMemory as error:
        raise Refused(str(error.strerror)) from error
    return f"{size / 1e6:.0f} MB can be reserved ({own.rings} rings of {own.ring_seconds:g} s)"


def _listening(host: str, port: int, flag: str) -> socket.socket:
    try:
        return listen(host, port, flag)
    except PortTaken as error:
        raise Refused(str(error)) from error


def written(listener: socket.socket) -> str:
    """A listening socket's address, as it stands in a URL."""
    host, number = listener.getsockname()[:2]
    return f"[{host}]:{number}" if ":" in host else f"{host}:{number}"


PORT = Requirement("port", ExitCode.PORT, _port, "Stop what listens there, or choose another with --port.")

WYOMING_PORT = Requirement("Wyoming port", ExitCode.PORT, _wyoming_port, "Choose another with --wyoming-port.")

TLS_PORT = Requirement("TLS port", ExitCode.PORT, _tls_port, "Choose another with --tls-port.")

REQUIREMENTS = (
    PORT,
    WYOMING_PORT,
    TLS_PORT,
    Requirement(
        "certificate",
        ExitCode.BAD_SETTING,
        _certificate,
        "Mend --tls-cert and --tls-key, or make both: kokoro-live tls make.",
    ),
    Requirement("access", ExitCode.BAD_SETTING, _access, "Mend --api-key-file, or the address: --host 127.0.0.1."),
    Requirement(
        "processors",
        ExitCode.ENGINE,
        _placement,
        "Mend --worker-cpus or --worker-nice, or leave it out.",
    ),
    Requirement("shared memory", ExitCode.MEMORY, _arena, "Free memory, or ask for less: --rings, --ring-seconds."),
)
"""All of them, in the order in which `serve` makes the checks. The engine's own are made by the worker
(`worker.select.choose`), which `doctor` calls too."""
