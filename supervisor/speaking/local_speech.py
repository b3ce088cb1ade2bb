"""Speaks in this process: the front's text pipeline and a worker's engine, without a server between them."""

from __future__ import annotations

import asyncio
import zlib
from collections import Counter, deque
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from queue import SimpleQueue

from books.making.casting import narrator
from books.making.passages import Passage, PassageRefused, PassageSpeech
from client.answers import CannotSpeak, SpokenPiece
from frontend.audio.encoders import Resampler
from frontend.planning.planner import Limits, plan
from frontend.planning.profile import guess
from frontend.settings.front import FrontSettings
from frontend.speech.voices import usual_voice
from frontend.streams.joins import Joiner, pause_after
from frontend.streams.segments import segment_speed
from frontend.timestamps import align
from shm.audio import SAMPLE_RATE, Pcm
from shm.engine_info import EngineInfo
from shm.messages import Voice
from shm.timing import Mark, WordTiming
from text.east_asian import LanguageUnavailable
from text.espeak.espeak import EspeakUnavailable
from text.g2p import G2P
from text.lexicon import LexiconFile
from text.pipeline import TextPipeline, configured_pipeline
from text.settings import TextSettings
from text.words.language import UnknownLanguage, language_of
from text.words.segment import Notation, Segment
from text.words.voice_spec import UnknownVoice, VoiceError, parse_voice
from worker import select
from worker.engine import Block, Engine, EngineError, EngineUnavailable, Utterance
from worker.settings import WorkerSettings


@dataclass(frozen=True, slots=True)
class _Making:
    segment: Segment
    utterance: Utterance
    made: SimpleQueue[Block | Exception | None] = field(default_factory=SimpleQueue)
    """Blocks of the segment as they are made; None at its end, or the error."""


class LocalSpeech:
    """An engine in this process, with a text pipeline."""

    def __init__(
        self, settings: WorkerSettings, text: TextSettings | None = None, front: FrontSettings | None = None
    ) -> None:
        """Load the engine that the settings ask for.

        Args:
            text: settings of reading: the lexicon, pauses, rules and foreign words; None: the defaults.
            front: with the voice and the pace where none are named; None: the defaults.

        Raises:
            CannotSpeak: it can't be loaded. The message names the cure.
        """
        try:
            self._engine: Engine = select.choose(settings)
        except EngineUnavailable as error:
            raise CannotSpeak(str(error)) from error
        self._front = front or FrontSettings()
        text = text or TextSettings()
        self._pipeline: TextPipeline = configured_pipeline(G2P(), text, LexiconFile(text.own_lexicon))

    @property
    def engine(self) -> EngineInfo:
        return self._engine.info

    @property
    def usual_voice(self) -> str:
        """The voice of a text for which none is named."""
        return usual_voice(self.engine, self._front)

    @property
    def usual_speed(self) -> float:
        """The pace of a text for which none is named."""
        return self._front.default_speed

    @property
    def unspoken(self) -> Counter[str]:
        """Characters and phonemes so far for which the engine has no sound."""
        return self._pipeline.unpronounceable + self._pipeline.dropped

    def speak(
        self, text: str, voice: str | None, lang: str | None, speed: float | None, *, timestamps: bool = False
    ) -> Generator[SpokenPiece, None, None]:
        """The text's audio, equal to the samples of a server with this engine that has measured no costs yet.

        Up to as many segments as the engine makes at once are made ahead of the consumer. After closing, no more are
        made, and those being made are cancelled.

        Args:
            timestamps: say when each word sounds (`SpokenPiece.words`).

        Raises:
            CannotSpeak: there is no such voice or language, nothing can be spoken, the engine can't tell when words
                sound, or it fails on a segment.
        """
        blend, language = self._chosen(voice, lang)
        speed = self.usual_speed if speed is None else speed
        if timestamps and not self.engine.marks:
            raise CannotSpeak(
                f"{self.engine.name} can't tell when words sound with the model {self.engine.model}: use a model that "
                "gives durations, or --engine espeak"
            )
        making: deque[_Making] = deque()
        rate = self.engine.sample_rate
        joiner, resampler = Joiner(rate), None if rate == SAMPLE_RATE else Resampler(rate, SAMPLE_RATE)
        pool = ThreadPoolExecutor(self._engine.concurrency, "speech")
        try:
            notation = Notation.of(self.engine)
            sentences = self._pipeline.sentences(text, language, notation, speed)
            for segment in plan(sentences, guess(self.engine.first_block), speed, notation, Limits()):
                making.append(_making(segment, blend, language, speed, timestamps))
                pool.submit(self._make, making[-1])
                if len(making) > self._engine.concurrency:
                    yield from _taken(making[0], joiner, resampler)
                    making.popleft()
            while making:
                yield from _taken(making[0], joiner, resampler)
                making.popleft()
            yield from _pieces(joiner.finish(), resampler)
            if resampler:
                yield from _pieces([resampler.rest()])
        except (EspeakUnavailable, LanguageUnavailable) as error:
            raise CannotSpeak(str(error)) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for unheard in making:
                unheard.utterance.control.cancel()

    def pronounced(self, text: str, voice: str | None, lang: str | None) -> str:
        """The text's phonemes; for an engine with a G2P of its own the text as it would get it.

        Raises:
            CannotSpeak: there is no such voice or language, or no way to pronounce it.
        """
        _, language = self._chosen(voice, lang)
        try:
            notation = Notation.of(self.engine)
            words = self._pipeline.words(text, language, notation)
        except (EspeakUnavailable, LanguageUnavailable) as error:
            raise CannotSpeak(str(error)) from error
        if notation.speaks == "text":
            return " ".join(word.phonemes for word in words)
        known = ("".join(filter(notation.vocabulary.__contains__, word.phonemes)).strip() for word in words)
        return " ".join(filter(None, known))

    def _chosen(self, voice: str | None, lang: str | None) -> tuple[Voice, str]:
        voices = self.engine.voices
        try:
            blend = parse_voice(self.usual_voice if voice is None else voice, voices)
            return blend, language_of(blend, voices, lang)
        except UnknownVoice as error:
            raise CannotSpeak(f"{error} (In a terminal: `kokoro-live voices`.)") from error
        except (UnknownLanguage, VoiceError) as error:
            raise CannotSpeak(str(error)) from error

    def _make(self, wanted: _Making) -> None:
        try:
            with closing(self._engine.begin(wanted.utterance)) as blocks:
                for block in blocks:
                    if wanted.utterance.control.is_cancelled:
                        return
                    wanted.made.put(block)
            wanted.made.put(None)
        except Exception as error:  # raised again in the thread that waits for this segment
            wanted.made.put(error)


