"""The framings of a response's body: plain audio, server-sent events, lines of JSON with word times."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Protocol

import msgspec

from frontend.audio.formats import FORMATS, AudioFormat
from frontend.contract.sentence_timing import SentenceTiming
from frontend.contract.word_timing import WordTiming
from frontend.http.answers import sse


class Framing(Protocol):
    """A way to write a response that is sent while it is made."""

    content_type: str

    def audio(self, audio: bytes) -> bytes: ...

    def words(self, words: Sequence[WordTiming]) -> bytes:
        """Frame word times; they precede the audio in which the words sound."""
        ...

    def sentence(self, sentence: SentenceTiming, real_time_factor: float | None) -> bytes:
        """Frame a sentence's beginning; it precedes the audio in which the sentence begins."""
        ...

    def done(self, input_tokens: int, samples: int) -> bytes:
        """Frame the end of whole audio. The arguments are those of `sse.done`."""
        ...

    def error(self, body: object) -> bytes:
        """Frame the end of incomplete audio."""
        ...


class Plain:
    """The file's bytes and nothing else: only the connection's end can show that they are incomplete."""

    def __init__(self, audio_format: AudioFormat) -> None:
        self.content_type = FORMATS[audio_format].content_type

    def audio(self, audio: bytes) -> bytes:
        return audio

    def words(self, words: Sequence[WordTiming]) -> bytes:
        return b""

    def sentence(self, sentence: SentenceTiming, real_time_factor: float | None) -> bytes:
        return b""

    def done(self, input_tokens: int, samples: int) -> bytes:
        return b""

    def error(self, body: object) -> bytes:
        return b""


class Events:
    """Server-sent events in the form of OpenAI's API, plus one event for words and one for SSML's marks."""

    content_type = sse.CONTENT_TYPE

    def audio(self, audio: bytes) -> bytes:
        return sse.delta(audio)

    def words(self, words: Sequence[WordTiming]) -> bytes:
        marks = mark_times(words)
        return sse.words([timing(word) for word in words]) + (sse.marks(marks) if marks else b"")

    def sentence(self, sentence: SentenceTiming, real_time_factor: float | None) -> bytes:
        return sse.sentence(sentence.number, sentence.text, sentence.start, real_time_factor)

    def done(self, input_tokens: int, samples: int) -> bytes:
        return sse.done(input_tokens, samples)

    def error(self, body: object) -> bytes:
        return sse.error(body)


class CaptionLines:
    """A JSON object a line, as Kokoro-FastAPI streams captioned speech: audio, and the words that begin in it."""

    content_type = "application/x-ndjson"

    def __init__(self, audio_format: AudioFormat, voice: str = "") -> None:
        """Args:
        voice: the voice of words that name no other; empty if no word names one.
        """
        self._type = FORMATS[audio_format].content_type
        self._voice = voice
        self._words: list[dict[str, object]] = []
        self._marks: list[dict[str, object]] = []

    def audio(self, audio: bytes) -> bytes:
        words, self._words = self._words, []
        line = {"audio": base64.b64encode(audio).decode(), "audio_format": self._type, "timestamps": words}
        if self._marks:
            line["marks"], self._marks = self._marks, []
        return msgspec.json.encode(line) + b"\n"

    def words(self, words: Sequence[WordTiming]) -> bytes:
        self._words += [caption(word, self._voice) for word in words]
        self._marks += mark_times(words)
        return b""

    def sentence(self, sentence: SentenceTiming, real_time_factor: float | None) -> bytes:
        return b""

    def done(self, input_tokens: int, samples: int) -> bytes:
        return self.audio(b"") if self._words else b""

    def error(self, body: object) -> bytes:
        return msgspec.json.encode({"error": body}) + b"\n"


def timing(word: WordTiming) -> dict[str, object]:
    """A word in the server's own form; times in seconds of the audio."""
    found = {"word": word.word, "said": word.said, "start": round(word.start, 3), "end": round(word.end, 3)}
    return found | {"voice": word.voice} if word.voice else found


def mark_times(words: Sequence[WordTiming]) -> list[dict[str, object]]:
    """SSML's marks that stand before or after the words, in their order in the text, each with its second of the
    audio."""
    found: list[dict[str, object]] = []
    for word in words:
        found += ({"name": name, "time": round(word.start, 3)} for name in word.bookmarks)
        found += ({"name": name, "time": round(word.end, 3)} for name in word.bookmarks_after)
    return found


def caption(word: WordTiming, voice: str = "") -> dict[str, object]:
    """A word in Kokoro-FastAPI's form, with its pronunciation added.

    Args:
        voice: the word's voice if the word names none; empty: its voice is null.
    """
    return {
        "word": word.word,
        "start_time": round(word.start, 3),
        "end_time": round(word.end, 3),
        "said": word.said,
        "voice": word.voice or voice or None,  # Kokoro-FastAPI's clients expect the field, with or without a voice
    }
