"""A running kokoro-live as the speaker of a book."""

from __future__ import annotations

import asyncio
import base64
import io
import wave
from types import TracebackType
from typing import Any

import msgspec
import numpy as np

from books.book import SAMPLE_RATE
from books.making.asking import LOST, Asking, Unreachable
from books.making.casting import narrator
from books.making.passages import Passage, PassageRefused, PassageSpeech, PassageWord, Postponed

_FIRST_ANSWER = 10.0
"""Seconds for the first answer of a server that takes the connection."""
_FIRST_TRIES = 4
"""Attempts to reach a server that never answered before, `LOST` seconds apart."""
_STANDING_IN = 5.0
"""Seconds until a server is asked again whose engine only stands in for another one."""


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
        self._asking = Asking(url, key)
        self.inference_threads = 1
        """Passages that the server makes side by side, as it said last."""
        self._captions = True
        self._name = self._identity = ""
        self._voices: tuple[str, ...] = ()
        self._may_be_another = False
        """True once another server, or a restarted one, may answer in place of the one that named its engine."""

    async def __aenter__(self) -> ServerSpeaker:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._asking.close()

    def use(self, url: str, key: str | None) -> None:
        """Ask at this address with this key from now on."""
        self._asking.use(url, key)
        self._may_be_another = True

    async def await_first_answer(self) -> None:
        """Wait a few seconds for any answer of the server: one that is being started opens its port within them.

        A book waits for a server that has answered before however long it is away. One that never answered is more
        likely an address at which there is none.

        Raises:
            Unreachable: nobody answers.
        """
        for tries_left in reversed(range(_FIRST_TRIES)):
            try:
                await asyncio.wait_for(self.engine(), _FIRST_ANSWER)
            except Unreachable as error:
                if not tries_left:
                    raise
                await asyncio.sleep(error.seconds)
            except TimeoutError:
                raise Unreachable(f"{self._asking.url} doesn't answer within {_FIRST_ANSWER:g} s", LOST) from None
            except (Postponed, PassageRefused):
                return  # it answers, and the book's maker asks again
            else:
                return

    async def engine(self) -> str:
        """A book is never begun with an engine that only stands in for Kokoro."""
        status = await self._json("GET", "/status")
        engine = status.get("engine") or {}
        if not engine:
            raise Postponed("the server can't speak yet", LOST)
        if engine.get("stands_in"):
            raise Postponed(f"{engine['name']} stands in for Kokoro, which a book waits for", _STANDING_IN)
        listed = await self._json("GET", "/v1/audio/voices?legacy=true")
        self._voices = tuple(map(str, listed["voices"]))
        roles = [(each["role"], each["state"]) for each in status.get("processes", ())]
        self.inference_threads = int(engine.get("inference_threads", 1)) * max(1, roles.count(("worker", "running")))
        self._name = str(engine.get("name"))
        hashes = (str(engine.get(name, ""))[:16] for name in ("sha256", "voices_sha256"))
        self._identity = "/".join((self._name, str(engine.get("model")), *hashes))
        self._may_be_another = False
        return self._identity

    async def script(self, passage: Passage) -> str:
        """The text itself where the server pronounces only while speaking."""
        try:
            found = await self._json("POST", "/dev/phonemize", self._read_as(passage))
        except PassageRefused:
            return passage.text
        return str(found["phonemes"])

    async def speak(self, passage: Passage) -> PassageSpeech:
        if self._may_be_another and (before := self._identity) and before != await self.engine():
            raise PassageRefused(f"{self._identity} speaks now, not {before} as before.", "engine_changed")
        captions = self._captions
        how = {"speed": passage.speed, "response_format": "wav", "stream": False, "priority": "idle"}
        body = self._read_as(passage) | how | {"timestamps": "word" if captions else None}
        try:
            answer = await self._speech(body)
        except PassageRefused as error:
            if error.code == "unspeakable":
                return PassageSpeech(np.empty(0, np.int16))  # a row of dots, a lone sign
            if error.code != "timestamps_unavailable":
                raise
            self._captions = False  # this engine can't tell; sentences get their share by letters
            return await self.speak(passage)
        if not captions:
            return PassageSpeech(_samples(answer))
        captioned = msgspec.json.decode(answer, type=_Captioned)
        words = tuple(
            PassageWord(word.word, round(word.start * SAMPLE_RATE), round(word.end * SAMPLE_RATE))
            for word in captioned.words
        )
        return PassageSpeech(_samples(base64.b64decode(captioned.audio)), words)

    async def unknown_words(self, text: str, language: str) -> set[str]:
        """Words of a text that no dictionary has, and that are pronounced by rules or spelled.

        Raises:
            Postponed: the server doesn't answer now.
            PassageRefused: it can't tell.
        """
        body = {"input": text, "language": language or None, "markup": "none"}
        found = await self._json("POST", "/dev/phonemize", body)
        by_rule = (word["word"].strip(_EDGES) for word in found["words"] if word["source"] in _BY_RULE)
        return {word for word in by_rule if any(map(str.isalnum, word))}

    def _read_as(self, passage: Passage) -> dict[str, Any]:
        """A passage as the API reads it. Brackets and angles in a book are the author's, so nothing is markup."""
        return {
            "input": passage.text,
            "voice": passage.voice or narrator(self._voices, passage.language) or None,
            "lang": passage.language or None,
            "markup": "none",
        }

    async def _json(self, method: str, path: str, body: Any = None) -> Any:
        answer, _ = await self._answer(method, path, body)
        try:
            return msgspec.json.decode(answer)
        except msgspec.DecodeError as error:
            raise PassageRefused(f"{self._asking.url}{path} doesn't answer in JSON: it is no kokoro-live.") from error

    async def _speech(self, body: dict[str, Any]) -> bytes:
        answer, engine = await self._answer("POST", "/v1/audio/speech", body)
        if self._name and engine and engine != self._name:
            raise PassageRefused(f"{engine} speaks now, not {self._name} as before.", "engine_changed")
        return answer

    async def _answer(self, method: str, path: str, body: Any) -> tuple[bytes, str]:
        """Body of an answer, and the name of the engine that spoke."""
        try:
            answer, headers = await self._asking.answer(method, path, body)
        except Unreachable:
            self._may_be_another = True
            raise
        except PassageRefused as error:
            raise self._meant(error) from error
        return answer, headers.get("X-Engine", "")

    def _meant(self, error: PassageRefused) -> Exception:
        """The error that a refusal is for this speaker."""
        return error


_BY_RULE = ("espeak", "letters", "none")
"""Sources of pronunciations that are no dictionary (`text.words.word.PhonemeSource`)."""
_EDGES = ".,;:!?\"'“”‘’«»()[]…—–"


def _samples(audio: bytes) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    try:
        with wave.open(io.BytesIO(audio)) as file:
            if (file.getnchannels(), file.getsampwidth(), file.getframerate()) != (1, 2, SAMPLE_RATE):
                raise PassageRefused("The server's audio isn't mono, 16 bits, at 24 kHz.")
            return np.frombuffer(file.readframes(file.getnframes()), "<i2")
    except (wave.Error, EOFError) as error:
        raise PassageRefused(f"The server's answer is no WAV: {error}.") from error
