"""The front as the speaker of a job's book."""

from __future__ import annotations

from books.making.passages import PassageRefused, Postponed
from books.making.server import ServerSpeaker

_SOON = 1.0
"""Seconds until a front that is being replaced is asked again."""

_OTHER_FRONT = ("invalid_api_key", "missing_api_key", "api_key_not_configured")
"""Errors of a front that doesn't know the key, because the news of its key is still on its way."""


class FrontSpeaker(ServerSpeaker):
    """A speaker whose front may be replaced, without harm to the book."""

    def _meant(self, error: PassageRefused) -> Exception:
        return Postponed("the front is being replaced", _SOON) if error.code in _OTHER_FRONT else error
