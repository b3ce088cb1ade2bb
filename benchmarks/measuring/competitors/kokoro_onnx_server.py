"""The server that kokoro-onnx's own example suggests: aiohttp over `create_stream`, one request after another.

    python -m benchmarks.measuring.competitors.kokoro_onnx_server --model FILE --voices FILE

Takes `input`, `voice` and `stream` as `POST /v1/audio/speech`; with `stream`: false the whole text is spoken before
the answer begins. One session, one speaker at a time: first come, first served.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

import numpy as np
from aiohttp import web
from kokoro_onnx import Kokoro
from numpy.typing import NDArray


def to_bytes(samples: NDArray[np.float32]) -> bytes:
    """int16 little-endian."""
    return (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()


class Speech:
    """The one handler."""

    def __init__(self, kokoro: Kokoro) -> None:
        self._kokoro = kokoro
        self._turn = asyncio.Lock()

    async def post(self, request: web.Request) -> web.StreamResponse:
        call = await request.json()
        async with self._turn:
            if not call.get("stream", True):
                samples, _ = await asyncio.to_thread(self._kokoro.create, call["input"], call["voice"])
                return web.Response(body=to_bytes(samples), content_type="audio/pcm")
            response = web.StreamResponse(headers={"Content-Type": "audio/pcm"})
            await response.prepare(request)
            async for samples, _ in self._kokoro.create_stream(call["input"], call["voice"]):
                await response.write(to_bytes(samples))
        await response.write_eof()
        return response


async def serve(kokoro: Kokoro) -> None:
    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/v1/audio/speech", Speech(kokoro).post)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    print(f"listens on {host}:{port}", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    arguments = parser.parse_args()
    kokoro = Kokoro(str(arguments.model), str(arguments.voices))
    kokoro.create("Warm.", kokoro.get_voices()[0])
    asyncio.run(serve(kokoro))


if __name__ == "__main__":
    main()
