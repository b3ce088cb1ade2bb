"""The reason why a worker generation was lost."""

from __future__ import annotations

from enum import Enum, auto


class Loss(Enum):
    """The cause of a loss, which tells if a segment in the making may be to blame."""

    CRASH = auto()
    """The worker died or broke the protocol: a segment may be the cause."""
    HANG = auto()
    """The front's own watchdog judged the worker to hang. The verdict may be wrong, so no text is quarantined for
    it."""
    INNOCENT = auto()
    """The worker ended on its own account: no segment is to blame."""
