"""The front as the speaker of a job's book."""

from __future__ import annotations

from books.making.passages import Passage
from books.making.server import ServerSpeaker
from books.making.speech import Postponed, Refused, Speech

_SOON, _LATER = 1.0, 5.0
"""Seconds until the front is asked again: when it is being replaced, and when another engine must come first."""

_OTHER_FRONT = ("invalid_api_key", "missing_api_key", "api_key_not_configured")
"""Errors of a front that doesn't know the key, because the news of its key is still on its way."""


class FrontSpeaker(ServerSpeaker):
    """A speaker whose front may be replaced, and whose engine may be away for a while, without harm to the book."""

    async def engine(self) -> str:
        """Implements `Speaker.engine`. A book is never begun with an engine that only stands in for Kokoro."""
        try:
            engine = await super().engine()
        except Refused as error:
            raise _postponed(error) from error
        if self.stands_in:
            raise Postponed(f"{engine.partition('/')[0]} stands in for Kokoro, which a book waits for", _LATER)
        return engine

    async def speak(self, passage: Passage) -> Speech:
        """Implements `Speaker.speak`."""
        try:
            return await super().speak(passage)
        except Refused as error:
            raise _postponed(error) from error


def _postponed(error: Refused) -> Exception:
    return Postponed("the front is being replaced", _SOON) if error.code in _OTHER_FRONT else error
