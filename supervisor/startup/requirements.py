"""The requirements of a server's start. `serve` ends at the first requirement that isn't met, with its status; `doctor`
makes the same checks and names them all."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass

from frontend.settings.keys import read_keys
from shm.audio import SAMPLE_BYTES
from shm.listeners import Listeners
from shm.memory import NoMemory, reserve
from supervisor.processes.exit_codes import ExitCode
from supervisor.settings.composition import Settings
from supervisor.startup.listener import PortTaken, listen, resolved


class Refused(Exception):
    """A requirement isn't met. The message is the line of `serve`'s log."""


class Opening:
    """A server that is about to start: its settings, and the sockets that were opened for it."""

    def __init__(
        self, settings: Settings, activated: socket.socket | None = None, wyoming: socket.socket | None = None
    ) -> None:
        """`activated` and `wyoming`: listening sockets that a service manager or another version has passed."""
        self.settings = settings
        self.http = activated
        self.wyoming = wyoming

    @property
    def address(self) -> str:
        """The IP address on which the server listens, or would."""
        if self.http is not None:
            return str(self.http.getsockname()[0])
        return str(resolved(self.settings.supervisor.host, self.settings.supervisor.port)[4][0])

    @property
    def listeners(self) -> Listeners:
        assert self.http is not None
        return Listeners(self.http, self.wyoming)

    def close(self) -> None:
        for opened in (self.http, self.wyoming):
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
        opening.http = _listening(own.host, own.port, "--port")
    return f"{_written(opening.http)} is free"


def _wyoming_port(opening: Opening) -> str:
    own = opening.settings.supervisor
    if own.wyoming_port is None:
        return "none is asked for"
    if opening.wyoming is None:
        opening.wyoming = _listening(own.wyoming_host, own.wyoming_port, "--wyoming-port")
    return f"{_written(opening.wyoming)} is free"


def _access(opening: Opening) -> str:
    try:
        address = opening.address
        assert_wanted(address, opening.settings)
    except (ValueError, PortTaken) as error:
        raise Refused(str(error)) from error
    return f"{address} is open to those who may use it"


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
    from worker.machine.placement import try_placement

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


def _written(listener: socket.socket) -> str:
    host, number = listener.getsockname()[:2]
    return f"[{host}]:{number}" if ":" in host else f"{host}:{number}"


PORT = Requirement("port", ExitCode.PORT, _port, "Stop what listens there, or choose another with --port.")

WYOMING_PORT = Requirement("Wyoming port", ExitCode.PORT, _wyoming_port, "Choose another with --wyoming-port.")

REQUIREMENTS = (
    PORT,
    WYOMING_PORT,
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
