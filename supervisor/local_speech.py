"""Speaking in this process: the front's text pipeline and a worker's engine, without a server between them."""

from __future__ import annotations

import threading
import zlib
from collections import Counter, deque
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from queue import SimpleQueue
from typing import TYPE_CHECKING

from frontend.text.language import UnknownLanguage, language_of
from frontend.voice_spec import UnknownVoice, VoiceError, default_voice, parse_voice
from supervisor.spoken import CannotSpeak, Piece

if TYPE_CHECKING:
    from frontend.text.pipeline import TextPipeline
    from shm.messages import EngineInfo, Voice
    from worker.engine import Engine, Utterance
    from worker.settings import WorkerSettings

_Made = SimpleQueue["bytes | Exception | None"]
"""A segment's blocks as they are made; None at its end, or what went wrong."""


class LocalSpeech:
    """One engine of this process, and what it reads from."""

    def __init__(self, settings: WorkerSettings) -> None:
        """Load the engine that the settings ask for.

        Raises:
            CannotSpeak: it can't be loaded. The message names the cure.
        """
        from frontend.text.g2p import G2P
        from frontend.text.pipeline import TextPipeline
        from worker.engine import EngineUnavailable
        from worker.select import choose

        try:
            self._engine: Engine = choose(settings)
        except EngineUnavailable as error:
            raise CannotSpeak(str(error)) from error
        self._pipeline: TextPipeline = TextPipeline(G2P())

    @property
    def engine(self) -> EngineInfo:
        return self._engine.info

    @property
    def unspoken(self) -> Counter[str]:
        """Characters and phonemes so far that the engine has no sound for."""
        return self._pipeline.unpronounceable + self._pipeline.dropped

    def speak(self, text: str, voice: str | None, lang: str | None, speed: float) -> Generator[Piece, None, None]:
        """The text's audio, the same samples as a server gives with this engine.

        As many segments as the engine makes side by side are made ahead of what is taken. Closed, it makes no more:
        each thread ends with the block that it is at.

        Raises:
            CannotSpeak: there is no such voice or language, nothing can be spoken, or the engine fails on a segment.
        """
        from frontend.text.espeak import EspeakUnavailable
        from frontend.text.segment import Notation
        from worker.engine import Utterance

        blend, language = self._chosen(voice, lang)
        stop = threading.Event()
        making: deque[tuple[int, _Made]] = deque()
        pool = ThreadPoolExecutor(self._engine.concurrency, "speech")
        try:
            for segment in self._pipeline.segments(text, language, Notation.of(self.engine)):
                seed = zlib.crc32(segment.script.encode())
                made: _Made = SimpleQueue()
                pool.submit(self._make, Utterance(segment.script, language, blend, speed, seed), made, stop)
                making.append((len(segment.text), made))
                if len(making) > self._engine.concurrency:
                    yield from _taken(*making.popleft())
            while making:
                yield from _taken(*making.popleft())
        except EspeakUnavailable as error:
            raise CannotSpeak(str(error)) from error
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _chosen(self, voice: str | None, lang: str | None) -> tuple[Voice, str]:
        voices = self.engine.voices
        try:
            blend = parse_voice(default_voice(voices) if voice is None else voice, voices)
            return blend, language_of(blend, lang)
        except UnknownVoice as error:
            raise CannotSpeak(f"{error} (In a terminal: `kokoro-live voices`.)") from error
        except (UnknownLanguage, VoiceError) as error:
            raise CannotSpeak(str(error)) from error

    def _make(self, utterance: Utterance, made: _Made, stop: threading.Event) -> None:
        try:
            with closing(self._engine.begin(utterance)) as blocks:
                for block in blocks:
                    if stop.is_set():
                        return
                    made.put(block.samples.astype("<i2", copy=False).tobytes())
            made.put(None)
        except Exception as error:  # raised again in the thread that waits for this segment
            made.put(error)


def _taken(characters: int, made: _Made) -> Generator[Piece, None, None]:
    from worker.engine import EngineError

    while isinstance(pcm := made.get(), bytes):
        yield Piece(pcm)
    if isinstance(pcm, EngineError):
        raise CannotSpeak(str(pcm)) from pcm
    if pcm is not None:
        raise pcm
    yield Piece(b"", characters)
