"""The errors that end a request: refusals in the API's terms, and speech that can't be made or completed."""

from __future__ import annotations

from collections.abc import Mapping

from text.errors import TextError


class ApiError(TextError):
    """A request that is refused with a status of its own."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message, param=param, code=code)
        self.status = status
        self.headers = headers


class SpeechError(Exception):
    """A request that can't be spoken. The message is meant for the client."""


class Unspeakable(SpeechError):
    """The text can't be read, or the engine refused a part of it: the client's to mend (400)."""


class NothingToSpeak(SpeechError):
    """The text has no sound: punctuation, a rule, an emoji. It is answered with a short silence (200)."""

    def __init__(self) -> None:
        super().__init__("There is nothing in the text that can be spoken.")


class Unavailable(SpeechError):
    """Nothing can speak now: try again after `retry_after` seconds (503)."""

    def __init__(self, reason: str, retry_after: float = 1.0) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


LONGEST_RETRY = 60.0
"""The most seconds after which a rejected client is told to try again. Clients of OpenAI's API ignore a longer
`Retry-After`, and a place may be free sooner than calculated, because listeners leave."""


class Overloaded(SpeechError):
    """Other streams leave no room to speak this one in time: try again after `retry_after` seconds (429)."""

    def __init__(self, reason: str, retry_after: float) -> None:
        """`retry_after`: seconds until a place is likely; more than `LONGEST_RETRY` count as that."""
        super().__init__(reason)
        self.retry_after = min(retry_after, LONGEST_RETRY)


class ListenersFirst(Overloaded):
    """A request that nobody listens to gave way to listeners (429). It is no sign of too small a machine."""

    def __init__(self, retry_after: float = 1.0) -> None:
        """`retry_after` is that of `Overloaded`."""
        super().__init__("Listeners come first.", retry_after)


class Interrupted(SpeechError):
    """A later request of the same session ended this one (409, or the connection is cut)."""


class Broken(SpeechError):
    """The stream can't be completed. Before the first byte: 500. After it: the connection is cut."""


class Fault(SpeechError):
    """The server's own code failed to read the text, which is no mistake of the client's (500)."""

    def __init__(self, request_id: str) -> None:
        super().__init__(
            f"The server failed to read the text; its log has the reason under the request id {request_id}."
        )
