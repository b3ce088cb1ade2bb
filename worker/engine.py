"""The interface that every engine has: a script in, blocks of PCM out."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Protocol

from shm.audio import Pcm
from shm.engine_info import EngineInfo
from shm.messages import Mark, Voice
from worker.cancellation import Cancellation


@dataclass(frozen=True, slots=True)
class Utterance:
    """One segment to speak."""

    script: str
    """Phonemes of the model's vocabulary or text, as `EngineInfo.speaks` says; at most `EngineInfo.max_tokens`."""
    language: str
    voice: Voice
    speed: float
    """0.25 to 4; 1 is the voice's own pace."""
    seed: int = 0
    """Same utterance, same seed: same samples, where the engine can. An engine without randomness ignores it."""
    from_sample: int = 0
    """Give no sample before this one."""
    marks: bool = False
    """Say when parts of the script sound (`Block.marks`), if the engine can."""
    cancellation: Cancellation = field(default_factory=Cancellation, compare=False)
    """Set from another thread when nobody wants the rest: the engine then comes out of `next` with `Cancelled` as soon
    as it can, in the middle of a run if its library allows that."""


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive samples of an utterance."""

    offset: int
    """Of its first sample, in samples from the utterance's start (whatever `from_sample` is)."""
    samples: Pcm
    """int16 mono at 24 kHz, shape [n], n > 0."""
    last: bool = False
    """Nothing follows. Without it the end is noticed when the next block is asked for, behind more urgent work."""
    marks: tuple[Mark, ...] = ()
    """Places of the script that begin to sound from this block on, where they were asked for (`shm.messages.Marks`)."""
    prosody_seconds: float = 0.0
    """Of the time that this block took, what went into the segment's prosody."""


class EngineError(Exception):
    """This utterance can't be spoken; the engine itself is well. The message goes to the client."""


class Cancelled(Exception):
    """`Utterance.cancellation` was set; the utterance ends here."""


class EngineUnavailable(Exception):
    """The engine can't be started: a file is missing, corrupt or of the wrong kind. The message names the cure."""


class ProviderUnavailable(EngineUnavailable):
    """An execution provider is missing or doesn't work here; the next of the chain may."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(f"{provider}: {reason}")
        self.provider = provider


class Engine(Protocol):
    """Owned by one worker process. `begin` is called from up to `concurrency` threads at once."""

    info: EngineInfo
    concurrency: int
    """How many generators may be advanced at the same time."""

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        """Blocks in order without a gap, the first at `from_sample`, together the utterance from there to its end.

        Work is done in `next`, so the caller decides when; `close()` between blocks gives everything back.
        An engine that can't start inside an utterance makes it from the start and skips.

        Raises:
            EngineError: from `next`, if this utterance can't be spoken.
            Cancelled: from `next`, if nobody wants it any more.
        """
        ...

    def warm_up(self) -> None:
        """Speak a word to nobody, so that the first listener doesn't pay for lazy set-up."""
        ...
