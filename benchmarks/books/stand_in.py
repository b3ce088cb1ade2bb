"""A stand-in for the server: it answers with sound of the right length at once, so that ten hours take minutes."""

from __future__ import annotations

import asyncio
import io
import threading
import wave
import zlib

import msgspec
import numpy as np
from aiohttp import web

from books.book import SAMPLE_RATE
from frontend.speech.framing import TimedSpeech, TimedWord

LETTERS_PER_SECOND = 15.0
"""Characters that Kokoro speaks in a second, about."""


class StandIn:
    """Implements the API as far as a book uses it, in a thread."""

    def __init__(self) -> None:
        self.audio_seconds = 0.0
        """Seconds of sound that were asked for."""
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._serve()), daemon=True)
        noise = np.random.default_rng(1).integers(-300, 300, SAMPLE_RATE * 60)
        self._sound = (np.sin(np.arange(len(noise)) * 0.05) * 5000 + noise).astype("<i2")

    def __enter__(self) -> StandIn:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()

    async def _serve(self) -> None:
        application = web.Application()
        application.router.add_get("/status", self._status)
        application.router.add_get("/v1/audio/voices", self._voices)
        application.router.add_post("/dev/phonemize", self._phonemize)
        application.router.add_post("/v1/audio/speech", self._speech)
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _status(self, _: web.Request) -> web.Response:
        return web.json_response({"engine": {"name": "stand-in", "model": "none", "sha256": ""}})

    async def _voices(self, _: web.Request) -> web.Response:
        return web.json_response({"voices": [{"id": "af_heart", "language": "en-us"}], "default_voice": "af_heart"})

    async def _phonemize(self, request: web.Request) -> web.Response:
        return web.json_response({"phonemes": (await request.json())["input"]})

    async def _speech(self, request: web.Request) -> web.Response:
        text = str((await request.json())["input"])
        samples = round(len(text) / LETTERS_PER_SECOND * SAMPLE_RATE)
        start = zlib.crc32(text.encode()) % SAMPLE_RATE
        file = io.BytesIO()
        with wave.open(file, "wb") as made:
            made.setparams((1, 2, SAMPLE_RATE, 0, "NONE", "not compressed"))
            made.writeframes(np.resize(self._sound[start:], samples).tobytes())
        self.audio_seconds += samples / SAMPLE_RATE
        words, place, per_letter = [], 0, 1 / LETTERS_PER_SECOND
        for word in text.split():
            words.append(TimedWord(word, word, place * per_letter, (place + len(word)) * per_letter))
            place += len(word) + 1
        answer = TimedSpeech(file.getvalue(), "wav", SAMPLE_RATE, samples / SAMPLE_RATE, words)
        return web.Response(
            body=msgspec.json.encode(answer), content_type="application/json", headers={"X-Engine": "stand-in"}
        )
