"""The wait for a client's next message, which ends when the message comes, in time, or at the server's will."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

Message = TypeVar("Message")


class InterruptibleWait:
    """One wait at a time. `end` ends the present one alone: its caller looks first whether it is to wait at all."""

    def __init__(self) -> None:
        self._timeout: asyncio.Timeout | None = None

    async def of(self, message: Awaitable[Message], seconds: float) -> Message:
        """Wait for a message.

        Raises:
            TimeoutError: it hasn't come within that time, or `end` was called.
        """
        try:
            async with asyncio.timeout(seconds) as self._timeout:
                return await message
        finally:
            self._timeout = None

    def end(self) -> None:
        """End the wait, if there is one, as if its time were over."""
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time())
