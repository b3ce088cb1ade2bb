"""Why a worker generation was lost."""

from __future__ import annotations

from enum import Enum, auto


class Loss(Enum):
    """Whether a segment that an inference thread was at may be to blame."""

    CRASH = auto()
    """The worker died, or broke its contract: a segment may have done it."""
    HANG = auto()
    """Our own watchdog judged it to hang. It may have been wrong, so no text is quarantined for it."""
    INNOCENT = auto()
    """The worker ends on its own account: no segment is to blame."""
