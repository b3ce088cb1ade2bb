"""A block of samples that the front owns, even if the worker that made it dies."""

from __future__ import annotations

from dataclasses import dataclass

from frontend.streams.link import Link
from frontend.streams.rings import Lease
from shm.audio import Pcm


@dataclass(frozen=True, slots=True)
class SealedBlock:
    """Committed samples whose CRC the front has checked."""

    pieces: tuple[Pcm, ...]
    """One view into the ring, or two if the block wraps; memory of the front's own if the block is from the cache."""
    link: Link | None = None
    lease: Lease | None = None
    end: int = 0
    """The ring position after the block."""

    def give_back(self) -> None:
        """Tell the worker that the listener has taken the block, so its room in the ring is free again."""
        if self.link and self.lease:
            self.link.release(self.lease, self.end)
