"""A running kokoro-live as the speaker of a book."""

from __future__ import annotations

import base64
import io
import wave
from collections import Counter
from types import TracebackType
from typing import Any

import aiohttp
import msgspec
import numpy as np

from books.making.passages import Passage
from books.making.speech import Postponed, Refused, Speech, TimedWord
from books.spoken import SAMPLE_RATE

_LOST = 1.0
"""Seconds until a server that doesn't answer is asked again. A restarted front takes about one."""
_TRIES = 3
"""Failures of the server after which a passage isn't tried again."""
_LONGEST = 600.0
"""Seconds that one passage may take. It waits for listeners within them."""


class _Word(msgspec.Struct):
    word: str
    start: float
    end: float


class _Captioned(msgspec.Struct):
    audio: str
    words: list[_Word]


class ServerSpeaker:
    """Asks for each passage with `priority: idle`, so that it is made while nobody listens."""

    def __init__(self, url: str, key: str | None = None) -> None:
        """
        Args:
            url: the server's address without a path.
            key: an API key, if the server asks for one.
        """
        self._session = aiohttp.ClientSession(
            headers={"User-Agent": "kokoro-live-book"}, timeout=aiohttp.ClientTimeout(total=_LONGEST)
        )
        self.use(url, key)
        self.inference_threads = 1
        """Passages that the server makes side by side, as it said last."""
        self.stands_in = False
        """True if the engine that it named last speaks only because Kokoro can't."""
        self._captions = True
        self._engine = ""
        self._failures: Counter[bytes] = Counter()
        """Failed attempts for each request."""

    async def __aenter__(self) -> ServerSpeaker:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    def use(self, url: str, key: str | None) -> None:
        """Ask at this address with this key from now on."""
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    async def engine(self) -> str:
        """Implements `Speaker.engine`."""
        status = await self._json("GET", "/status", None)
        engine = status.get("engine") or {}
        if not engine:
            raise Postponed("the server can't speak yet", _LOST)
        self._engine = str(engine.get("name"))
        self.stands_in = bool(engine.get("stands_in"))
        roles = [(each["role"], each["state"]) for each in status.get("processes", ())]
        self.inference_threads = int(engine.get("inference_threads", 1)) * max(1, roles.count(("worker", "running")))
        return f"{engine.get('name')}/{engine.get('model')}/{engine.get('sha256', '')[:16]}"

    async def speak(self, passage: Passage) -> Speech:
        """Implements `Speaker.speak`."""
        captions = self._captions
        body = {
            "input": passage.text,
            "voice": passage.voice or None,
            "speed": passage.speed,
            "lang": passage.language or None,
            "response_format": "wav",
            "stream": False,
            "priority": "idle",
            "timestamps": "word" if captions else None,
        }
        try:
            answer = await self._answer("POST", "/v1/audio/speech", body)
        except Refused as error:
            if error.code != "timestamps_unavailable":
                raise
            self._captions = False  # this engine can't tell; sentences get their share by letters
            return await self.speak(passage)
        if not captions:
            return Speech(_samples(answer))
        captioned = msgspec.json.decode(answer, type=_Captioned)
        words = tuple(
            TimedWord(word.word, round(word.start * SAMPLE_RATE), round(word.end * SAMPLE_RATE))
            for word in captioned.words
        )
        return Speech(_samples(base64.b64decode(captioned.audio)), words)

    async def unknown_words(self, text: str, language: str) -> set[str]:
        """Words of a text that no dictionary has, and that are pronounced by rules or spelled.

        Raises:
            Postponed: the server doesn't answer now.
            Refused: it can't tell.
        """
        found = await self._json("POST", "/dev/phonemize", {"input": text, "language": language or None})
        by_rule = ("espeak-ng", "spelled", "none")
        return {word["word"].strip(".,;:!?\"'“”‘’()…—") for word in found["words"] if word["source"] in by_rule}

    async def _json(self, method: str, path: str, body: Any) -> Any:
        return msgspec.json.decode(await self._answer(method, path, body))

    async def _answer(self, method: str, path: str, body: Any) -> bytes:
        try:
            address = f"{self._url}{path}"
            async with self._session.request(method, address, json=body, headers=self._headers) as response:
                answer = await response.read()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Postponed(f"{self._url} doesn't answer: {error or type(error).__name__}", _LOST) from error
        if response.status == 200:
            speaks = response.headers.get("X-Engine", self._engine)
            if self._engine and speaks != self._engine:
                message = f"{speaks} speaks now, not {self._engine} as at the beginning: start again."
                raise Refused(message, "engine_changed")
            return answer
        code, message = _error(answer)
        message = message or f"The server answers with {response.status} {response.reason}."
        if response.status == 500:
            # The engine died of this text, or the front fails at it, or either of something else in the same moment:
            # the third time tells. A passage asked for for ever would hold up all books behind it.
            digest = msgspec.json.encode(body)
            self._failures[digest] += 1
            if self._failures[digest] >= _TRIES:
                raise Refused(message, code)
        if response.status in (408, 429) or response.status >= 500:
            raise Postponed(message, _seconds(response.headers.get("Retry-After")))
        raise Refused(message, code)


def _seconds(header: str | None) -> float:
    return min(float(header), 60.0) if header and header.isdigit() else _LOST


def _error(answer: bytes) -> tuple[str, str]:
    """Code and message of an API error; empty where the answer has none."""
    try:
        match msgspec.json.decode(answer):
            case {"error": {"message": str(message), **more}}:
                return str(more.get("code") or ""), message
    except msgspec.DecodeError:
        pass
    return "", ""


def _samples(audio: bytes) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    try:
        with wave.open(io.BytesIO(audio)) as file:
            if (file.getnchannels(), file.getsampwidth(), file.getframerate()) != (1, 2, SAMPLE_RATE):
                raise Refused("The server's audio isn't mono, 16 bits, at 24 kHz.")
            return np.frombuffer(file.readframes(file.getnframes()), "<i2")
    except (wave.Error, EOFError) as error:
        raise Refused(f"The server's answer is no WAV: {error}.") from error
