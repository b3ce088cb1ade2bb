"""All processes of a server in a list, for `/status`: those that serve, and those beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shm.messages import ProcessReport
from supervisor.incarnation import Incarnation
from supervisor.nursery import Nursery
from supervisor.service import Service


def reports(
    services: Iterable[Service], others: Iterable[tuple[Incarnation, str, str]], nursery: Nursery
) -> Iterator[ProcessReport]:
    """Each role once, whether it has a process or not; then the `others`, each with its role and state."""
    for service in services:
        child = service.process
        yield ProcessReport(
            role=service.role,
            state=service.state,
            generation=child.generation if child else None,
            pid=child.pid if child else None,
            started=nursery.started(child) if child else None,
            load_seconds=child.ready.load_seconds if child and child.ready else None,
            restarts=service.restarts,
            last_exit=service.last_exit,
            last_exit_at=service.last_exit_at,
        )
    for child, role, state in others:
        yield ProcessReport(
            role=role,
            state=state,
            generation=child.generation,
            pid=child.pid,
            started=nursery.started(child),
            load_seconds=child.ready.load_seconds if child.ready else None,
        )
