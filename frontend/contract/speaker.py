"""The interface that the HTTP side asks for speech: a stream of PCM for a request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from frontend.contract.request import SpeechRequest
from frontend.contract.word_timing import WordTiming
from shm.audio import Pcm
from shm.engine_info import EngineInfo


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
