"""Run in an environment with LiveKit's plugins, unchanged from PyPI: speaks through each, and prints what came.

Usage: python livekit_speaks.py PORT. Prints one JSON object: seconds of audio and words by plugin.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import aiohttp
from livekit.plugins import cartesia, deepgram, elevenlabs, openai

TEXT = "Hello there, this is a first sentence. And here comes the second one, token by token."


async def speak(tts: Any) -> dict[str, Any]:
    """A text that is pushed word by word where the plugin takes that, and a one-shot text."""
    found: dict[str, Any] = {"streamed": 0.0, "words": "", "last": 0.0, "whole": 0.0}
    if tts.capabilities.streaming:
        stream = tts.stream()
        for word in TEXT.split(" "):
            stream.push_text(f"{word} ")
        stream.end_input()
        async for event in stream:
            found["streamed"] += event.frame.samples_per_channel / event.frame.sample_rate
            timed = event.frame.userdata.get("lk.timed_transcripts", [])
            found["words"] += "".join(map(str, timed))
            found["last"] = max([found["last"], *(float(word.start_time) for word in timed)])
        await stream.aclose()
    async for event in tts.synthesize("A one shot call."):
        found["whole"] += event.frame.samples_per_channel / event.frame.sample_rate
    await tts.aclose()
    return found


async def barge_in(tts: Any) -> None:
    """Twenty streams that are given up in the middle of their first audio."""
    for _ in range(20):
        stream = tts.stream()
        stream.push_text(f"{TEXT} {TEXT} {TEXT}")
        stream.end_input()
        await anext(aiter(stream))
        await stream.aclose()


async def main(port: str) -> None:
    http, key = f"http://127.0.0.1:{port}", "any"
    async with aiohttp.ClientSession() as session:
        shared: dict[str, Any] = {"api_key": key, "http_session": session}
        plugins = {
            "elevenlabs pcm": elevenlabs.TTS(
                voice_id="af_heart", base_url=f"{http}/v1", encoding="pcm_24000", **shared
            ),
            "elevenlabs mp3": elevenlabs.TTS(voice_id="af_heart", base_url=f"{http}/v1", **shared),
            "cartesia": cartesia.TTS(voice="af_heart", base_url=http, **shared),
            "deepgram": deepgram.TTS(model="af_heart", base_url=f"{http}/v1/speak", **shared),
            "openai": openai.TTS(voice="af_heart", model="kokoro", base_url=f"{http}/v1", api_key=key),
        }
        found = {name: await speak(tts) for name, tts in plugins.items()}
        interrupted = elevenlabs.TTS(voice_id="af_heart", base_url=f"{http}/v1", encoding="pcm_24000", **shared)
        await barge_in(interrupted)
        found["after barge-ins"] = await speak(interrupted)
    print(json.dumps(found))


asyncio.run(main(sys.argv[1]))
