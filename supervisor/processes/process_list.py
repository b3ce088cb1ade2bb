"""All processes of a server in a list, for `/status`: those that serve, and those beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from shm.engine_info import Priority
from shm.messages import ProcessReport
from supervisor.processes.beside import Beside
from supervisor.processes.incarnation import Incarnation
from supervisor.processes.nursery import Nursery
from supervisor.processes.role import Role


def reports(
    front: Role, workers: Sequence[Role], others: Iterable[Beside], nursery: Nursery
) -> Iterator[ProcessReport]:
    """The front and each worker once, whether it has a process or not; then the `others`."""
    several = len(workers) > 1
    for role in (front, *workers):
        child = role.process
        yield ProcessReport(
            role=role.name,
            state=role.state,
            generation=child.generation if child else None,
            pid=child.pid if child else None,
            started=nursery.started(child) if child else None,
            load_seconds=child.ready.load_seconds if child and child.ready else None,
            restarts=role.restarts,
            last_exit=role.last_exit,
            last_exit_at=role.last_exit_at,
            slot=role.slot if several else None,
            provider=_provider(child),
            priority=_priority(child),
        )
    for beside in others:
        child = beside.child
        yield ProcessReport(
            role=beside.role,
            state=beside.state,
            generation=child.generation,
            pid=child.pid,
            started=nursery.started(child),
            load_seconds=child.ready.load_seconds if child.ready else None,
            slot=beside.slot if several else None,
            provider=_provider(child),
            priority=_priority(child),
        )


def _priority(child: Incarnation | None) -> Priority | None:
    return child.ready.engine.priority if child and child.ready else None


def _provider(child: Incarnation | None) -> str:
    return child.ready.engine.provider if child and child.ready else ""
