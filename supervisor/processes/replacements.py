"""Workers that are to be replaced, one after another, so that one more loads at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from supervisor.processes.role import Role, RoleState


@dataclass(frozen=True, slots=True)
class _Replacement:
    why: str
    fresh: bool
    """A successor that loads already was started under other settings, or before the model's files were there."""


class Replacements:
    """A queue by slot. A worker that dies before its turn needs no replacement: the next one knows what changed."""

    def __init__(self) -> None:
        self._due: dict[int, _Replacement] = {}

    def want(self, role: Role, why: str, fresh: bool) -> None:
        """Replace the role's process when its turn has come."""
        assert role.slot is not None
        self._due[role.slot] = _Replacement(why, fresh)

    def __bool__(self) -> bool:
        return bool(self._due)

    def clear(self) -> None:
        self._due.clear()

    def next(self, roles: Sequence[Role]) -> tuple[Role, str] | None:
        """The role whose turn it is, with the reason; None while a successor loads or nothing is due."""
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
            elif role.state is not RoleState.STARTING:  # what is starting is replaced when it speaks
                del self._due[slot]
        return None
