"""An engine in this process as the speaker of a book, where no server runs."""

from __future__ import annotations

import asyncio
from contextlib import closing

from books.making.casting import narrator
from books.making.passages import Passage, PassageRefused, PassageSpeech
from client.answers import CannotSpeak, HeardWord, SpokenPiece
from supervisor.speaking.local_speech import LocalSpeech


class LocalBookSpeaker:
    """Makes one passage at a time, in a thread."""

    def __init__(self, speech: LocalSpeech) -> None:
        self._speech = speech
        self._alone = asyncio.Lock()
        self.inference_threads = 1
        """The passage in hand takes all threads."""

    async def engine(self) -> str:
        """Equal to a server's with the same model."""
        engine = self._speech.engine
        return "/".join((engine.name, engine.model, engine.model_sha256[:16], engine.voices_sha256[:16]))

    def _narrator(self, passage: Passage) -> str:
        engine = self._speech.engine
        return narrator(engine.voices, engine.default_voice, passage.language)

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
        words: list[HeardWord] = []
        try:
            with closing(pieces):
                for piece in pieces:
                    pcm.append(piece.pcm)
                    words += piece.words
        except CannotSpeak as error:
            raise PassageRefused(str(error)) from error
        return PassageSpeech.of(SpokenPiece(b"".join(pcm), words=tuple(words)))
