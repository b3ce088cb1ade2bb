"""A segment's work in the workbench: ordered, begun, made block by block, ended."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field

from shm.audio import Pcm
from shm.messages import SegmentOrder
from worker.engine import Block, Engine, Utterance
from worker.run_control import RunControl

UNKNOWN_BLOCK_SECONDS = 1.0
"""Assumed time in the engine of a segment's first block, whose prosody may be long."""

HEARD_SOONER = 0.2
"""Seconds before its deadline by which a block should be made: the front trims silence at a segment's edges, so a
listener has less to hear than was made."""

ENOUGH_TO_HEAR = 1.0
"""Seconds of audio left to a listener, above which the stream's later segments may share the cores."""


@dataclass(eq=False)
class SegmentWork:
    """A segment's order and its progress. Samples are counted from the segment's sample 0."""

    order: SegmentOrder
    sample_rate: int
    """Samples per second of the engine."""
    sealed: int = 0
    """Number of committed samples, those of earlier generations included."""
    made: int = 0
    """Number of samples that the engine has made, those of earlier generations included."""
    unwritten: deque[Pcm] = field(default_factory=deque)
    """Samples that are made and for which the ring has no room yet."""
    control: RunControl = field(default_factory=RunControl)
    blocks: Generator[Block, None, None] | None = None
    """The engine's run; None before it begins and after it was closed."""
    ended: bool = False
    """True if the engine will make no more samples."""
    forgotten: bool = False
    """True if the front no longer wants the segment."""
    failure: str = ""
    seconds: float = 0.0
    """Seconds spent in the engine."""
    block_seconds: float = UNKNOWN_BLOCK_SECONDS
    """Seconds that vocoding the latest block took."""
    prosody_seconds: float = 0.0
    """The part of `seconds` before vocoding could begin."""
    delay: float = 0.0
    """Seconds after the order's first deadline at which the listener began to hear the segment; negative if before."""

    def __post_init__(self) -> None:
        self.sealed = self.made = self.order.from_sample

    @property
    def deadline(self) -> float:
        """Monotonic seconds at which the segment's next sample must be ready."""
        return self.order.first_deadline + self.delay + self.made / self.sample_rate

    @property
    def is_due(self) -> bool:
        """True if the segment's listener has little audio left. A segment that is long overdue doesn't count: its
        listener is best served by all threads, which then also make the stream's later segments."""
        return not self.ended and not self.unwritten and abs(self.deadline - time.monotonic()) < ENOUGH_TO_HEAR

    def advance(self, engine: Engine) -> Block | None:
        """The next block from the engine; None at the segment's end.

        Raises:
            Cancelled, EngineError, ProviderUnavailable: the errors of `Engine.begin`.
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
                    self.control,
                )
            )
        return next(self.blocks, None)

    def record_time(self, seconds: float, block: Block | None) -> None:
        """Record the time that the engine took for the block, or to notice the segment's end (None)."""
        self.seconds += seconds
        if block is not None:
            self.block_seconds = seconds - block.prosody_seconds

    def take_in(self, block: Block | None, failure: str) -> None:
        """Record the engine's block, or the segment's end (None), or its failure."""
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

    def begin_playback(self) -> None:
        """Note that a listener who waited in silence hears the stream from now on: its later blocks are due by that."""
        if self.order.segment == self.order.from_sample == 0:  # else the stream sounded before it came to this worker
            self.delay = time.monotonic() - self.order.first_deadline

    def end(self, failure: str = "") -> None:
        """Record that the engine will make no more samples of the segment."""
        self.ended = True
        self.failure = failure
        self.put_away()

    def put_away(self) -> None:
        """Close the engine's run. Idempotent."""
        if self.blocks is not None:
            self.blocks.close()
            self.blocks = None
