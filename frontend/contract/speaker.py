"""What the HTTP side asks of the speaking side: a stream of PCM for a text."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Protocol

from frontend.contract.stages import Stages
from frontend.text.markup.marked import MarkupKind
from frontend.timestamps.align import WordTiming
from shm.audio import Pcm
from shm.engine_info import EngineInfo
from shm.messages import Voice


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """A request that was checked: every field is valid for the engine that speaks now."""

    request_id: str
    text: str
    voice: Voice
    language: str
    """As espeak names it: en-us, en-gb, es, fr-fr, hi, it, ja, pt-br, cmn."""
    speed: float
    markup: MarkupKind = MarkupKind.NONE
    phonemes: bool = False
    """The text is phonemes of the model's vocabulary, to be spoken as they are."""
    timestamps: bool = False
    """Its words' times are wanted (`SpeechStream.take_words`)."""
    client: str = ""
    """Who asks: those who ask much don't keep others waiting."""
    whole: bool = False
    """Nothing is heard before all of it is there: it may wait for those who listen."""
    idle: bool = False
    """Nobody waits for it at all."""
    fresh: bool = False
    """Neither taken from the cache nor kept there."""
    stages: Stages = field(default_factory=Stages, compare=False)
    """When its first audio came how far, for the log."""


class SpeechError(Exception):
    """A request that can't be spoken. The message is meant for the client."""


class Unspeakable(SpeechError):
    """The text has nothing in it that can be spoken, or the engine refused a part of it: the client's to mend (400)."""


class Unavailable(SpeechError):
    """Nothing can speak now: try again after `retry_after` seconds (503)."""

    def __init__(self, reason: str, retry_after: float = 1.0) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Overloaded(SpeechError):
    """What is being spoken leaves no room to speak this in time: try again after `retry_after` seconds (429)."""

    def __init__(self, reason: str, retry_after: float) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Interrupted(SpeechError):
    """A later request of the same session ended this one (409, or the connection is cut)."""


class Broken(SpeechError):
    """The stream can't be completed. Before the first byte: 500. After it: the connection is cut."""


class SpeechStream(Protocol):
    """One request's audio."""

    engine: EngineInfo

    tokens: int
    """The scripts' length as the engine counts it, of the segments whose audio was given whole; all at the end."""

    @property
    def cached(self) -> bool:
        """Everything so far was spoken before and is only repeated."""
        ...

    def __aiter__(self) -> AsyncIterator[Pcm]:
        """The audio in order, in pieces as they come from the engine (shape [n], n > 0).

        The iteration ends only when the whole text was given.

        Raises:
            Unspeakable, Unavailable, Overloaded, Broken: the stream ends here, incomplete.
        """
        ...

    def take_words(self) -> list[WordTiming]:
        """When the words sound whose audio began since the last call, where that was asked for."""
        ...

    async def all_cached(self) -> bool:
        """Whether the whole text was spoken before, so that it is there at once; known as soon as that can be."""
        ...

    def close(self) -> None:
        """Give everything back at once, wherever the stream is. Idempotent."""
        ...


class Speaker(Protocol):
    """Turns texts into streams. One per front."""

    @property
    def engine(self) -> EngineInfo | None:
        """Who speaks; None while nothing can."""
        ...

    @property
    def reason(self) -> str:
        """Why nothing can speak, in a line; empty when something can."""
        ...

    @property
    def retry_after(self) -> float:
        """Seconds after which a client that is refused now should try again."""
        ...

    def open(self, request: SpeechRequest) -> SpeechStream:
        """Begin to speak.

        Raises:
            Unavailable: nothing can speak now.
            Unspeakable: the engine can't do what is asked for.
        """
        ...
