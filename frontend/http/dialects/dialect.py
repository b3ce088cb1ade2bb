"""A dialect: the messages that one service's clients send over a socket and are sent."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from frontend.contexts.context import Context
from frontend.contexts.events import Event


class Dialect(Protocol):
    """The messages of one service."""

    name: str
    """Label in metrics and in `/status`."""

    @property
    def message_type(self) -> type[msgspec.Struct]:
        """The fields that messages may have."""
        ...

    @property
    def idle_seconds(self) -> float:
        """Seconds without a message, while nothing is spoken, after which the socket is closed."""
        ...

    async def begin(self) -> None:
        """Check the address and greet, after the upgrade.

        Raises:
            ApiError, SpeechError: the socket ends with this error.
        """
        ...

    async def hear(self, message: Any) -> None:
        """Act on a decoded JSON message.

        Raises:
            ApiError, SpeechError: the message is wrong, or can't be followed.
        """
        ...

    async def warn(self, message: str, code: str) -> None:
        """Tell the client what doesn't end anything; nothing is sent if the service has no message for it."""
        ...

    async def tell(self, key: str, context: Context, event: Event) -> None:
        """Send a context's event."""
        ...

    async def ended(self, key: str) -> None:
        """Send the end of a context whose audio is whole."""
        ...

    def error(self, key: str | None, body: dict[str, str | None], status: int) -> dict[str, Any]:
        """The message for an error of a context, or of the socket (`None`).

        Args:
            body: the error as `frontend.http.errors.late_error_body` gives it.
        """
        ...
