"""One segment that a workbench makes: ordered, begun, made block by block, ended."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field

from shm.audio import SAMPLE_RATE, Pcm
from shm.messages import SegmentOrder
from worker.cancellation import Cancellation
from worker.engine import Block, Engine, Utterance

ENOUGH_TO_HEAR = 1.0
"""Seconds that a listener still has to hear, from which on the stream's later segments may share the cores."""


@dataclass(eq=False)
class SegmentWork:
    """An order and its progress. Samples are counted from the segment's sample 0."""

    order: SegmentOrder
    sealed: int = 0
    """Samples committed, those of earlier generations included."""
    made: int = 0
    """Samples that the engine has given, likewise."""
    unwritten: deque[Pcm] = field(default_factory=deque)
    """Made samples for which the ring had no room yet."""
    cancellation: Cancellation = field(default_factory=Cancellation)
    blocks: Generator[Block, None, None] | None = None
    """The engine's run; None before it begins and after it was closed."""
    ended: bool = False
    """The engine gives nothing more."""
    forgotten: bool = False
    """Nobody wants it any more."""
    failure: str = ""
    seconds: float = 0.0
    """Time spent in the engine."""
    prosody_seconds: float = 0.0
    """Of those, the time before the first sample could be vocoded."""

    def __post_init__(self) -> None:
        self.sealed = self.made = self.order.from_sample

    @property
    def deadline(self) -> float:
        """When its next sample must be there, in monotonic seconds."""
        return self.order.first_deadline + self.made / SAMPLE_RATE

    @property
    def waits(self) -> bool:
        """Whether its next block may be made. One block is made ahead of the ring's room, and no more."""
        return not self.ended and not self.unwritten

    @property
    def is_due(self) -> bool:
        """Whether its listener has little left to hear. A listener who has heard nothing for long is served best by all
        threads."""
        return self.waits and abs(self.deadline - time.monotonic()) < ENOUGH_TO_HEAR

    def advance(self, engine: Engine) -> Block | None:
        """The next block from the engine; None at the segment's end.

        Raises:
            Cancelled, EngineError, ProviderUnavailable: see `Engine.begin`.
        """
        order = self.order
        if self.blocks is None:
            self.blocks = engine.begin(
                Utterance(
                    order.script,
                    order.language,
                    order.voice,
                    order.speed,
                    order.seed,
                    order.from_sample,
                    order.marks,
                    self.cancellation,
                )
            )
        return next(self.blocks, None)

    def take_in(self, block: Block | None, failure: str) -> None:
        """The engine gave that block, or ended, or failed."""
        if block is None:
            self.end(failure)
        elif block.offset != self.made:
            self.end(f"the engine gave sample {block.offset} where {self.made} was due")
        else:
            self.prosody_seconds += block.prosody_seconds
            self.unwritten.append(block.samples)
            self.made += len(block.samples)
            if block.last:
                self.end()

    def end(self, failure: str = "") -> None:
        """The engine gives nothing more of it."""
        self.ended = True
        self.failure = failure
        self.put_away()

    def put_away(self) -> None:
        """Close the engine's run. Idempotent."""
        if self.blocks is not None:
            self.blocks.close()
            self.blocks = None
