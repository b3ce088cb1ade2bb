"""Ray Serve in front of kokoro-live: each replica starts a server of its own and passes requests on to it.

    RAY_USAGE_STATS_ENABLED=0 serve run speech:app         (in this folder, with the extra `ray` installed)

The server in a replica keeps what Ray doesn't have: admission, the restart of a dead worker in mid-stream, and sound
that leaves as it is made. Ray adds replicas on several machines, and more of them while requests queue up.
"""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence

import aiohttp
from ray import serve
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from kokoro_live import own_command

GAPLESS = 4
"""Streams that a replica's cores carry without a gap: `python -m benchmarks.listeners_per_core` measures it."""

DRAIN = 60
"""Seconds that streams have to finish when a replica goes."""

_HOP_BY_HOP = {"connection", "content-length", "date", "server", "transfer-encoding"}


@serve.deployment(
    max_ongoing_requests=GAPLESS,
    max_queued_requests=2 * GAPLESS,  # beyond that, Ray answers 503 at once
    graceful_shutdown_timeout_s=DRAIN + 5,
    autoscaling_config={"min_replicas": 1, "max_replicas": 4, "target_ongoing_requests": 0.7 * GAPLESS},
)
class Speech:
    """One replica: a kokoro-live server on a port of its own, on this machine's loopback."""

    def __init__(self, arguments: Sequence[str] = ()) -> None:
        """`arguments`: of `kokoro-live serve`."""
        command = own_command("serve", "--port", "0", "--drain-timeout", str(DRAIN))
        self._server = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True)
        assert self._server.stdout
        announced = re.search(r"http://[\w.]+:\d+", self._server.stdout.readline())
        if announced is None:
            raise RuntimeError("kokoro-live didn't start; its log is in the replica's")
        self._client = aiohttp.ClientSession(announced[0], timeout=aiohttp.ClientTimeout(total=None))

    async def __call__(self, request: Request) -> Response:
        """Pass a request on; the response leaves while it is made."""
        target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        headers = {name: value for name, value in request.headers.items() if name not in ("host", "content-length")}
        answer = await self._client.request(request.method, target, data=await request.body(), headers=headers)
        kept = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP_BY_HOP}
        return StreamingResponse(_audio(answer), answer.status, kept)

    async def check_health(self) -> None:
        """Called by Ray; a replica that raises is replaced."""
        async with self._client.get("/health") as answer:
            answer.raise_for_status()

    async def __del__(self) -> None:
        await self._client.close()
        self._server.send_signal(signal.SIGTERM)
        self._server.wait(DRAIN + 5)


async def _audio(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The body as it comes. A cut body raises, which cuts the client's too. A client that leaves ends the stream."""
    try:
        async for piece in answer.content.iter_any():
            yield piece
    finally:
        answer.close()


app = Speech.bind()
