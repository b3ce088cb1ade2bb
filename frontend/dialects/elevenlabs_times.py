"""ElevenLabs: answers in JSON with the times of characters and, of a dialogue, of its voices."""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from frontend.speech.framing import Framing
from shm.timing import WordTiming


class Alignments:
    """Divides a context's words over its audio messages.

    An alignment covers exactly the audio since the last alignment: the last character's start and duration add up to
    its length. Clients add these sums up to know where the next alignment begins, unless times are `absolute`: seconds
    from the context's beginning, to which LiveKit's plugin adds nothing. A word is in the message in which
    it begins, with a space after it, because clients take a word as complete at its space.
    """

    def __init__(self, *, absolute: bool = False) -> None:
        self._absolute = absolute
        self._words: deque[WordTiming] = deque()
        self._covered_ms = 0
        self.covered_words: Sequence[WordTiming] = ()
        """The words of the latest alignment."""

    def __len__(self) -> int:
        """Words of which no message has told."""
        return len(self._words)

    @property
    def covered_ms(self) -> int:
        """Milliseconds of audio that the alignments so far cover."""
        return self._covered_ms

    def resume(self, covered_ms: int) -> None:
        """Continue after the alignments of a front that was killed, before any word is added."""
        self._covered_ms = covered_ms

    def add(self, words: Sequence[WordTiming]) -> None:
        """Take words that begin in audio to come."""
        self._words += words

    def cover(self, seconds: float) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The alignment of the written and of the normalised text for the audio up to that time (seconds from the
        context's beginning); None if no word begins in it."""
        found: list[WordTiming] = []
        while self._words and self._words[0].start < seconds:
            found.append(self._words.popleft())
        if not found:
            return None
        self.covered_words = found
        # Both ends are rounded on one clock, so that the sums don't drift from the audio.
        start, end = self._covered_ms, round(seconds * 1000)
        self._covered_ms = end
        origin = 0 if self._absolute else start
        spans = []
        for word, following in pairwise([*found, None]):
            assert word is not None
            begins = _within(round(word.start * 1000), start, end)
            limit = end if following is None else _within(round(following.start * 1000), begins, end)
            times = (begins, _within(round(word.end * 1000), begins, limit), limit)
            spans.append((times[0] - origin, times[1] - origin, times[2] - origin))
        written = [word.word for word in found]
        return _characters(written, spans), _characters([word.said or word.word for word in found], spans)


NO_CHARACTERS: dict[str, Any] = {"chars": [], "charStartTimesMs": [], "charDurationsMs": []}


def _characters(words: Sequence[str], spans: Sequence[tuple[int, int, int]]) -> dict[str, Any]:
    """Three lists of equal length. A span has a word's begin and end, and the end of the space after it, in ms."""
    chars: list[str] = []
    starts: list[int] = []
    durations: list[int] = []
    for word, (begin, end, limit) in zip(words, spans, strict=True):
        edges = [begin + (end - begin) * place // len(word) for place in range(len(word) + 1)] if word else [end]
        chars += [*word, " "]
        starts += edges
        durations += [later - earlier for earlier, later in pairwise([*edges, limit])]
    return {"chars": chars, "charStartTimesMs": starts, "charDurationsMs": durations}


def _within(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))


class ElevenLabsTurn(msgspec.Struct):
    """One voice's turn."""

    text: Annotated[str, Meta(description="The text of the turn.")]
    voice_id: Annotated[str, Meta(description="The voice.")] = ""


class TimedLines(Framing):
    """A JSON object a line, whose times are seconds of the whole audio."""

    bare = False

    def __init__(self, turns: Sequence[ElevenLabsTurn] = ()) -> None:
        """`turns`: those of a dialogue, whose answer says too which voice speaks when."""
        super().__init__("application/json")
        self._alignments, self._began = Alignments(), 0.0
        named = groupby(enumerate(turns), lambda numbered: numbered[1].voice_id.casefold())
        self._runs = [next(run) for _, run in named]
        """The first turn, with its number, of each row of turns that one voice speaks."""
        self._run, self._voice = 0, ""

    @property
    def held(self) -> tuple[int, int]:
        return len(self._alignments), 0

    @property
    def place(self) -> list[float]:
        return [self._began, self._alignments.covered_ms, self._run]

    def resume(self, place: list[float]) -> None:
        self._began = place[0]
        self._alignments.resume(int(place[1]))
        self._run = int(place[2])

    def words(self, words: Sequence[WordTiming]) -> bytes:
        self._alignments.add(words)
        return b""

    def audio(self, audio: bytes, seconds: float) -> bytes:
        found = self._alignments.cover(seconds)
        line = self._timed(audio, found, self._began)
        self._began = seconds if found else self._began
        return line + b"\n"

    def whole(self, audio: bytes, words: Sequence[WordTiming], seconds: float) -> bytes:
        self._alignments.add(words)
        return self._timed(audio, self._alignments.cover(seconds) or (NO_CHARACTERS, NO_CHARACTERS), 0.0)

    def _timed(self, audio: bytes, found: tuple[Mapping[str, Any], Mapping[str, Any]] | None, began: float) -> bytes:
        written, said = (_in_seconds(each, began) for each in found) if found else (None, None)
        encoded = base64.b64encode(audio).decode()
        line: dict[str, Any] = {"audio_base64": encoded, "alignment": written, "normalized_alignment": said}
        if self._runs:
            line["voice_segments"] = self._segments(self._alignments.covered_words) if found else []
        return msgspec.json.encode(line)

    def _segments(self, words: Sequence[WordTiming]) -> list[dict[str, Any]]:
        """Rows of words that one voice speaks, of those in a line."""
        segments: list[dict[str, Any]] = []
        character = 0
        for word in words:
            if self._voice and word.voice != self._voice and self._run < len(self._runs) - 1:
                self._run += 1
            number, turn = self._runs[self._run]
            if not segments or segments[-1]["dialogue_input_index"] != number:
                begins = {"voice_id": turn.voice_id, "start_time_seconds": round(word.start, 3)}
                segments.append({**begins, "character_start_index": character, "dialogue_input_index": number})
            character += len(word.word) + 1
            segments[-1] |= {"end_time_seconds": round(word.end, 3), "character_end_index": character}
            self._voice = word.voice
        return segments


def _in_seconds(alignment: Mapping[str, Any], began: float) -> dict[str, Any]:
    starts = [began + start / 1000 for start in alignment["charStartTimesMs"]]
    durations = [duration / 1000 for duration in alignment["charDurationsMs"]]
    return {
        "characters": alignment["chars"],
        "character_start_times_seconds": [round(start, 3) for start in starts],
        "character_end_times_seconds": [
            round(start + duration, 3) for start, duration in zip(starts, durations, strict=True)
        ],
    }
