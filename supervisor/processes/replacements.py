"""Workers that are to be replaced, one after another, so that at most one additional worker loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from supervisor.processes.role import Role, RoleState


@dataclass(frozen=True, slots=True)
class _Replacement:
    why: str
    fresh: bool
    """True if a loading successor was started under other settings, or before the model's files existed."""


class Replacements:
    """A queue by slot. A worker that dies before its turn needs no replacement: its successor has the new state
    anyway."""

    def __init__(self) -> None:
        self._due: dict[int, _Replacement] = {}

    def want(self, role: Role, why: str, fresh: bool) -> None:
        """Queue the role's process for replacement."""
        assert role.slot is not None
        self._due[role.slot] = _Replacement(why, fresh)

    def __bool__(self) -> bool:
        return bool(self._due)

    def clear(self) -> None:
        self._due.clear()

    def next(self, roles: Sequence[Role]) -> tuple[Role, str] | None:
        """The next role to be replaced, with the reason; None while a successor loads or the queue is empty."""
        for slot, due in list(self._due.items()):
            role = roles[slot]
            if role.successor and not due.fresh:
                del self._due[slot]
            elif role.state is RoleState.RUNNING:
                if role.successor:
                    role.let_go(role.successor)
                if not any(other.successor for other in roles):
                    del self._due[slot]
                    return role, due.why
            elif role.state is not RoleState.STARTING:  # a starting process is replaced once it speaks
                del self._due[slot]
        return None
