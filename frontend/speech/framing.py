"""The framings of a response's body: plain audio, server-sent events, lines of JSON with word times."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import msgspec

from frontend.audio.formats import OutputFormat
from frontend.contract.request import SpeechRequest
from frontend.contract.sentence_timing import SentenceTiming
from frontend.contract.word_timing import WordTiming
from frontend.speech import sse


class Framing:
    """A way to write an answer's body. This one is the file's bytes and nothing else: only the connection's end can
    show that they are incomplete."""

    bare = True
    """True if the body is the audio file and nothing else."""

    def __init__(self, content_type: str) -> None:
        self.content_type = content_type

    def begin(self, asked: SpeechRequest) -> None:
        """Learn whose speech it is, before all other calls."""

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
        """Frame the end of whole audio. The arguments are those of `sse.done`."""
        return b""

    def error(self, body: object) -> bytes:
        """Frame the end of incomplete audio."""
        return b""

    def whole(self, audio: bytes, words: Sequence[WordTiming], seconds: float) -> bytes:
        """The body of an answer that is sent at once."""
        return audio


class Events(Framing):
    """Server-sent events in the form of OpenAI's API, plus one event for words and one for SSML's marks."""

    bare = False

    def __init__(self) -> None:
        super().__init__(sse.CONTENT_TYPE)

    def audio(self, audio: bytes, seconds: float) -> bytes:
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
        self._words: list[dict[str, object]] = []
        self._marks: list[dict[str, object]] = []

    def begin(self, asked: SpeechRequest) -> None:
        self._voice = asked.performer.name if self._names_voices else ""

    def audio(self, audio: bytes, seconds: float) -> bytes:
        words, self._words = self._words, []
        line = {"audio": base64.b64encode(audio).decode(), "audio_format": self._type, "timestamps": words}
        if self._marks:
            line["marks"], self._marks = self._marks, []
        return msgspec.json.encode(line) + b"\n"

    def words(self, words: Sequence[WordTiming]) -> bytes:
        self._words += [caption(word, self._voice) for word in words]
        self._marks += mark_times(words)
        return b""

    def done(self, input_tokens: int, samples: int) -> bytes:
        return self.audio(b"", 0.0) if self._words else b""

    def error(self, body: object) -> bytes:
        return msgspec.json.encode({"error": body}) + b"\n"

    def whole(self, audio: bytes, words: Sequence[WordTiming], seconds: float) -> bytes:
        captions = [caption(word, self._voice) for word in words] if self._timed else None
        encoded = base64.b64encode(audio).decode()
        return msgspec.json.encode(
            {"audio": encoded, "audio_format": self._type, "timestamps": captions} | _marked(words)
        )


class TimedSpeech(Framing):
    """The server's own JSON object with all audio and the times of its words."""

    bare = False

    def __init__(self, output: OutputFormat) -> None:
        super().__init__("application/json")
        self._output = output

    def whole(self, audio: bytes, words: Sequence[WordTiming], seconds: float) -> bytes:
        found = {
            "audio": base64.b64encode(audio).decode(),
            "format": str(self._output.format),
            "sample_rate": self._output.sample_rate,
            "duration": round(seconds, 3),
            "words": [timing(word) for word in words],
        }
        return msgspec.json.encode(found | _marked(words))


def _marked(words: Sequence[WordTiming]) -> dict[str, object]:
    marks = mark_times(words)
    return {"marks": marks} if marks else {}


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
