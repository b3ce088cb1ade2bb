"""Every way by which a growing text comes begins its sentences as early as `--growing-text` says."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from wyoming.tts import SynthesizeChunk, SynthesizeStart, SynthesizeStop

from frontend.settings.front import Begins, FrontSettings
from tests.frontend.contexts_desk import ANSWER, PARTS, ContextDesk, Heard, said, speak_all
from tests.frontend.http.dialects_desk import office
from tests.frontend.http.dialects_messages import CARTESIA, DEEPGRAM, ELEVENLABS, VOICE, speak
from tests.frontend.wyoming_desk import house

Writing = tuple[ContextDesk, Callable[[str], Awaitable[None]], Callable[[], Awaitable[None]]]
"""The desk, and functions that write a piece of text and end the text."""

_ENDS: dict[str, Any] = {
    ELEVENLABS: {"context_id": "a", "close_context": True},
    CARTESIA: {"transcript": "", "context_id": "a", "continue": False, **VOICE},
    DEEPGRAM: {"type": "Flush"},
}


@asynccontextmanager
async def writing(way: str, settings: FrontSettings) -> AsyncIterator[Writing]:
    if way == "context":
        desk = ContextDesk(settings)
        heard, speaking = Heard(desk.context()), asyncio.create_task(speak_all(desk.worker(1, engine=PARTS)))

        async def write(text: str) -> None:
            heard.context.write(text)

        async def end() -> None:
            heard.context.finish()
            await heard.whole()

        yield desk, write, end
        speaking.cancel()
        desk.close()
    elif way == "wyoming":
        async with house(settings, engine=PARTS) as desk, desk.client() as client:
            await client.say(SynthesizeStart())
            yield desk, lambda text: client.say(SynthesizeChunk(text)), lambda: client.say(SynthesizeStop())
    else:
        async with office(settings, engine=PARTS) as desk, desk.connect(way) as socket:
            yield desk, lambda text: socket.send_json(speak(way, text)), lambda: socket.send_json(_ENDS[way])


@pytest.mark.parametrize(
    ("begins", "there", "first"),
    [
        ("now", "with ", "I can help"),
        ("clause", "first ", "I can help you with that,"),
        ("sentence", "Then ", "I can help you with that, but first I need to know which account you mean."),
    ],
)
@pytest.mark.parametrize("way", ["context", "wyoming", ELEVENLABS, CARTESIA, DEEPGRAM])
async def test_a_sentence_is_begun_as_early_as_the_setting_says(
    way: str, begins: Begins, there: str, first: str
) -> None:
    """The first segment is ordered when the text up to `there` was written, a token at a time, and no more."""
    head, _, tail = ANSWER.partition(there)
    async with writing(way, FrontSettings(growing_text=begins, max_streams=8)) as (desk, write, end):
        [worker] = desk.workers
        for token in re.findall(r"\w+\W*", head + there):
            await write(token)
        await worker.has(1)
        assert said(worker) == [first]
        for token in re.findall(r"\w+\W*", tail):
            await write(token)
        await end()
        await worker.news(lambda: " ".join(said(worker)) == ANSWER)
