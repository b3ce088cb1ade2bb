"""Wyoming's own client on the Wyoming port: descriptions, whole texts, and texts that come in pieces."""

import asyncio
import socket
from typing import cast

import numpy as np
import pytest
from wyoming.event import Event
from wyoming.info import Describe, Info
from wyoming.ping import Ping
from wyoming.tts import Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeVoice

from frontend.dialects.wyoming import announcement as announcement_module
from frontend.dialects.wyoming import service as service_module
from frontend.dialects.wyoming.announcement import Announcement
from frontend.settings.front import FrontSettings
from tests.frontend.wyoming_desk import house, pcm

TEXT = "The first sentence is here. The second one follows it. And a third one ends the text."
HEART = SynthesizeVoice(name="af_heart")


async def test_every_voice_and_the_blends_are_described() -> None:
    settings = FrontSettings(wyoming_blends=("af_heart(2)+af_heart", "nobody+af_heart"))
    async with house(settings) as desk, desk.client() as client:
        await client.say(Describe())
        event = (await client.until("info"))[-1]
        [program] = Info.from_event(event).tts
        assert program.installed and program.supports_synthesize_streaming and program.version
        engine = desk.scheduler.engine
        assert engine is not None
        assert [voice.name for voice in program.voices] == [*engine.voice_names, "af_heart(2)+af_heart"]
        assert all(voice.installed and voice.languages == ["en-US"] for voice in program.voices)
        assert desk.progress


async def test_a_text_is_spoken_whole() -> None:
    async with house() as desk, desk.client() as client:
        await client.say(Synthesize(TEXT, HEART))
        events = await client.until("audio-stop")
        kinds = [event.type for event in events]
        assert kinds == ["audio-start", *["audio-chunk"] * (len(kinds) - 2), "audio-stop"] and len(kinds) > 3
        for event in events[:-1]:
            assert (event.data["rate"], event.data["width"], event.data["channels"]) == (24_000, 2, 1)
        assert len(pcm(events))
        await client.say(Synthesize("Another one.", None))
        assert len(pcm(await client.until("audio-stop"))), "a connection takes several texts"


async def test_pieces_are_spoken_like_the_whole_while_they_come() -> None:
    """Home Assistant sends the whole text after its pieces, for servers that take no pieces."""
    async with house() as desk, desk.client() as client:
        await client.say(Synthesize(TEXT, HEART))
        whole = pcm(await client.until("audio-stop"))
        await client.say(SynthesizeStart(HEART))
        first, _, rest = TEXT.partition("follows")
        for word in first.split(" "):
            await client.say(SynthesizeChunk(f"{word} "))
        early = await client.until("audio-chunk")
        assert early[0].type == "audio-start", "the first sentence is heard while the text is being written"
        await client.say(SynthesizeChunk(f"follows{rest}"))
        await client.say(Synthesize(TEXT, HEART))
        await client.say(SynthesizeStop())
        events = early + await client.until("synthesize-stopped")
        assert [event.type for event in events if event.type != "audio-chunk"] == [
            "audio-start",
            "audio-stop",
            "synthesize-stopped",
        ]
        assert np.array_equal(pcm(events), whole)


async def test_unknown_events_are_ignored_and_pings_answered() -> None:
    async with house() as desk, desk.client() as client:
        await client.write_event(Event("transcribe", {"name": "whisper"}))
        await client.write_event(Event("audio-chunk", {"rate": 16_000}, b"\n{" * 40_000))
        await client.write_event(Event("select-program", {"name": "kokoro-live"}))
        await client.say(Ping("here"))
        pong = await client.hear()
        assert pong is not None and (pong.type, pong.data) == ("pong", {"text": "here"})
        await client.say(Synthesize(TEXT, SynthesizeVoice(name="af_heart", speaker="none of ours")))
        assert len(pcm(await client.until("audio-stop")))


