"""An asynchronous client, for the processes that ask while they do other things."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Mapping
from typing import Any

import aiohttp

from client.answers import LONGEST_EVENT, NoAnswer, Reply, authorization, nobody, read_event, reason_of

LONGEST_ANSWER = 600.0
"""Seconds that a whole answer may take. A book's passage waits for listeners within them."""

_CONNECT_SECONDS = 5.0


class AsyncClient:
    """Asks one server at a time, whose address may change."""

    def __init__(self, url: str = "", key: str | None = None, headers: Mapping[str, str] | None = None) -> None:
        """
        Args:
            headers: that every request has.
        """
        self._headers = headers or {}
        self._session: aiohttp.ClientSession | None = None
        self.use(url, key)

    async def close(self) -> None:
        if self._session:
            await self._session.close()

    def use(self, url: str, key: str | None) -> None:
        """Ask at this address with this key from now on."""
        self.url = url.rstrip("/")
        self._key = key

    async def ask(self, method: str, path: str, body: Any = None) -> Reply:
        """A whole answer, whatever its status.

        Raises:
            NoAnswer: there is none.
        """
        try:
            async with self._request(method, path, body, aiohttp.ClientTimeout(total=LONGEST_ANSWER)) as answer:
                return await _whole(answer)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise NoAnswer(nobody(self.url, error)) from error

    async def events(self, path: str, body: Any) -> AsyncGenerator[dict[str, Any], None]:
        """Server-sent events of the answer to a POST, as they come, until it ends.

        Args:
            body: JSON, or an asynchronous iterable of bytes, which are sent while the answer comes.

        Raises:
            NoAnswer: the server can't be reached, or is lost.
            RequestRefused: it answers with an error.
        """
        timeout = aiohttp.ClientTimeout(total=None, connect=_CONNECT_SECONDS)
        rest = b""
        try:
            async with self._request("POST", path, body, timeout) as answer:
                if answer.status != 200:
                    (await _whole(answer)).checked()
                async for part in answer.content.iter_any():
                    *lines, rest = (rest + part).split(b"\n")
                    for line in lines:
                        if (event := read_event(line)) is not None:
                            yield event
                    if len(rest) > LONGEST_EVENT:
                        raise ValueError("an event that is too long")
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise NoAnswer(f"the server at {self.url} was lost: {reason_of(error)}") from error

    async def socket(self, path: str, messages: Iterable[Any]) -> AsyncGenerator[dict[str, Any], None]:
        """JSON objects that come on a WebSocket which was sent these, until the server closes it.

        Raises:
            NoAnswer: the server can't be reached, is lost, or sends something else.
        """
        shown = authorization(self._key)
        try:
            async with self._opened().ws_connect(self.url + path, headers=shown) as socket:
                for message in messages:
                    await socket.send_json(message)
                async for message in socket:
                    yield message.json()
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, TypeError) as error:
            raise NoAnswer(f"the server at {self.url} was lost: {reason_of(error)}") from error

    def _request(self, method: str, path: str, body: Any, timeout: aiohttp.ClientTimeout) -> Any:
        shown = authorization(self._key)
        sent = {"data" if isinstance(body, AsyncIterable) else "json": body}
        return self._opened().request(method, self.url + path, headers=shown, timeout=timeout, **sent)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(headers=self._headers, read_bufsize=1 << 16)
        return self._session


async def _whole(answer: aiohttp.ClientResponse) -> Reply:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    return Reply(answer.status, headers, await answer.read(), answer.reason or "")
