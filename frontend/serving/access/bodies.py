"""Reads request bodies within a time limit, up to a length, and only as many at once as the set-aside memory holds."""

from __future__ import annotations

import asyncio

from aiohttp import hdrs, web

from frontend.contract.body_memory import BodyMemory
from frontend.contract.errors import ApiError
from frontend.settings.front import FrontSettings


class Bodies:
    """Reads bodies before the handlers run, so that `request.read()` there returns at once."""

    def __init__(self, settings: FrontSettings, memory: BodyMemory) -> None:
        """`memory`: the memory that this server's bodies of all protocols share."""
        self._settings = settings
        self._memory = memory

    def check_encoding(self, request: web.Request) -> None:
        """
        Raises:
            ApiError: 415, the body is compressed.
        """
        if request.headers.get(hdrs.CONTENT_ENCODING, "identity").lower() != "identity":
            raise ApiError(415, "A compressed body is not taken: send it plain.", code="unsupported_encoding")

    async def read(self, request: web.Request) -> None:
        """Read the body. One that announces no length takes as much memory as the longest body.

        Raises:
            ApiError: 408, 413 or 415.
            Unavailable: the bodies being read leave no room for this one.
        """
        if not request.can_read_body:
            return
        self.check_encoding(request)
        longest = self._settings.max_body_bytes
        length = longest if request.content_length is None else request.content_length
        if length > longest:
            raise self._too_long()
        try:
            with self._memory.reading(length):
                async with asyncio.timeout(self._settings.body_timeout):
                    await request.read()
        except TimeoutError as error:
            message = f"The body was not there whole after {self._settings.body_timeout:g} seconds: send it again."
            raise ApiError(408, message, code="request_timeout") from error
        except web.HTTPRequestEntityTooLarge as error:
            raise self._too_long() from error

    def _too_long(self) -> ApiError:
        limit = self._settings.max_body_bytes
        message = f"The body is longer than {limit} bytes. Split the text over several requests."
        return ApiError(413, message, code="request_too_large")