def _making(segment: Segment, blend: Voice, language: str, speed: float, marks: bool) -> _Making:
    pace = segment_speed(speed, segment.rate)
    seed = zlib.crc32(segment.script.encode())
    return _Making(segment, Utterance(segment.script, language, blend, pace, seed, marks=marks))


def _taken(taken: _Making, joiner: Joiner, resampler: Resampler | None) -> Generator[SpokenPiece, None, None]:
    marks: list[Mark] = []
    segment, utterance = taken.segment, taken.utterance
    pause = pause_after(segment.cut, utterance.speed, segment.pause)
    while (block := taken.made.get()) is not None:
        if isinstance(block, EngineError):
            raise CannotSpeak(str(block)) from block
        if isinstance(block, Exception):
            raise block
        marks += block.marks
        yield from _pieces(joiner.push(block.samples, pause), resampler)
    words = _words(segment, marks, joiner) if utterance.marks else ()
    joiner.end(segment.cut, utterance.speed, segment.pause)
    yield SpokenPiece(b"", len(segment.text), words)


def _words(segment: Segment, marks: list[Mark], joiner: Joiner) -> tuple[WordTiming, ...]:
    """Words of the segment whose samples were just given to the joiner in full."""
    if joiner.placed is None:  # the segment doesn't sound
        timed = align(segment.words, [(len(segment.script), 0)], lambda _: joiner.position / joiner.sample_rate)
    else:
        own, stream = joiner.placed
        timed = align(segment.words, marks, lambda sample: (stream + max(sample - own, 0)) / joiner.sample_rate)
    return tuple(timed)


def _pieces(samples: Iterable[Pcm], resampler: Resampler | None = None) -> Generator[SpokenPiece, None, None]:
    for part in samples:
        given = resampler.resampled(part) if resampler else part
        yield SpokenPiece(given.astype("<i2", copy=False).tobytes())


class LocalBookSpeaker:
    """Makes one passage at a time, in a thread."""

    def __init__(self, speech: LocalSpeech) -> None:
        self._speech = speech
        self._alone = asyncio.Lock()
        self.inference_threads = 1
        """The passage in hand takes all threads."""

    async def engine(self) -> str:
        """Equal to a server's with the same model."""
        engine, speech = self._speech.engine, self._speech
        identity = "/".join((engine.name, engine.model, engine.model_sha256[:16], engine.voices_sha256[:16]))
        return f"{identity}/{speech.usual_voice}/{speech.usual_speed}"

    def _narrator(self, passage: Passage) -> str:
        return narrator(self._speech.engine.voices, self._speech.usual_voice, passage.language)

    async def script(self, passage: Passage) -> str:
        voice = passage.voice or self._narrator(passage)
        try:
            return await asyncio.to_thread(
                self._speech.pronounced, passage.text, voice or None, passage.language or None
            )
        except CannotSpeak:
            return passage.text  # `speak` says why

    async def speak(self, passage: Passage) -> PassageSpeech:
        async with self._alone:
            return await asyncio.to_thread(self._speak, passage)

    def _speak(self, passage: Passage) -> PassageSpeech:
        marks = self._speech.engine.marks
        voice = passage.voice or self._narrator(passage)
        pieces = self._speech.speak(
            passage.text, voice or None, passage.language or None, passage.speed, timestamps=marks
        )
        pcm: list[bytes] = []
        words: list[WordTiming] = []
        try:
            with closing(pieces):
                for piece in pieces:
                    pcm.append(piece.pcm)
                    words += piece.words
        except CannotSpeak as error:
            raise PassageRefused(str(error)) from error
        return PassageSpeech.of(SpokenPiece(b"".join(pcm), words=tuple(words)))
