"""The table of roles: what runs in each one's process, what it is given, and what becomes of it.

An entry point's code is imported only in the child: the supervisor stays small.
"""

from __future__ import annotations

import gc
import logging
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from kokoro_live import own_command
from shm.lifeline import be_killed_with_parent, become_child, leave_ending_to_supervisor
from supervisor.settings.supervisor import configure_logging

if TYPE_CHECKING:
    from multiprocess.connection import Connection

    from frontend.process import Configuration
    from shm.listeners import Listeners
    from supervisor.settings.composition import Settings

log = logging.getLogger(__name__)

RETRIES = (60.0, 120.0, 300.0, 600.0)
"""Seconds from a crash loop to the first try, and from each failed try to the next; the last ones for ever."""


@dataclass(frozen=True, slots=True)
class RoleRow:
    """One kind of process."""

    run: Callable[..., None]
    """The entry point in the child. It gets its ends of the control socket and of the lifeline, the settings, and
    `given`."""
    given: tuple[str, ...] = ()
    """Its further arguments: of `metrics` (the folder for counts), `listeners`, `handover` (its end of the channel for
    connections), `generation` and `subject`."""
    answers: bool = False
    """True if it answers heartbeats: a silent one is replaced. A worker's orders have limits."""
    errand: bool = False
    """True if it runs once and is told nothing (`errands.py`): it may be silent, and still, while it waits for a
    network or for a process of its own."""
    on_demand: bool = False
    """True if it is started when there is something to do, and ends by itself when nothing is left. Else one always
    runs, but for an errand."""
    tries: Sequence[float] = ()
    """Seconds before each try after a crash loop. Without any, the front's crash loop ends the server, and the player
    is tried again with the next text."""


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
    control: socket.socket,
    lifeline: Connection,
    settings: Settings,
    metrics: Path | None,
    listeners: Listeners,
    handover: socket.socket,
) -> None:
    become_child(os.dup(lifeline.fileno()))
    _, begin_front = _front_of(settings, metrics, listeners)
    begin_front(control, handover)


def template(
    control: socket.socket, _lifeline: Connection, settings: Settings, metrics: Path | None, listeners: Listeners
) -> NoReturn:
    be_killed_with_parent()
    leave_ending_to_supervisor()
    configure_logging(settings.supervisor.logs, "template")
    gc.disable()
    configured, begin_front = _front_of(settings, metrics, listeners)
    from frontend.template import FrontTemplate
    from worker.select import asked_rows

    if listeners.wyoming is not None:
        import frontend.dialects.wyoming.service  # noqa: F401
    english = any(row.has_model for row in asked_rows(settings.worker))
    FrontTemplate(control, configured, begin_front, english=english).serve()


def _front_of(
    settings: Settings, metrics: Path | None, listeners: Listeners
) -> tuple[Configuration, Callable[..., None]]:
    """Import what a front needs; returns its settings, and what runs it with its ends of its channels."""
    # aiohttp's sendfile goes past the guard of the connection, so a client that reads nothing would never be cut.
    os.environ["AIOHTTP_NOSENDFILE"] = "1"
    # aiohttp reads the system's certificates when it is imported (`python -m benchmarks.late_loading`), and the front
    # opens no TLS connection.
    os.environ["SSL_CERT_FILE"] = os.devnull
    with imports():
        from frontend.process import Configuration, run
        from worker.select import asked_rows

    voices = {voice.name: voice for row in asked_rows(settings.worker) for voice in row.voices}
    wyoming = settings.supervisor.wyoming_host, settings.supervisor.wyoming_port

    reading = own_command("-m", "books.reading.told")

    def clients(*asked: Any) -> Any:
        from supervisor.connect.clients import known_clients  # only the page's tab needs it

        return known_clients(wyoming, *asked)

    configured = Configuration(settings.front, settings.text, settings.jobs, tuple(voices.values()), clients, reading)

    def begin(control: socket.socket, handover: socket.socket, *loaded: Any) -> None:
        from shm import request_id
        from shm.metric_files import metric_files

        configure_logging(settings.supervisor.logs, "front", request_id.current.get)
        run(listeners, control, handover, configured, metric_files(metrics, "front"), *loaded)

    return configured, begin


def worker(
    control: socket.socket, lifeline: Connection, settings: Settings, metrics: Path | None, generation: int
) -> NoReturn:
    _begin(lifeline, settings, f"worker[{generation}]")
    from shm.metric_files import metric_files

    metric_files(metrics, "worker")
    with imports():
        from worker.loop.process import run

    run(control, generation, settings.worker)


def player(control: socket.socket, lifeline: Connection, settings: Settings) -> None:
    configure_logging(settings.supervisor.logs, "player")
    from player.process import run

    run(control, os.dup(lifeline.fileno()), settings.player)


def books(control: socket.socket, lifeline: Connection, settings: Settings) -> None:
    _begin(lifeline, settings, "books")
    from books.jobs.process import run

    run(control, settings.jobs)


def tls(control: socket.socket, lifeline: Connection, settings: Settings, listeners: Listeners) -> NoReturn:
    _begin(lifeline, settings, "tls")
    from frontend.tls import run

    run(control, listeners, settings.supervisor.certificate, settings.front)


def fetcher(_control: socket.socket, lifeline: Connection, settings: Settings) -> None:
    _begin(lifeline, settings, "fetcher")
    from worker.models.download import run_fetcher

    run_fetcher(settings.worker)


def trial(_control: socket.socket, lifeline: Connection, settings: Settings, provider: str) -> None:
    _begin(lifeline, settings, "trial")
    from worker.engines.kokoro import measure_provider
    from worker.providers.trial import run

    run(settings.worker, provider, measure_provider)


def _begin(lifeline: Connection, settings: Settings, name: str) -> None:
    become_child(os.dup(lifeline.fileno()))
    configure_logging(settings.supervisor.logs, name)


ROLES: dict[str, RoleRow] = {
    "front": RoleRow(front, ("metrics", "listeners", "handover"), answers=True),
    "template": RoleRow(template, ("metrics", "listeners")),
    "worker": RoleRow(worker, ("metrics", "generation"), tries=RETRIES),
    "player": RoleRow(player, answers=True, on_demand=True),
    "books": RoleRow(books, answers=True, on_demand=True, tries=RETRIES),
    "tls": RoleRow(tls, ("listeners",), answers=True, tries=RETRIES),
    "fetcher": RoleRow(fetcher, errand=True),
    "trial": RoleRow(trial, ("subject",), errand=True),
}
"""All roles, by name. A standby is a worker that waits for another one's death (`workers.py`)."""


def run_role(role: str, *arguments: Any) -> None:
    """Run a role's entry point. What the machine refuses it (descriptors, files, memory) ends it with one line, and the
    supervisor starts it again."""
    try:
        ROLES[role].run(*arguments)
    except (OSError, MemoryError) as error:
        log.critical("this process ends: %s", error or type(error).__name__)
        log.debug("where it ends", exc_info=True)
        logging.shutdown()
        os._exit(1)  # what is half made complains of its own end


def start_arguments(role: str, **values: Any) -> tuple[Any, ...]:
    """The arguments of a role's entry point that follow the settings."""
    return tuple(values[name] for name in ROLES[role].given)
