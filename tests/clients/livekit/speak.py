"""Runs LiveKit's `openai` plugin against a server, in an environment of its own, and prints what it heard as JSON.

Usage: speak.py BASE_URL. It doesn't import anything of the project.
"""

from __future__ import annotations

import asyncio
import json
import sys

from livekit.agents import tokenize, tts
from livekit.plugins import openai


async def heard(stream: tts.ChunkedStream | tts.SynthesizeStream) -> dict[str, float]:
    """Seconds of the audio, and its loudest sample."""
    seconds, loudest = 0.0, 0
    async with stream:
        async for event in stream:
            frame = event.frame
            seconds += frame.samples_per_channel / frame.sample_rate
            loudest = max(loudest, *map(abs, memoryview(frame.data).cast("b").cast("h").tolist()), 0)
    return {"seconds": seconds, "loudest": loudest}


async def main(base_url: str) -> None:
    """Speak a sentence in two formats, a text without sound, and a text by sentences."""
    found = {}
    for name in ("pcm", "mp3"):
        speech = openai.TTS(model="kokoro", voice="af_heart", base_url=base_url, api_key="none", response_format=name)
        found[name] = await heard(speech.synthesize("Spoken through LiveKit."))
        found[f"{name} without sound"] = await heard(speech.synthesize("..."))
        if name == "pcm":
            adapter = tts.StreamAdapter(tts=speech, sentence_tokenizer=tokenize.basic.SentenceTokenizer())
            stream = adapter.stream()
            stream.push_text("The first sentence of a longer answer is here. The second one follows it at once.")
            stream.end_input()
            found["by sentences"] = await heard(stream)
        await speech.aclose()
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
