"""The interface that the HTTP side asks for speech: a stream of PCM for a request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from frontend.contract.errors import Unavailable
from frontend.contract.request import SpeechRequest
from shm.audio import Pcm
from shm.engine_info import EngineInfo, VoiceInfo
from shm.score import Score
from shm.timing import SentenceTiming, WordTiming
from text.words.segment import Segment


class SpeechStream(Protocol):
    """One request's audio."""

    engine: EngineInfo

    tokens: int
    """The scripts' length as the engine counts it, of the segments whose audio was given whole; all at the end."""

    flushed: int
    """Flushes of a growing text after which all audio of the text before them was given."""

    @property
    def seconds_left(self) -> float:
        """Seconds until the listener will have heard all audio that is planned so far; below 0 for a listener who has
        been waiting for more text."""
        ...

    @property
    def making(self) -> bool:
        """True while audio is planned that isn't made."""
        ...

    @property
    def cached(self) -> bool:
        """Everything so far was spoken before and is only repeated."""
        ...

    def __aiter__(self) -> AsyncIterator[Pcm]:
        """The audio in order, in pieces as they come from the engine (shape [n], n > 0).

        An empty piece says that `flushed` has grown; only growing texts have flushes. The iteration ends only when the
        whole text was given.

        Raises:
            Unspeakable, Unavailable, Overloaded, Broken: the stream ends here, incomplete.
        """
        ...

    def scores(self) -> AsyncIterator[tuple[Segment, float, Score]]:
        """Yield each segment with its pace and its score, in place of its audio.

        Raises:
            Unspeakable, Unavailable, Overloaded, Broken: as an iteration over the audio.
        """
        ...

    def take_words(self) -> list[WordTiming]:
        """Times of the words whose audio began since the last call; empty where no timestamps were asked for."""
        ...

    def take_sentences(self) -> list[SentenceTiming]:
        """Sentences whose audio began since the last call; empty where they weren't asked for."""
        ...

    @property
    def real_time_factor(self) -> float | None:
        """Seconds in which the engine will make a second of this stream's audio, as the cost model predicts; None
        before the engine was measured."""
        ...

    async def all_cached(self) -> bool:
        """True where the whole text is in the cache. Returns as soon as that is known."""
        ...

    async def accepted(self) -> bool:
        """True once the stream has a place, so that its audio will come; False if it was refused or has no sound.

        Returns as soon as that is known, before any audio is there.
        """
        ...

    def close(self) -> None:
        """Give everything back at once, wherever the stream is; an iteration that waits ends with `Interrupted`.
        Idempotent."""
        ...


class Speaker(Protocol):
    """Turns texts into streams. One per front."""

    @property
    def engine(self) -> EngineInfo | None:
        """The engine in use; None while nothing can speak."""
        ...

    @property
    def expected_voices(self) -> Sequence[VoiceInfo]:
        """Voices of the engines that the settings allow, known before one of them speaks."""
        ...

    @property
    def reason(self) -> str:
        """The reason why nothing can speak, in a line; empty when an engine can."""
        ...

    @property
    def retry_after(self) -> float:
        """Seconds after which a client that is refused now should try again."""
        ...

    @property
    def real_time_factor(self) -> float:
        """Seconds in which the engine makes a second of a lone stream's audio, on a machine as busy as of late; a guess
        before it was measured, and 0 while nothing can speak."""
        ...

    @property
    def ring_seconds(self) -> float:
        """Seconds of audio that a stream may be ahead of its listener (`--ring-seconds`)."""
        ...

    def open(self, request: SpeechRequest) -> SpeechStream:
        """Begin to speak.

        Raises:
            Unavailable: nothing can speak now.
            Unspeakable: the engine can't do what is asked for.
        """
        ...

    async def idle(self) -> None:
        """Wait until an engine can speak and no stream is open."""
        ...


def engine_in_use(speaker: Speaker) -> EngineInfo:
    """The engine that speaks.

    Raises:
        Unavailable: nothing can speak now.
    """
    engine = speaker.engine
    if engine is None:
        raise Unavailable(speaker.reason, speaker.retry_after)
    return engine
