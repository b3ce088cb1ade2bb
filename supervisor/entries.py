"""Where the children begin. Their code is imported there and nowhere earlier: the supervisor stays light."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, NoReturn

from supervisor.logs import configure_logging

if TYPE_CHECKING:
    from multiprocess.connection import Connection

    from supervisor.composition import Settings


def front(listener: socket.socket, control: socket.socket, lifeline: Connection, settings: Settings) -> None:
    """The front's process."""
    configure_logging(settings.supervisor.log_level, "front")
    from frontend.process import run

    run(listener, control, os.dup(lifeline.fileno()), settings.front)


def worker(control: socket.socket, lifeline: Connection, generation: int, settings: Settings) -> NoReturn:
    """A worker's process."""
    configure_logging(settings.supervisor.log_level, f"worker[{generation}]")
    from worker.process import run

    run(control, os.dup(lifeline.fileno()), generation, settings.worker)


def fetcher(control: socket.socket, lifeline: Connection, settings: Settings) -> None:
    """The process that fetches the model while another engine speaks."""
    configure_logging(settings.supervisor.log_level, "fetcher")
    from worker.fetcher import run

    run(os.dup(lifeline.fileno()), settings.worker)
