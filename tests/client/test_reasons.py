"""The reasons why a server gave no answer, each from what an HTTP client meets on a real socket."""

from __future__ import annotations

import asyncio
import ssl
from unittest.mock import sentinel

import aiohttp
import pytest

from client.answers import reason_of


@pytest.mark.parametrize(
    ("scheme", "answer", "reason"),
    [
        ("https", b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "it doesn't speak HTTPS"),
        ("http", b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\nsix", "its answer broke off"),
        ("http", b"SSH-2.0-OpenSSH_9.2\r\n", "it doesn't speak HTTP"),
        ("http", b"", "it closed the connection"),
    ],
)
async def test_an_answer_that_is_none_has_a_reason_of_its_own(scheme: str, answer: bytes, reason: str) -> None:
    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(reply, "127.0.0.1", 0) as server, aiohttp.ClientSession() as session:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(aiohttp.ClientError) as failed:
            async with session.get(f"{scheme}://127.0.0.1:{port}") as response:
                await response.read()
    assert reason_of(failed.value).startswith(reason)


def test_a_certificate_of_its_own_is_said() -> None:
    error = aiohttp.ClientConnectorCertificateError(sentinel.key, ssl.SSLCertVerificationError(1, "self-signed"))
    assert reason_of(error) == "its certificate isn't trusted"