async def test_a_language_without_a_name_chooses_a_voice_of_it() -> None:
    async with house() as desk, desk.client() as client:
        spoken = []
        desk.scheduler.open, opened = (lambda request: spoken.append(request) or opened(request)), desk.scheduler.open
        for language in ("en-GB", "en", "tlh"):
            await client.say(Synthesize("One sentence of it.", SynthesizeVoice(language=language)))
            await client.until("audio-stop")
        assert {request.voice for request in spoken} == {(("af_heart", 1.0),)}, "the only voice that speaks here"
        assert [request.language for request in spoken] == ["en-gb", "en-us", "en-us"]


async def test_ssml_is_parsed() -> None:
    async with house() as desk, desk.client() as client:
        await client.say(Synthesize("<speak>One two <mark name='a'/> three.</speak>", HEART, text_format="ssml"))
        marked = pcm(await client.until("audio-stop"))
        await client.say(Synthesize("One two three.", HEART))
        assert np.array_equal(pcm(await client.until("audio-stop")), marked)


async def test_a_text_without_a_sound_is_answered() -> None:
    async with house() as desk, desk.client() as client:
        for text in ("", "...", " "):
            await client.say(Synthesize(text, HEART))
            assert [event.type for event in await client.until("audio-stop") if event.type != "audio-chunk"] == [
                "audio-start",
                "audio-stop",
            ]


async def test_a_client_that_half_closes_hears_its_text_to_the_end() -> None:
    async with house() as desk, desk.client() as client:
        await client.say(Synthesize(TEXT, HEART))
        assert client._writer is not None
        client._writer.write_eof()
        assert len(pcm(await client.until("audio-stop")))
        assert await client.hear() is None
        await desk.nothing_is_left()


async def test_connections_are_counted_and_end_with_the_front() -> None:
    async with house() as desk:
        async with desk.client() as idle, desk.client() as writing:
            await idle.say(Ping())
            await idle.until("pong")
            await writing.say(SynthesizeStart(HEART))
            await writing.say(SynthesizeChunk("Not a whole sentence"))
            await writing.say(Ping())
            await writing.until("pong")
            assert (desk.services.open.sockets["wyoming"], desk.services.open.contexts) == (2, 1)
            ending = asyncio.create_task(desk.stop())
            assert len(pcm(await writing.until("synthesize-stopped"))), "what was written is spoken before the end"
            assert await writing.hear() is None and await idle.hear() is None
            await ending
        assert (desk.services.open.sockets["wyoming"], desk.services.open.contexts) == (0, 0)


async def test_a_connection_without_events_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with house() as desk:
        async with desk.client() as client:
            await client.say(SynthesizeStart(HEART))
            await client.say(Ping())
            await client.until("pong")
            monkeypatch.setattr(service_module, "IDLE_SECONDS", 0.05)
            await client.say(Ping())
            assert await client.error() == "inactivity"
        await desk.nothing_is_left()


@pytest.mark.parametrize("others", [[], [Synthesize(TEXT, HEART)]])
async def test_one_connection_takes_one_streamed_text_after_another(others: list[Synthesize]) -> None:
    async with house() as desk, desk.client() as client:
        for _ in range(3):
            await client.say(SynthesizeStart(HEART))
            await client.say(SynthesizeChunk("The first sentence is here. "))
            await client.say(SynthesizeStop())
            assert len(pcm(await client.until("synthesize-stopped")))
            for other in others:
                await client.say(other)
                assert len(pcm(await client.until("audio-stop")))


class Unroutable:
    """A listening socket on an IPv6 address that no interface has."""

    def getsockname(self) -> tuple[str, int, int, int]:
        return "2001:db8::1", 10200, 0, 0


async def test_an_address_that_cannot_be_announced_does_not_end_the_front(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:  # as zeroconf does, which then leaves a socket open until it is collected
        raise RuntimeError("No adapter found for IP address 2001:db8::1")

    monkeypatch.setattr(announcement_module, "AsyncZeroconf", refuse)
    announcement = Announcement(cast(socket.socket, Unroutable()))
    await announcement.start()
    assert "isn't announced" in caplog.text
    await announcement.withdraw()
