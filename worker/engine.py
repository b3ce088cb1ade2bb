"""The interface of every engine: a script goes in, blocks of PCM come out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import msgspec

from shm.audio import Pcm
from shm.engine_info import EngineInfo
from shm.messages import SpokenScript
from shm.timing import Mark


class RunControl:
    """A run that is cancelled or paused is stopped in its middle: the engine registers a function that does it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._stop: Callable[[], None] | None = None
        self._paused_until = 0.0
        self.is_cancelled = False
        self.paused_seconds = 0.0
        """Seconds that the inference thread has waited in pauses."""

    def cancel(self) -> None:
        """Stop the present run and let no other begin. Idempotent."""
        with self._changed:
            self.is_cancelled = True
            self._stop_run()

    def pause(self, until: float) -> None:
        """Stop the present run; it begins again after `resume`, at the latest at `until` (monotonic seconds)."""
        with self._changed:
            self._paused_until = until
            self._stop_run()

    def resume(self) -> None:
        """End a pause. Idempotent."""
        with self._changed:
            self._paused_until = 0.0
            self._changed.notify_all()

    @property
    def is_paused(self) -> bool:
        """True if the utterance's next run waits."""
        return not self.is_cancelled and time.monotonic() < self._paused_until

    def wait_while_paused(self) -> None:
        """Wait in the inference thread until the pause has ended or the utterance is cancelled."""
        started = time.monotonic()
        with self._changed:
            while self.is_paused:
                self._changed.wait(min(self._paused_until - time.monotonic(), threading.TIMEOUT_MAX))
        self.paused_seconds += time.monotonic() - started

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """Call `stop` if the utterance is cancelled or paused inside the `with` block, or was so before it."""
        with self._changed:
            self._stop = stop
            if self.is_cancelled or self.is_paused:
                stop()
        try:
            yield
        finally:
            with self._changed:
                self._stop = None

    def _stop_run(self) -> None:
        if self._stop is not None:
            self._stop()
        self._changed.notify_all()


class Utterance(SpokenScript, frozen=True):
    """One segment to speak."""

    control: RunControl = msgspec.field(default_factory=RunControl)
    """Control by another thread. When nobody wants the rest, the engine's `next` raises `Cancelled` as soon as
    possible, in the middle of a run if the library allows that. An engine that vocodes in windows also pauses: `next`
    gives up its run, waits, and makes the same block again."""


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive samples of an utterance."""

    offset: int
    """Offset of the block's first sample, in samples from the utterance's start (whatever `from_sample` is)."""
    samples: Pcm
    """Samples as int16, mono, 24 kHz; shape [n], n > 0."""
    last: bool = False
    """True if this is the last block. If False, the end is noticed when the next block is requested, after more urgent
    work."""
    marks: tuple[Mark, ...] = ()
    """Places of the script that begin to sound in this block or later, if the utterance requests marks
    (`shm.messages.Marks`). The first block has those of all blocks: a stream tells a segment's words as soon as its
    first sound has a place."""
    prosody_seconds: float = 0.0
    """The part of this block's time that was spent on the segment's prosody."""
    prosody_made: float = 0.0
    """Monotonic seconds at which the segment's prosody was made; 0 from an engine without that stage, and in later
    blocks."""
    features_made: float = 0.0
    """The same of the decoder's features."""


class EngineError(Exception):
    """The utterance can't be spoken; the engine itself is fine. The message goes to the client."""


class Cancelled(Exception):
    """Another thread has cancelled the utterance (`Utterance.control`), which ends here."""


class Paused(Exception):
    """Another thread has paused the utterance in the middle of a run, which gave no result and must be made again."""


class EngineUnavailable(Exception):
    """The engine can't be started: a file is missing, corrupt or of the wrong kind. The message tells the user how to
    fix it."""


class ProviderUnavailable(EngineUnavailable):
    """An execution provider is missing or doesn't work here; the next one of the chain may."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(f"{provider}: {reason}")
        self.provider = provider


class BadOption(EngineUnavailable):
    """An option that the user gave isn't the provider's, or isn't accepted. No other provider is tried, because the
    user asked for this one."""


class Engine(Protocol):
    """An engine, owned by one worker process. Up to `concurrency` threads call `begin` at once."""

    info: EngineInfo
    concurrency: int
    """Number of generators that may be advanced at the same time."""

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        """Blocks of the utterance from `from_sample` to its end, in order and without a gap.

        Each `next` does the work for one block, so the caller decides when; `close()` between blocks releases
        everything. An engine that can't start inside an utterance makes it from the start and skips samples.

        Raises:
            EngineError: the utterance can't be spoken; raised by `next`.
            Cancelled: the utterance was cancelled; raised by `next`.
        """
        ...

    def warm_up(self) -> None:
        """Speak a word without a listener, so that the first listener doesn't pay for lazy set-up."""
        ...
