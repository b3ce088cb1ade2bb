"""A server as the speaker of a book: what is asked again, and what never is."""

import asyncio
import base64
import io
import socket
import wave
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
import pytest
from aiohttp import web

from books.book import BlockKind, BookError, Chapter, TextBlock
from books.making import server as server_module
from books.making.casting import narrator, read_cast
from books.making.passages import Passage, PassageRefused, Postponed
from books.making.progress import Pace, pace_of, spoken_seconds
from books.making.server import ServerSpeaker, Unreachable
from books.making.settings import BookPauses, BookSettings, chosen
from frontend.speech.voices import described
from tests.ports import lasting_port
from worker.voices.kokoro_voices import kokoro_voice

PASSAGE = Passage("Hello there.", ("Hello there.",), "", 1.0, "", 0, 0.0)
Answer = Callable[[web.Request], Awaitable[web.Response]]


@dataclass
class MadeServer:
    """The facts that a stand-in for the server tells, and the requests that it got."""

    speech: Answer
    engine: dict[str, Any] = field(default_factory=lambda: {"name": "kokoro", "model": "m", "sha256": "abc"})
    voices: list[str] = field(default_factory=lambda: ["af_heart", "ff_siwis"])
    asked: list[Any] = field(default_factory=list)
    words: list[dict[str, str]] = field(default_factory=list)
    status_text: str = ""
    """The answer to `/status` in place of the facts."""
    voice_list: dict[str, Any] | None = None
    """The answer with the voices in place of `voices`."""

    async def status(self, _: web.Request) -> web.Response:
        return web.Response(text=self.status_text) if self.status_text else web.json_response({"engine": self.engine})

    async def list_voices(self, _: web.Request) -> web.Response:
        return web.json_response(
            self.voice_list
            or {
                "voices": [msgspec.to_builtins(described(kokoro_voice(name), "kokoro")) for name in self.voices],
                "default_voice": self.voices[0],
                "default_speed": 1.0,
            }
        )

    async def phonemize(self, request: web.Request) -> web.Response:
        self.asked.append(await request.json())
        return web.json_response({"phonemes": "pronounced", "words": self.words})

    async def speak(self, request: web.Request) -> web.Response:
        self.asked.append(await request.json())
        return await self.speech(request)


@asynccontextmanager
async def asking(answer: Answer | MadeServer) -> AsyncIterator[ServerSpeaker]:
    """A speaker whose server answers each speech request so."""
    made = answer if isinstance(answer, MadeServer) else MadeServer(answer)
    app = web.Application()
    app.router.add_get("/status", made.status)
    app.router.add_get("/v1/audio/voices", made.list_voices)
    app.router.add_post("/dev/phonemize", made.phonemize)
    app.router.add_post("/v1/audio/speech", made.speak)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    _, port, *_ = runner.addresses[0]
    try:
        async with ServerSpeaker(f"http://127.0.0.1:{port}") as speaker:
            assert await speaker.engine() == "kokoro/m/abc//af_heart/1.0"
            yield speaker
    finally:
        await runner.cleanup()


async def silent(_: web.Request) -> web.Response:
    return web.json_response({"audio": base64.b64encode(recording(0)).decode(), "words": []})


def recording(samples: int) -> bytes:
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setparams((1, 2, 24_000, 0, "NONE", ""))
        file.writeframes(np.arange(samples, dtype="<i2").tobytes())
    return made.getvalue()


def failing(status: int, code: str, **headers: str) -> Answer:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "No.", "code": code}}, status=status, headers=headers)

    return answer


@pytest.mark.parametrize("code", ["synthesis_failed", "internal"])
async def test_a_text_at_which_the_server_fails_is_not_tried_for_ever(code: str) -> None:
    async with asking(failing(500, code)) as speaker:
        for _ in range(2):
            with pytest.raises(Postponed):
                await speaker.speak(PASSAGE)
        with pytest.raises(PassageRefused, match="No"):
            await speaker.speak(PASSAGE)


async def test_a_busy_server_says_when_to_come_again() -> None:
    async with asking(failing(429, "overloaded", **{"Retry-After": "7"})) as speaker:
        with pytest.raises(Postponed) as postponed:
            await speaker.speak(PASSAGE)
        assert postponed.value.seconds == 7


async def test_a_wrong_request_is_refused() -> None:
    async with asking(failing(400, "unknown_voice")) as speaker:
        with pytest.raises(PassageRefused, match="No"):
            await speaker.speak(PASSAGE)


