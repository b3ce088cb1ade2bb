"""The framings of a response's body: plain audio, server-sent events, lines of JSON with word times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from frontend.audio.formats import OutputFormat
from frontend.contract.request import SpeechRequest
from frontend.serving.errors import ErrorDetail
from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo
from shm.timing import SentenceTiming, WordTiming

EVENTS = "text/event-stream"
"""Content type of server-sent events."""

FRAME_SAMPLES = 600
"""Samples that count as one output token: one of Kokoro's frames, 25 ms."""


class Usage(msgspec.Struct):
    """OpenAI's count: tokens that the engine spoke, and the audio's frames of 25 ms."""

    input_tokens: int
    output_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, input_tokens: int, samples: int) -> Usage:
        """Arguments are those of `Framing.done`."""
        output_tokens = -(-samples // FRAME_SAMPLES)
        return cls(input_tokens, output_tokens, input_tokens + output_tokens)


class TimedViseme(msgspec.Struct):
    """The time of a shape of the mouth."""

    oculus: Annotated[
        str, Meta(description="Oculus' name: sil, PP, FF, TH, DD, kk, CH, SS, nn, RR, aa, E, ih, oh or ou")
    ]
    azure: Annotated[int, Meta(description="Azure's number, 0 to 21.")]
    start: Annotated[float, Meta(description="Seconds of the audio.")]
    end: float


class TimedWord(msgspec.Struct):
    """The time at which a word sounds."""

    word: Annotated[str, Meta(description="The word as it is written in the text.")]
    said: Annotated[str, Meta(description="The word as it was read.")]
    start: Annotated[float, Meta(description="Seconds of the audio.")]
    end: float
    voice: Annotated[str | UnsetType, Meta(description="The voice that says it, where a text has several.")] = UNSET
    visemes: Annotated[
        list[TimedViseme] | UnsetType, Meta(description="Its shapes of the mouth, without gaps, with `visemes`.")
    ] = UNSET


class TimedMark(msgspec.Struct):
    """The time at which a mark of SSML is reached."""

    name: str
    time: Annotated[float, Meta(description="Seconds of the audio.")]


class TimedSpeech(msgspec.Struct):
    """Audio and its words, for `timestamps` with `stream`: `false`."""

    audio: Annotated[bytes, Meta(description="The file, base64.")]
    format: str
    sample_rate: int
    duration: Annotated[float, Meta(description="Seconds.")]
    words: list[TimedWord]
    marks: Annotated[list[TimedMark] | UnsetType, Meta(description="SSML's marks, if the text has any.")] = UNSET


class CaptionedWord(msgspec.Struct):
    """The time at which a word sounds, in Kokoro-FastAPI's form."""

    word: str
    start_time: float
    end_time: float
    said: str
    voice: Annotated[str | None, Meta(description="The voice that says it, with `allow_voice_tags`.")]


class CaptionedSpeech(msgspec.Struct):
    """Kokoro-FastAPI's shape: all of the audio."""

    audio: Annotated[bytes, Meta(description="Base64.")]
    audio_format: str
    timestamps: list[CaptionedWord] | None
    marks: Annotated[list[TimedMark] | UnsetType, Meta(description="SSML's marks, if the text has any.")] = UNSET


class CaptionedLine(msgspec.Struct):
    """One line of many: a part of the audio with words, or the error that ends an incomplete answer."""

    audio: Annotated[bytes | UnsetType, Meta(description="Base64; the last line may have words alone.")] = UNSET
    audio_format: str | UnsetType = UNSET
    timestamps: (
        Annotated[list[CaptionedWord], Meta(description="Words that begin in this line's audio or after it.")]
        | UnsetType
    ) = UNSET
    marks: Annotated[list[TimedMark], Meta(description="SSML's marks, in the same way.")] | UnsetType = UNSET
    error: Annotated[ErrorDetail, Meta(description="In the last line of incomplete audio, alone.")] | UnsetType = UNSET


class TimedSentence(msgspec.Struct):
    """A sentence that begins in the audio beside it or after it."""

    number: Annotated[int, Meta(description="Its place in the text, from 0.")]
    text: str
    sample: Annotated[int, Meta(description="The sample of the audio at which it begins; of events, at 24 kHz.")]
    real_time_factor: Annotated[
        float | UnsetType, Meta(description="Predicted seconds of work for a second of the audio that follows.")
    ] = UNSET


class SpeechDeltaEvent(msgspec.Struct, tag="speech.audio.delta"):
    """A part of the audio."""

    audio: Annotated[bytes, Meta(description="Base64. All events' audio joined is the file.")]


class SpeechWordsEvent(msgspec.Struct, tag="speech.audio.words"):
    """Words that begin in the audio of the next events, with `timestamps`."""

    words: list[TimedWord]


class SpeechMarksEvent(msgspec.Struct, tag="speech.audio.marks"):
    """SSML's marks, in the same way."""

    marks: list[TimedMark]


class SpeechSentenceEvent(TimedSentence, tag="speech.audio.sentence"):
    """A sentence that begins in the audio of the next events."""


class SpeechDoneEvent(msgspec.Struct, tag="speech.audio.done"):
    """The end of whole audio."""

    usage: Usage


class SpeechErrorEvent(msgspec.Struct, tag="error"):
    """The end of incomplete audio; the connection is then cut."""

    error: ErrorDetail


SpeechEvent = (
    SpeechDeltaEvent | SpeechWordsEvent | SpeechMarksEvent | SpeechSentenceEvent | SpeechDoneEvent | SpeechErrorEvent
)


class Framing:
    """A way to write an answer's body. This one is the file's bytes and nothing else: only the connection's end can
    show that they are incomplete."""

    bare = True
    """True if the body is the audio file and nothing else."""

    def __init__(self, content_type: str) -> None:
        self.content_type = content_type

    def begin(self, asked: SpeechRequest, engine: EngineInfo) -> None:
        """Learn whose speech it is, before all other calls."""

    @property
    def held(self) -> tuple[int, int]:
        """Words and sentences that were given, and wait for the next piece of audio."""
        return 0, 0

    @property
    def place(self) -> list[float]:
        """The framing's counts, for `resume`."""
        return []

    def resume(self, place: list[float]) -> None:
        """Continue a body that a killed front has begun, after `begin`. What that one sent isn't given again."""

    def audio(self, audio: bytes, seconds: float) -> bytes:
        """Frame a piece of audio. `seconds`: duration of all audio so far, this piece included."""
        return audio

    def words(self, words: Sequence[WordTiming]) -> bytes:
        """Frame word times; they precede the audio in which the words sound."""
        return b""

    def sentence(self, sentence: SentenceTiming, real_time_factor: float | None) -> bytes:
        """Frame a sentence's beginning; it precedes the audio in which the sentence begins."""
        return b""

    def done(self, input_tokens: int, samples: int) -> bytes:
        """Frame the end of whole audio.

        Args:
            input_tokens: tokens that were spoken, as the engine counts them (`Segment.tokens`).
            samples: the audio's length, at 24 kHz.
        """
        return b""

    def error(self, detail: ErrorDetail) -> bytes:
        """Frame the end of incomplete audio."""
        return b""

    def whole(self, audio: bytes, words: Sequence[WordTiming], seconds: float) -> bytes:
        """The body of an answer that is sent at once."""
        return audio


class Events(Framing):
    """Server-sent events in the form of OpenAI's API, and on request those for words, SSML's marks and sentences.

    Each event has an `id`: the sample, at 24 kHz, up to which the events so far hold the audio. A client that sends it
    as `Last-Event-ID` is answered from that sample on.
    """

    bare = False

    def __init__(self, after: int = 0) -> None:
        """`after`: samples at 24 kHz that the client has already."""
        super().__init__(EVENTS)
        self._at = after

    @property
    def place(self) -> list[float]:
        return [self._at]

    def resume(self, place: list[float]) -> None:
        self._at = int(place[0])

    def audio(self, audio: bytes, seconds: float) -> bytes:
        self._at = round(seconds * SAMPLE_RATE)
        return self._event(SpeechDeltaEvent(audio))

    def words(self, words: Sequence[WordTiming]) -> bytes:
        marks = mark_times(words)
        told = self._event(SpeechWordsEvent([timing(word) for word in words]))
        return told + (self._event(SpeechMarksEvent(marks)) if marks else b"")

    def sentence(self, sentence: SentenceTiming, real_time_factor: float | None) -> bytes:
        factor = UNSET if real_time_factor is None else round(real_time_factor, 3)
        return self._event(SpeechSentenceEvent(sentence.number, sentence.text, sentence.start, factor))

    def done(self, input_tokens: int, samples: int) -> bytes:
        return self._event(SpeechDoneEvent(Usage.of(input_tokens, samples)))

    def error(self, detail: ErrorDetail) -> bytes:
        # A name for clients that dispatch on names, and both fields that OpenAI's clients read: `type` and `error`.
        return b"event: error\n" + self._event(SpeechErrorEvent(detail))

    def _event(self, event: SpeechEvent) -> bytes:
        return b"data: %b\nid: %d\n\n" % (msgspec.json.encode(event), self._at)


class Captions(Framing):
    """Kokoro-FastAPI's captioned speech: a JSON object with all audio and its words, or one a line while it is made."""

    bare = False

    def __init__(self, output: OutputFormat, *, streamed: bool, timed: bool, names_voices: bool) -> None:
        """Args:
        timed: the words have times.
        names_voices: words that name no voice are the performer's.
        """
        super().__init__("application/x-ndjson" if streamed else "application/json")
        self._type = output.content_type
        self._timed = timed
        self._names_voices = names_voices
        self._voice = ""
        self._words: list[CaptionedWord] = []
        self._marks: list[TimedMark] = []

    @property
    def held(self) -> tuple[int, int]:
        return len(self._words), 0

    def begin(self, asked: SpeechRequest, engine: EngineInfo) -> None:
        self._voice = asked.performer.name if self._names_voices else ""

    def audio(self, audio: bytes, seconds: float) -> bytes:
        line = CaptionedLine(audio, self._type, self._words, self._marks or UNSET)
        self._words, self._marks = [], []
        return msgspec.json.encode(line) + b"\n"

    def words(self, words: Sequence[WordTiming]) -> bytes:
        self._words += [caption(word, self._voice) for word in words]
        self._marks += mark_times(words)
        return b""

    def done(self, input_tokens: int, samples: int) -> bytes:
        return self.audio(b"", 0.0) if self._words else b""

    def error(self, detail: ErrorDetail) -> bytes:
        return msgspec.json.encode(CaptionedLine(error=detail)) + b"\n"

    def whole(self, audio: bytes, words: Sequence[WordTiming], seconds: float) -> bytes:
        captions = [caption(word, self._voice) for word in words] if self._timed else None
        return msgspec.json.encode(CaptionedSpeech(audio, self._type, captions, mark_times(words) or UNSET))


class WholeWithTimes(Framing):
    """The server's own JSON object with all audio and the times of its words."""

    bare = False

    def __init__(self, output: OutputFormat) -> None:
        super().__init__("application/json")
        self._output = output

    def whole(self, audio: bytes, words: Sequence[WordTiming], seconds: float) -> bytes:
        timed = TimedSpeech(
            audio,
            str(self._output.format),
            self._output.sample_rate,
            round(seconds, 3),
            [timing(word) for word in words],
            mark_times(words) or UNSET,
        )
        return msgspec.json.encode(timed)


def timing(word: WordTiming) -> TimedWord:
    """A word in the server's own form; times in seconds of the audio."""
    visemes = [TimedViseme(each.oculus, each.azure, round(each.start, 3), round(each.end, 3)) for each in word.visemes]
    start, end = round(word.start, 3), round(word.end, 3)
    return TimedWord(word.word, word.said, start, end, word.voice or UNSET, visemes or UNSET)


def mark_times(words: Sequence[WordTiming]) -> list[TimedMark]:
    """SSML's marks that stand before or after the words, in their order in the text, each with its second of the
    audio."""
    found: list[TimedMark] = []
    for word in words:
        found += (TimedMark(name, round(word.start, 3)) for name in word.bookmarks)
        found += (TimedMark(name, round(word.end, 3)) for name in word.bookmarks_after)
    return found


def caption(word: WordTiming, voice: str = "") -> CaptionedWord:
    """A word in Kokoro-FastAPI's form, with its pronunciation added.

    Args:
        voice: the word's voice if the word names none; empty: its voice is null.
    """
    shown = word.voice or voice or None  # Kokoro-FastAPI's clients expect the field, with or without a voice
    return CaptionedWord(word.word, round(word.start, 3), round(word.end, 3), word.said, shown)
