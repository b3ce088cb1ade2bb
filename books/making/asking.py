"""Questions to a kokoro-live over HTTP, with its refusals told apart: later, or never."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import aiohttp
import msgspec

from books.making.passages import PassageRefused, Postponed
from shm.no_answer import reason_of

LOST = 1.0
"""Seconds until a server that doesn't answer is asked again. A restarted front takes about one."""
_TRIES = 3
"""Failures of the server after which a question isn't asked again."""
_LONGEST = 600.0
"""Seconds that one answer may take. A passage waits for listeners within them."""


class Asking:
    """Asks one server, whose address may change."""

    def __init__(self, url: str, key: str | None) -> None:
        self._session = aiohttp.ClientSession(
            headers={"User-Agent": "kokoro-live-book"}, timeout=aiohttp.ClientTimeout(total=_LONGEST)
        )
        self.use(url, key)
        self._failures: Counter[bytes] = Counter()
        """Failed attempts for each question."""

    async def close(self) -> None:
        """Close its connections."""
        await self._session.close()

    def use(self, url: str, key: str | None) -> None:
        """Ask at this address with this key from now on."""
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    async def answer(self, method: str, path: str, body: Any = None) -> tuple[bytes, Mapping[str, str]]:
        """Body and headers of an answer with the status 200.

        Raises:
            Unreachable: nobody answers.
            Postponed: not now.
            PassageRefused: never.
        """
        try:
            address = f"{self.url}{path}"
            async with self._session.request(method, address, json=body, headers=self._headers) as response:
                answer = await response.read()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Unreachable(f"{self.url} doesn't answer: {reason_of(error)}", LOST) from error
        if response.status == 200:
            return answer, response.headers
        code, message = _error(answer)
        message = message or f"The server answers with {response.status} {response.reason}."
        if response.status == 500:
            # The engine died of this text, or the front fails at it, or either of something else in the same moment:
            # the third time tells. A passage asked for for ever would hold up all books after it.
            digest = msgspec.json.encode((path, body))
            self._failures[digest] += 1
            if self._failures[digest] >= _TRIES:
                raise PassageRefused(message, code)
        if response.status in (408, 429) or response.status >= 500:
            raise Postponed(message, _seconds(response.headers.get("Retry-After")))
        raise PassageRefused(message, code)


class Unreachable(Postponed):
    """Nobody answers at the server's address. Another server may answer there later."""


def _seconds(header: str | None) -> float:
    return min(float(header), 60.0) if header and header.isdigit() else LOST


def _error(answer: bytes) -> tuple[str, str]:
    """Code and message of an API error; empty where the answer has none."""
    try:
        match msgspec.json.decode(answer):
            case {"error": {"message": str(message), **more}}:
                return str(more.get("code") or ""), message
    except msgspec.DecodeError:
        pass
    return "", ""