async def test_another_engine_that_speaks_is_noticed() -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=b"RIFF", headers={"X-Engine": "espeak-ng"})

    async with asking(answer) as speaker:
        with pytest.raises(PassageRefused, match="espeak-ng speaks now, not kokoro"):
            await speaker.speak(PASSAGE)


async def test_without_word_times_all_passages_take_the_audio_alone() -> None:
    async def answer(request: web.Request) -> web.Response:
        if (await request.json())["timestamps"]:
            return await failing(400, "timestamps_unavailable")(request)
        return web.Response(body=recording(100), headers={"X-Engine": "kokoro"})

    async with asking(answer) as speaker:
        for speech in await asyncio.gather(*(speaker.speak(PASSAGE) for _ in range(3))):
            assert np.array_equal(speech.pcm, np.arange(100)) and speech.words == ()


async def test_what_looks_like_markup_is_read_out() -> None:
    text = "Press [pause:2s] or [voice:am_adam], and see [gif](/dʒɪf/)."
    made = MadeServer(silent)
    async with asking(made) as speaker:
        passage = replace(PASSAGE, text=text)
        assert await speaker.script(passage) == "pronounced"
        await speaker.speak(passage)
        await speaker.unknown_words(text, "en")
    assert [(body["input"], body["markup"]) for body in made.asked] == 3 * [(text, "none")]


@pytest.mark.parametrize(
    ("language", "voice", "asked_for"),
    [
        ("fr-CA", "", "ff_siwis"),
        ("fr", "af_heart", "af_heart"),
        ("en-GB", "", None),
        ("", "", None),
        ("es", "", None),
        ("tlh", "", None),
    ],
)
async def test_a_book_is_read_by_a_voice_of_its_language(language: str, voice: str, asked_for: str | None) -> None:
    made = MadeServer(silent)
    async with asking(made) as speaker:
        passage = replace(PASSAGE, language=language, voice=voice)
        await speaker.script(passage)
        await speaker.speak(passage)
    assert [body["voice"] for body in made.asked] == [asked_for, asked_for]


async def test_a_passage_without_sound_is_silent() -> None:
    async with asking(failing(400, "unspeakable")) as speaker:
        speech = await speaker.speak(replace(PASSAGE, text="…"))
    assert speech.words == () and not len(speech.pcm)


async def test_a_book_waits_for_the_engine_that_another_one_stands_in_for() -> None:
    made = MadeServer(silent)
    async with asking(made) as speaker:
        made.engine |= {"name": "espeak-ng", "stands_in": True}
        with pytest.raises(Postponed, match="espeak-ng stands in for Kokoro"):
            await speaker.engine()


async def test_a_server_that_came_back_with_another_model_is_noticed() -> None:
    made = MadeServer(silent)
    async with asking(made) as speaker:
        speaker.use(speaker._server.url, None)
        await speaker.speak(PASSAGE)
        made.engine["sha256"] = "def"
        speaker.use(speaker._server.url, None)
        with pytest.raises(PassageRefused, match=r"kokoro/m/def//af_heart/1\.0 speaks now") as refused:
            await speaker.speak(PASSAGE)
        assert refused.value.code == "engine_changed"


async def test_words_that_no_dictionary_has_are_those_of_rules_and_letters() -> None:
    sources = {"The": "lexicon", "“Zorblax,”": "espeak", "XKQZ.": "letters", "—": "none", "nginx": "user"}
    made = MadeServer(silent, words=[{"word": word, "source": source} for word, source in sources.items()])
    async with asking(made) as speaker:
        assert await speaker.unknown_words("any", "en") == {"Zorblax", "XKQZ"}


async def test_a_server_that_does_not_answer_is_said_without_the_library_s_words() -> None:
    async with ServerSpeaker(f"http://127.0.0.1:{lasting_port()}") as speaker:
        with pytest.raises(Postponed, match=r"\(connection refused\)"):
            await speaker.engine()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "LOST", 0.01)
    monkeypatch.setattr(server_module, "_FIRST_ANSWER", 0.5)


@pytest.mark.usefixtures("hasty")
async def test_an_address_without_a_server_is_given_up() -> None:
    async with ServerSpeaker(f"http://127.0.0.1:{lasting_port()}") as speaker:
        with pytest.raises(Unreachable, match=r"\(connection refused\)"):
            await speaker.await_first_answer()


