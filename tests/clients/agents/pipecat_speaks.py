"""Run in an environment with pipecat-ai, unchanged from PyPI: speaks through its services, and prints what came.

Usage: python pipecat_speaks.py PORT. Prints one JSON object: seconds of audio and words by service.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from pipecat.frames.frames import (
    EndFrame,
    Frame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSStoppedFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineParams, PipelineTask
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.cartesia.tts import CartesiaTTSService
from pipecat.services.deepgram.flux.tts import DeepgramFluxTTSService
from pipecat.services.deepgram.tts import DeepgramTTSService
from pipecat.services.elevenlabs.tts import ElevenLabsTTSService

TEXT = "Hello there, this is a first sentence. And here comes the second one."
RATE = 24_000


class Listener(FrameProcessor):
    """Counts audio and collects words at the pipeline's end."""

    def __init__(self) -> None:
        super().__init__()
        self.samples = 0
        self.words: list[str] = []
        self.stopped = asyncio.Event()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSAudioRawFrame):
            self.samples += len(frame.audio) // 2
        elif isinstance(frame, TTSTextFrame):
            self.words.append(frame.text)
        elif isinstance(frame, TTSStoppedFrame):
            self.stopped.set()
        await self.push_frame(frame, direction)


async def speak(service: Any) -> dict[str, Any]:
    """One answer of a language model, word by word."""
    listener = Listener()
    task = PipelineTask(
        Pipeline([service, listener]), params=PipelineParams(audio_out_sample_rate=RATE), cancel_on_idle_timeout=False
    )
    running = asyncio.create_task(PipelineRunner(handle_sigint=False).run(task))
    words = [LLMTextFrame(f"{word} ") for word in TEXT.split(" ")]
    await task.queue_frames([LLMFullResponseStartFrame(), *words, LLMFullResponseEndFrame()])
    await asyncio.wait_for(listener.stopped.wait(), 60)
    await task.queue_frame(EndFrame())
    await running
    return {"streamed": listener.samples / RATE, "words": " ".join(listener.words)}


async def main(port: str) -> None:
    address, key = f"ws://127.0.0.1:{port}", "any"
    services = {
        "elevenlabs": ElevenLabsTTSService(
            api_key=key, url=address, settings=ElevenLabsTTSService.Settings(voice="af_heart")
        ),
        "cartesia": CartesiaTTSService(
            api_key=key, url=f"{address}/tts/websocket", settings=CartesiaTTSService.Settings(voice="af_heart")
        ),
        "deepgram": DeepgramTTSService(
            api_key=key, base_url=address, settings=DeepgramTTSService.Settings(voice="af_heart")
        ),
        "deepgram flux": DeepgramFluxTTSService(
            api_key=key, url=f"{address}/v2/speak", settings=DeepgramFluxTTSService.Settings(voice="af_heart")
        ),
    }
    print(json.dumps({name: await speak(service) for name, service in services.items()}))


asyncio.run(main(sys.argv[1]))
