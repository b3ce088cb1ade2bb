"""Speech as numbered lines of JSON, for programs: `stream_format: "jsonl"`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from frontend.audio.formats import OutputFormat
from frontend.contract.request import SpeechRequest
from frontend.serving.errors import ErrorDetail
from frontend.speech.framing import Framing, TimedMark, TimedSentence, TimedWord, Usage, mark_times, timing
from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo
from shm.timing import SentenceTiming, WordTiming

CONTENT_TYPE = "application/jsonl"

_encode = msgspec.json.Encoder().encode_lines


class SpeechStart(msgspec.Struct, tag="speech.audio.start"):
    """The first line: whose speech it is, and its form."""

    request_id: str
    engine: str
    voice: Annotated[str, Meta(description="The voice of all that names no other.")]
    format: Annotated[str, Meta(description="As `response_format` names it.")]
    sample_rate: int


class SpeechDelta(msgspec.Struct, tag="speech.audio.delta"):
    """A line with a part of the audio."""

    seq: Annotated[int, Meta(description="The line's number, from 0.")]
    audio: Annotated[bytes, Meta(description="Base64. All lines' audio joined is the file.")]
    samples: Annotated[int, Meta(description="The part's length. A codec's bytes may come late, never early.")]
    id: Annotated[int, Meta(description="The sample, at 24 kHz, up to which the audio has come, for `Last-Event-ID`.")]
    words: Annotated[list[TimedWord], Meta(description="Words that begin in this audio or after it.")] | UnsetType = (
        UNSET
    )
    marks: Annotated[list[TimedMark], Meta(description="SSML's marks, in the same way.")] | UnsetType = UNSET
    sentences: (
        Annotated[list[TimedSentence], Meta(description="Sentences that begin in this audio or after it.")] | UnsetType
    ) = UNSET


class SpeechDone(msgspec.Struct, tag="speech.audio.done"):
    """The last line of whole audio: the totals."""

    lines: Annotated[int, Meta(description="Lines with audio in this answer.")]
    samples: Annotated[int, Meta(description="Length of the whole audio, also in an answer that continues one.")]
    duration: Annotated[float, Meta(description="The same in seconds.")]
    usage: Usage


class SpeechCut(msgspec.Struct, tag="error"):
    """The last line of incomplete audio; the connection is then cut."""

    error: ErrorDetail


SpeechLine = SpeechStart | SpeechDelta | SpeechDone | SpeechCut


class NumberedLines(Framing):
    """Numbered lines of JSON, each a `SpeechLine`, for programs: first the form, then the audio, last the totals."""

    bare = False

    def __init__(self, output: OutputFormat, after: int = 0) -> None:
        """`after`: samples at 24 kHz that the client has already."""
        super().__init__(CONTENT_TYPE)
        self._output = output
        self._start: list[SpeechLine] = []
        """The first line, until it is sent."""
        self._seq = 0
        self._seconds = after / SAMPLE_RATE
        self._samples = round(self._seconds * output.sample_rate)
        self._words: list[TimedWord] = []
        self._marks: list[TimedMark] = []
        self._sentences: list[TimedSentence] = []

    def begin(self, asked: SpeechRequest, engine: EngineInfo) -> None:
        output = self._output
        voice = asked.performer.name
        self._start = [SpeechStart(asked.request_id, engine.name, voice, str(output.format), output.sample_rate)]

    @property
    def held(self) -> tuple[int, int]:
        return len(self._words), len(self._sentences)

    @property
    def place(self) -> list[float]:
        return [self._seq, self._samples, self._seconds]

    def resume(self, place: list[float]) -> None:
        self._start = []
        self._seq, self._samples, self._seconds = int(place[0]), int(place[1]), place[2]

    def audio(self, audio: bytes, seconds: float) -> bytes:
        self._seconds = seconds
        before, self._samples = self._samples, round(seconds * self._output.sample_rate)
        line = SpeechDelta(
            self._seq,
            audio,
            self._samples - before,
            round(seconds * SAMPLE_RATE),
            self._words or UNSET,
            self._marks or UNSET,
            self._sentences or UNSET,
        )
        self._seq += 1
        self._words, self._marks, self._sentences = [], [], []
        return self._written(line)

    def _written(self, line: SpeechLine) -> bytes:
        start, self._start = self._start, []
        return _encode([*start, line])

    def words(self, words: Sequence[WordTiming]) -> bytes:
        self._words += map(timing, words)
        self._marks += mark_times(words)
        return b""

    def sentence(self, sentence: SentenceTiming, real_time_factor: float | None) -> bytes:
        sample = round(sentence.start * self._output.sample_rate / SAMPLE_RATE)
        factor = UNSET if real_time_factor is None else round(real_time_factor, 3)
        self._sentences.append(TimedSentence(sentence.number, sentence.text, sample, factor))
        return b""

    def done(self, input_tokens: int, samples: int) -> bytes:
        rest = self.audio(b"", self._seconds) if self._words or self._sentences else b""
        duration = round(self._samples / self._output.sample_rate, 3)
        return rest + self._written(SpeechDone(self._seq, self._samples, duration, Usage.of(input_tokens, samples)))

    def error(self, detail: ErrorDetail) -> bytes:
        return self._written(SpeechCut(detail))
