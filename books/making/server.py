"""A running kokoro-live as the speaker of a book."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from types import TracebackType
from typing import Any

import msgspec
import numpy as np

from books.making.casting import narrator
from books.making.passages import Passage, PassageRefused, PassageSpeech, Postponed
from client.answers import START, CannotSpeak, NoAnswer, Reply, RequestRefused, SpokenPiece, read_captioned, read_wav
from client.asynchronous import AsyncClient
from shm.engine_info import VoiceInfo

LOST = 1.0
"""Seconds until a server that doesn't answer is asked again. A restarted front takes about one."""
_TRIES = 3
"""Failures of the server after which a question isn't asked again."""
_FIRST_ANSWER = 10.0
"""Seconds for the first answer of a server that takes the connection."""
_FIRST_TRIES = 4
"""Attempts to reach a server that never answered before, `LOST` seconds apart."""
_STANDING_IN = 5.0
"""Seconds until a server is asked again whose engine only stands in for another one."""


class _Voice(msgspec.Struct):
    id: str
    language: str


class _Voices(msgspec.Struct):
    """The answer of `GET /v1/audio/voices`, as far as a book needs it."""

    voices: list[_Voice]
    default_voice: str
    default_speed: float | None = None


class Unreachable(Postponed):
    """Nobody answers at the server's address. Another server may answer there later."""


class ServerSpeaker:
    """Asks for each passage with `priority: idle`, so that it is made while nobody listens."""

    def __init__(self, url: str, key: str | None = None, *, follows_fronts: bool = False) -> None:
        """
        Args:
            key: an API key, if the server asks for one.
            follows_fronts: `use` tells each new front's address and key, perhaps a moment after the front was replaced.
        """
        self._server = AsyncClient(url, key, {"User-Agent": "kokoro-live-book"})
        self._follows_fronts = follows_fronts
        self._failures: Counter[bytes] = Counter()
        """Failed attempts for each question."""
        self.inference_threads = 1
        """Passages that the server makes side by side, as it said last."""
        self._captions = True
        self._name = self._identity = ""
        self._voices: tuple[VoiceInfo, ...] = ()
        self._usual_voice = ""
        self._may_be_another = False
        """True once another server, or a restarted one, may answer in place of the one that named its engine."""

    async def __aenter__(self) -> ServerSpeaker:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._server.close()

    def use(self, url: str, key: str | None) -> None:
        self._server.use(url, key)
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
                said = f"no server answers at {self._server.url} (nothing came within {_FIRST_ANSWER:g} s): {START}"
                raise Unreachable(said, LOST) from None
            except (Postponed, PassageRefused):
                return  # it answers, and the book's maker asks again
            else:
                return

    async def check_voice(self, voice: str) -> None:
        """
        Raises:
            CannotSpeak: the server has no such voice.
        """
        with suppress(NoAnswer):
            answer = await self._server.ask("POST", "/dev/phonemize", {"input": "a", "voice": voice, "markup": "none"})
            if answer.status == 400 and answer.error:
                raise CannotSpeak(answer.error)

    async def engine(self) -> str:
        """A book is never begun with an engine that only stands in for Kokoro."""
        status = await self._json("GET", "/status")
        engine = status.get("engine") or {}
        if not engine:
            raise Postponed("the server can't speak yet", LOST)
        if engine.get("stands_in"):
            raise Postponed(f"{engine['name']} stands in for Kokoro, which a book waits for", _STANDING_IN)
        try:
            listed = msgspec.convert(await self._json("GET", "/v1/audio/voices"), _Voices)
        except msgspec.ValidationError as error:
            message = f"{self._server.url} lists its voices as no kokoro-live does ({error})."
            raise PassageRefused(message, "unknown_server") from error
        self._voices = tuple(VoiceInfo(each.id, each.language) for each in listed.voices)
        self._usual_voice = listed.default_voice
        roles = [(each["role"], each["state"]) for each in status.get("processes", ())]
        self.inference_threads = int(engine.get("inference_threads", 1)) * max(1, roles.count(("worker", "running")))
        self._name = str(engine.get("name"))
        hashes = (str(engine.get(name, ""))[:16] for name in ("sha256", "voices_sha256"))
        identity = "/".join((self._name, str(engine.get("model")), *hashes))
        # Passages that name no voice or pace are made again when the server's defaults change.
        self._identity = f"{identity}/{self._usual_voice}/{listed.default_speed}"
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
        try:
            return PassageSpeech.of(read_captioned(answer) if captions else SpokenPiece(read_wav(answer)))
        except ValueError as error:
            raise PassageRefused(f"The server's answer is no speech: {error}.") from error

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
            "voice": passage.voice or narrator(self._voices, self._usual_voice, passage.language) or None,
            "lang": passage.language or None,
            "markup": "none",
        }

    async def _json(self, method: str, path: str, body: Any = None) -> Any:
        answer = (await self._ask(method, path, body)).json
        if answer is None:
            raise PassageRefused(f"{self._server.url}{path} doesn't answer in JSON: it is no kokoro-live.")
        return answer

    async def _speech(self, body: dict[str, Any]) -> bytes:
        answer = await self._ask("POST", "/v1/audio/speech", body)
        engine = answer.headers.get("x-engine")
        if self._name and engine and engine != self._name:
            raise PassageRefused(f"{engine} speaks now, not {self._name} as before.", "engine_changed")
        return answer.body

    async def _ask(self, method: str, path: str, body: Any) -> Reply:
        try:
            return (await self._server.ask(method, path, body)).checked()
        except NoAnswer as error:
            self._may_be_another = True
            raise Unreachable(str(error), LOST) from error
        except RequestRefused as error:
            raise self._later_or_never(error, msgspec.json.encode((path, body))) from error

    def _later_or_never(self, error: RequestRefused, question: bytes) -> Exception:
        if self._follows_fronts and error.code in _OTHER_FRONT:
            return Postponed("the front is being replaced", LOST)
        if error.status == 500:
            # The engine died of this text, or the front fails at it, or either of something else in the same moment:
            # the third time tells. A passage asked for for ever would hold up all books after it.
            self._failures[question] += 1
        if error.passes and self._failures[question] < _TRIES:
            return Postponed(str(error), LOST if error.retry_after is None else error.retry_after)
        return PassageRefused(str(error), error.code)


_OTHER_FRONT = ("invalid_api_key", "missing_api_key", "api_key_not_configured")
"""Errors of a front that doesn't know the key, because the news of its key is still on its way."""
_BY_RULE = ("espeak", "letters", "none")
"""Sources of pronunciations that are no dictionary (`text.words.segment.PhonemeSource`)."""
_EDGES = ".,;:!?\"'“”‘’«»()[]…—–"
