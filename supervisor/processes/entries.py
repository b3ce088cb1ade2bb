"""The children's entry points, each named for its role. Their code is imported only here: the supervisor stays
small."""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from shm.lifeline import become_child
from supervisor.settings.logs import configure_logging

if TYPE_CHECKING:
    from multiprocess.connection import Connection

    from shm.listeners import Listeners
    from supervisor.settings.composition import Settings


@contextmanager
def imports() -> Iterator[None]:
    """No garbage is collected: of the objects that 900 modules make, almost all stay, and looking through them again
    and again delays the front's start."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def front(
    control: socket.socket, lifeline: Connection, settings: Settings, metrics: Path | None, listeners: Listeners
) -> None:
    """Run the front process. `metrics`: the folder for its counts."""
    become_child(os.dup(lifeline.fileno()))
    from shm import request_id

    configure_logging(settings.supervisor.logs, "front", request_id.current.get)
    from shm.metric_files import metric_files

    files = metric_files(metrics, "front")
    # aiohttp's sendfile goes past the guard of the connection, so a client that reads nothing would never be cut.
    os.environ["AIOHTTP_NOSENDFILE"] = "1"
    # aiohttp reads the system's certificates when it is imported (`python -m benchmarks.late_loading`), and the front
    # opens no TLS connection.
    os.environ["SSL_CERT_FILE"] = os.devnull
    with imports():
        from frontend.process import run

    run(listeners, control, settings, files)


def worker(
    control: socket.socket, lifeline: Connection, settings: Settings, metrics: Path | None, generation: int
) -> NoReturn:
    """Run a worker process. `metrics`: the folder for its counts."""
    become_child(os.dup(lifeline.fileno()))
    configure_logging(settings.supervisor.logs, f"worker[{generation}]")
    from shm.metric_files import metric_files

    metric_files(metrics, "worker")
    with imports():
        from worker.process import run

    run(control, generation, settings.worker)


def player(control: socket.socket, lifeline: Connection, settings: Settings) -> None:
    """Run the player process."""
    configure_logging(settings.supervisor.logs, "player")
    from player.process import run

    run(control, os.dup(lifeline.fileno()), settings.player)


def books(control: socket.socket, lifeline: Connection, settings: Settings) -> None:
    """Run the process that makes books."""
    become_child(os.dup(lifeline.fileno()))
    configure_logging(settings.supervisor.logs, "books")
    from books.jobs.process import run

    run(control, settings.jobs)


def fetcher(control: socket.socket, lifeline: Connection, settings: Settings) -> None:
    """Run the process that fetches the model while another engine speaks."""
    become_child(os.dup(lifeline.fileno()))
    configure_logging(settings.supervisor.logs, "fetcher")
    from worker.models.download import run_fetcher

    run_fetcher(settings.worker)


def trial(control: socket.socket, lifeline: Connection, settings: Settings, provider: str) -> None:
    """Run the process that tries an execution provider while another one speaks."""
    become_child(os.dup(lifeline.fileno()))
    configure_logging(settings.supervisor.logs, "trial")
    from worker.trials.trial import run

    run(settings.worker, provider)
