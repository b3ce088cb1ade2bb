"""The error of a text that can't be read as it was asked for."""

from __future__ import annotations

from collections.abc import Mapping


class TextError(Exception):
    """What a client asked for is refused on purpose. The message is meant for the client and says what to do."""

    status = 400
    """The status of an answer over HTTP."""
    headers: Mapping[str, str] | None = None

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        """The field that is wrong: `input`, `voice.id`; None where no single one is."""
        self.code = code
