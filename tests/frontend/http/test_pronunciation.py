"""POST /v1/pronunciation, and pronunciations of one request."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from frontend.contract.errors import ApiError
from frontend.http.app import make_app
from frontend.http.texts import Phonemizer
from frontend.monitoring.metrics import Metrics
from frontend.serving.services import Services
from frontend.settings.front import FrontSettings
from frontend.speech.body import SpeechBody
from frontend.speech.lexicons import MOST, pronunciations_of
from tests.frontend.http.test_phonemize import ENGINE
from tests.frontend.http_fakes import FakeSpeaker
from tests.text.test_prosody import KOKORO
from text.g2p import G2P
from text.lexicon import LexiconFile
from text.pipeline import TextPipeline


async def asked(lexicon: Path | None, *bodies: dict[str, object]) -> list[tuple[int, dict[str, object]]]:
    g2p = G2P()
    pipeline = TextPipeline(g2p, lexicon=LexiconFile(lexicon).current) if lexicon else TextPipeline(g2p)
    services = Services(FakeSpeaker(engine=ENGINE), FrontSettings(), Metrics())
    runner = web.AppRunner(make_app(services, Phonemizer(pipeline, g2p, lexicon)), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        base = f"http://127.0.0.1:{runner.addresses[0][1]}"
        found = []
        async with aiohttp.ClientSession(base) as client:
            for body in bodies:
                path = "/dev/phonemize" if "input" in body else "/v1/pronunciation"
                async with client.post(path, json=body) as answer:
                    found.append((answer.status, await answer.json()))
        return found
    finally:
        await runner.cleanup()


async def test_the_ways_are_those_of_the_command() -> None:
    ((status, answer),) = await asked(None, {"word": "Nguyen", "lang": "en-us"})
    assert status == 200
    assert answer["word"] == "Nguyen"
    hows = [way["how"] for way in answer["ways"]]  # type: ignore[attr-defined]
    assert hows[0].startswith("now (")
    assert "letters" in hows


async def test_a_kept_word_is_said_so_from_the_next_text_on(tmp_path: Path) -> None:
    lexicon = tmp_path / "words.tsv"
    lexicon.write_text("other\tuther")
    before, kept, after = await asked(
        lexicon,
        {"input": "zyxxy", "lang": "en-us"},
        {"word": "zyxxy", "lang": "en-us", "keep": "/zˈuksi/"},
        {"input": "zyxxy", "lang": "en-us"},
    )
    assert kept[1]["kept"] is True
    assert before[1]["phonemes"] != after[1]["phonemes"] == "zˈuksi"
    assert lexicon.read_text() == "other\tuther\nzyxxy\t/zˈuksi/\ten-us\n"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"word": "two words"}, 400),
        ({"word": "word", "keep": "/中/"}, 400),
        ({"word": "word", "keep": "one\nother\ttwo"}, 400),
        ({"word": "#word", "keep": "hash"}, 400),
    ],
)
async def test_what_is_no_entry_is_refused_and_not_written(
    body: dict[str, object], status: int, tmp_path: Path
) -> None:
    lexicon = tmp_path / "words.tsv"
    lexicon.write_text("")
    ((got, _),) = await asked(lexicon, {"lang": "en-us", **body})
    assert (got, lexicon.read_text()) == (status, "")


async def test_without_a_lexicon_nothing_can_be_kept() -> None:
    ((status, _),) = await asked(None, {"word": "word", "lang": "en-us", "keep": "werd"})
    assert status == 409


KEYLESS = make_mocked_request("POST", "/")
PLS = """<?xml version="1.0"?><lexicon alphabet="ipa" xml:lang="en" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon">
<lexeme role="x:Verb"><grapheme>zork</grapheme><phoneme>ˈzoʊk</phoneme></lexeme>
<lexeme><grapheme>two words</grapheme><phoneme>ˈtuː</phoneme></lexeme></lexicon>"""


@pytest.fixture
async def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[aiohttp.ClientSession]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    g2p = G2P()
    services = Services(FakeSpeaker(engine=ENGINE), FrontSettings(api_keys=("first", "second")), Metrics())
    runner = web.AppRunner(make_app(services, Phonemizer(TextPipeline(g2p), g2p)), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with aiohttp.ClientSession(f"http://127.0.0.1:{runner.addresses[0][1]}") as session:
        yield session
    await runner.cleanup()


async def said(client: aiohttp.ClientSession, text: str, key: str = "first") -> str:
    body = {"input": text, "lang": "en-us"}
    async with client.post("/dev/phonemize", json=body, headers={"Authorization": f"Bearer {key}"}) as answer:
        found: str = (await answer.json())["phonemes"]
        return found


@pytest.mark.parametrize(
    "body", ["zork\t/ˈzoʊk/\ten\tverb\n#\nbad\n", "ZORK  Z OW1 K\nBAD\n", PLS], ids=["tsv", "cmu", "pls"]
)
async def test_a_keys_lexicon_is_put_in_three_forms_and_obeyed_for_that_key_alone(
    client: aiohttp.ClientSession, body: str
) -> None:
    headers = {"Authorization": "Bearer first"}
    async with client.put("/v1/lexicon", data=body.encode(), headers=headers) as answer:
        kept = await answer.json()
        assert (answer.status, kept["entries"], len(kept["problems"])) == (200, 1, 1)
    assert (await said(client, "They zork it.")).split()[1] == "zˈOk"
    assert (await said(client, "They zork it.", "second")).split()[1] != "zˈOk"
    async with client.get("/v1/lexicon", headers=headers) as answer:
        lines = await answer.text()
    async with client.put("/v1/lexicon", data=lines, headers=headers) as answer:
        assert await answer.json() == {"entries": 1, "problems": []}
    async with client.put("/v1/lexicon", data=b"", headers=headers) as answer:
        assert (await answer.json())["entries"] == 0
    assert (await said(client, "They zork it.")).split()[1] != "zˈOk"


async def test_a_word_is_kept_for_a_key_and_a_part_of_speech(client: aiohttp.ClientSession) -> None:
    body = {"word": "zork", "lang": "en-us", "keep": "/zˈOk/", "part": "noun", "mine": True}
    async with client.post("/v1/pronunciation", json=body, headers={"Authorization": "Bearer first"}) as answer:
        assert (answer.status, (await answer.json())["kept"]) == (200, True)
    words = (await said(client, "I zork the zork")).split()
    assert words[-1] == "zˈOk" != words[1]
    assert "zˈOk" not in await said(client, "I zork the zork", "second")


async def test_a_lexicon_is_no_keyless_requests(client: aiohttp.ClientSession) -> None:
    async with client.get("/v1/lexicon") as answer:
        assert answer.status == 401
    lines = "".join(f"word{number}\tw\n" for number in range(MOST + 1))
    async with client.put("/v1/lexicon", data=lines, headers={"Authorization": "Bearer first"}) as answer:
        assert answer.status == 400
    ((status, answered),) = await asked(None, {"word": "word", "keep": "werd", "mine": True})
    assert (status, answered["error"]["code"]) == (403, "api_key_not_configured")  # type: ignore[index]


def phonemes(pipeline: TextPipeline, text: str) -> str:
    return " ".join(unit.script for sentence in pipeline.sentences(text, "en-us", KOKORO) for unit in sentence)


def test_a_requests_pronunciations_precede_the_users_and_end_with_it(tmp_path: Path) -> None:
    lexicon = tmp_path / "words.tsv"
    lexicon.write_text("nginx\tengine x\nzyxxy\t/zˈɪksi/\n")
    pipeline = TextPipeline(G2P(), lexicon=LexiconFile(lexicon).current)
    own = pronunciations_of(KEYLESS, SpeechBody(pronunciations={"nginx": "/ˈɛn/"}))
    assert phonemes(pipeline.saying(own), "nginx zyxxy").startswith("ˈɛn zˈɪksi")
    assert not phonemes(pipeline, "nginx zyxxy").startswith("ˈɛn zˈɪksi")
    assert pipeline.saying(()) is pipeline


def test_a_request_with_unknown_sounds_is_refused() -> None:
    with pytest.raises(ApiError, match="pronunciations"):
        pronunciations_of(KEYLESS, SpeechBody(pronunciations={"word": "/中/"}))