@pytest.mark.usefixtures("hasty")
async def test_a_server_that_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        async with ServerSpeaker(f"http://127.0.0.1:{mute.getsockname()[1]}") as speaker:
            with pytest.raises(Unreachable, match=r"nothing came within 0\.5 s"):
                await speaker.await_first_answer()


async def test_a_server_that_opens_its_port_a_moment_later_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    port, runner = lasting_port(), web.AppRunner(web.Application())
    await runner.setup()

    async def opened(_: float) -> None:
        await web.TCPSite(runner, "127.0.0.1", port).start()

    async with ServerSpeaker(f"http://127.0.0.1:{port}") as speaker:
        with monkeypatch.context() as patched:
            patched.setattr(asyncio, "sleep", opened)
            await speaker.await_first_answer()
    await runner.cleanup()


@pytest.mark.parametrize("engine", [{}, {"name": "espeak-ng", "stands_in": True}])
async def test_a_server_that_can_not_speak_yet_has_answered(engine: dict[str, Any]) -> None:
    made = MadeServer(silent)
    async with asking(made) as speaker:
        made.engine = engine
        await speaker.await_first_answer()


async def test_another_program_at_the_address_is_told_apart() -> None:
    made = MadeServer(silent)
    async with asking(made) as speaker:
        made.status_text = "<html>"
        with pytest.raises(PassageRefused, match="it is no kokoro-live"):
            await speaker.engine()


async def test_a_server_that_lists_voices_by_name_is_told_apart() -> None:
    """Others do, such as Kokoro-FastAPI's."""
    made = MadeServer(silent)
    async with asking(made) as speaker:
        made.voice_list = {"voices": ["af_heart"]}
        with pytest.raises(PassageRefused, match="as no kokoro-live does"):
            await speaker.engine()


CHAPTER = Chapter("One", (TextBlock(BlockKind.PARAGRAPH, "x" * 150), TextBlock(BlockKind.SCENE_BREAK)))


def test_letters_speed_and_pauses_make_the_length() -> None:
    settings = BookSettings(speed=2.0, pauses=BookPauses(paragraph=1.0, scene_break=2.0))
    assert spoken_seconds(CHAPTER, settings) == 150 / 15 / 2 + 3
    assert spoken_seconds(CHAPTER, settings, Pace(letters_per_second=30.0)) == 150 / 30 / 2 + 3


def test_a_server_that_has_measured_is_believed() -> None:
    costs = {"kokoro": {"real_time_factor": 0.2, "audio_seconds_per_token": 0.0625}, "espeak-ng": {}}
    assert pace_of({"engine": {"name": "kokoro"}, "costs": costs}) == Pace(16.0, 0.2, True)
    assert pace_of({"engine": {"name": "espeak-ng"}, "costs": costs}) == Pace()
    assert pace_of({}) == Pace()


CHAPTERS = [Chapter(str(number), ()) for number in range(1, 11)]


@pytest.mark.parametrize(
    ("ranges", "numbers"),
    [
        ("", "1 2 3 4 5 6 7 8 9 10"),
        ("3", "3"),
        ("3-5", "3 4 5"),
        ("9-", "9 10"),
        ("-2", "1 2"),
        ("5,1-2", "1 2 5"),
        ("9-999999999", "9 10"),
    ],
)
def test_chapters_are_chosen_by_number(ranges: str, numbers: str) -> None:
    assert [chapter.title for chapter in chosen(CHAPTERS, ranges)] == numbers.split()


@pytest.mark.parametrize("ranges", ["x", "11-12", "1,,2", "-", "3-1"])
def test_what_names_no_chapter_is_an_error(ranges: str) -> None:
    with pytest.raises(BookError):
        chosen(CHAPTERS, ranges)


def test_the_cast_is_a_small_file() -> None:
    cast = read_cast(b'narrator = "af_heart"\nquotes = "am_adam"\n[speakers]\nAlice = "bf_emma"\n')
    assert (cast.narrator, cast.quotes, cast.speakers) == ("af_heart", "am_adam", {"Alice": "bf_emma"})
    for wrong in (b"narrator = 1", b"voice = 'x'", b"[", b"\xff"):
        with pytest.raises(BookError, match="cast can't be read"):
            read_cast(wrong)


def test_a_book_in_another_language_has_the_voice_that_a_request_in_it_has() -> None:
    voices = [kokoro_voice(name) for name in ("af_heart", "bf_alice", "bf_emma")]
    assert narrator(voices[1:], "ff_siwis", "en-GB") == "bf_emma"
    assert narrator(voices, "af_heart", "en-GB") == narrator(voices, "af_heart", "de") == ""
