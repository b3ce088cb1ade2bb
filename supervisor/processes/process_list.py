"""A list of all processes of a server, for `/status`: the serving ones first, then all others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from shm.situation import ProcessReport
from supervisor.processes.incarnation import Incarnation
from supervisor.processes.role import Role, RoleState

Spare = tuple[Incarnation, str, str]
"""A process that fills no role, with its kind and its state as text."""


def reports(front: Role, workers: Sequence[Role], spares: Iterable[Spare]) -> Iterator[ProcessReport]:
    """The front and each worker once, even without a process; then successors, predecessors and `spares`."""

    def report(child: Incarnation | None, role: str, state: str, slot: int | None, **restarts: Any) -> ProcessReport:
        ready = child.ready if child else None
        return ProcessReport(
            role=role,
            state=state,
            generation=child.generation if child else None,
            pid=child.pid if child else None,
            started=child.started if child else None,
            load_seconds=ready.load_seconds if ready else None,
            slot=slot if len(workers) > 1 else None,
            provider=ready.engine.provider if ready else "",
            loading=child.loading if child and not ready else "",
            priority=ready.engine.priority if ready else None,
            **restarts,
        )

    for role in (front, *workers):
        exits = {"last_exit": role.last_exit, "last_exit_at": role.last_exit_at, "next_start": role.next_start}
        yield report(role.process, role.name, role.state, role.slot, restarts=role.restarts, **exits)
    for role in (front, *workers):
        if role.successor:
            yield report(role.successor, role.name, RoleState.STARTING, role.slot)
        for child in role.draining:
            yield report(child, role.name, "draining", role.slot)
    for child, name, state in spares:
        yield report(child, name, state, None)
