"""A context's audio: words go with the first audio after them, and a closed encoder isn't touched again."""

import time
from collections.abc import AsyncIterator

import numpy as np
import pytest

from frontend.audio.formats import OutputFormat
from frontend.contexts.context_audio import SILENCE_SECONDS, ContextAudio
from frontend.contexts.events import Spoken
from frontend.contexts.journal import ContextNotes
from frontend.contract.errors import Interrupted
from frontend.contract.stages import Stages
from frontend.monitoring.metrics import Metrics
from frontend.serving.services import Services
from frontend.settings.front import FrontSettings
from shm.audio import SAMPLE_RATE
from shm.timing import WordTiming
from tests.frontend.http_fakes import FakeSpeaker, speech

CHUNK = 240
"""Samples of a chunk."""
WORDS = (WordTiming("Hi", "Hi", 0.0, 0.1),)


@pytest.fixture
async def audio() -> AsyncIterator[ContextAudio]:
    services = Services(FakeSpeaker(), FrontSettings(chunk_ms=10), Metrics())
    made = ContextAudio(services, OutputFormat(), SAMPLE_RATE, time.monotonic(), Stages(), ContextNotes())
    yield made
    made.close()
    services.encoders.close()


async def all_of(events: AsyncIterator[Spoken]) -> list[Spoken]:
    return [event async for event in events]


async def test_words_go_with_the_first_audio_after_them(audio: ContextAudio) -> None:
    assert not audio.sounded
    piece = speech(2 * CHUNK + 10)
    events = await all_of(audio.encode(piece, WORDS))
    assert b"".join(event.audio for event in events) == piece.tobytes()
    assert [event.words for event in events] == [WORDS, (), ()]
    assert [event.seconds for event in events] == [CHUNK / 24_000, 2 * CHUNK / 24_000, audio.seconds]
    assert audio.sounded and audio.seconds == len(piece) / 24_000


async def test_words_without_audio_are_given_alone(audio: ContextAudio) -> None:
    assert await all_of(audio.encode(np.empty(0, np.int16), WORDS)) == [Spoken(b"", 0.0, WORDS)]
    assert not audio.sounded


async def test_a_text_without_a_sound_ends_in_silence(audio: ContextAudio) -> None:
    assert b"".join(event.audio for event in await all_of(audio.finish())) == bytes(
        2 * round(SILENCE_SECONDS * SAMPLE_RATE)
    )


async def test_a_text_with_a_sound_ends_without_silence(audio: ContextAudio) -> None:
    await all_of(audio.encode(speech(CHUNK)))
    assert await all_of(audio.finish()) == [Spoken(b"", CHUNK / 24_000)]


async def test_audio_that_is_closed_amid_a_piece_gives_no_more(audio: ContextAudio) -> None:
    events = []
    with pytest.raises(Interrupted):
        async for event in audio.encode(speech(2 * CHUNK)):
            events.append(event)
            audio.close()
    assert len(events) == 1 and audio.seconds == CHUNK / 24_000
    with pytest.raises(Interrupted):
        await all_of(audio.finish())
