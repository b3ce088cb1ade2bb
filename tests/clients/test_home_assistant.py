"""Home Assistant by wyoming_openai: a request a sentence, side by side, each WAV read whole and unpacked."""

from __future__ import annotations

import asyncio
import io
import wave
from collections.abc import Iterator

import pytest
from openai import AsyncOpenAI

from tests.system.oracle import sentences
from tests.system.server import Server, server

KEY = "sk-home"
SENTENCES = [f"{sentence}." for sentence in sentences(6).split(". ")]


@pytest.fixture(scope="module")
def keyed() -> Iterator[Server]:
    with server("--engine", "espeak", "--api-keys", KEY) as started:
        yield started


async def test_each_sentences_wav_is_its_own_and_whole(keyed: Server) -> None:
    async with AsyncOpenAI(base_url=f"http://127.0.0.1:{keyed.port}/v1", api_key=KEY) as client:

        async def spoken(sentence: str, name: str) -> bytes:
            streaming = client.audio.speech.with_streaming_response
            asked = {"model": "kokoro", "voice": "af_heart", "input": sentence, "response_format": name}
            async with streaming.create(**asked) as response:  # type: ignore[arg-type]
                return b"".join([chunk async for chunk in response.iter_bytes(2048)])

        files = await asyncio.gather(*(spoken(sentence, "wav") for sentence in SENTENCES))
        samples = [await spoken(sentence, "pcm") for sentence in SENTENCES]
    for file, wanted in zip(files, samples, strict=True):
        with wave.open(io.BytesIO(file)) as reader:
            assert (reader.getframerate(), reader.getsampwidth(), reader.getnchannels()) == (24_000, 2, 1)
            assert reader.readframes(reader.getnframes()) == wanted
    assert len({*samples}) == len(SENTENCES)
