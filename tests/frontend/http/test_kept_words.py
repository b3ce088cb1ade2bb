"""The ways to say a word; words kept in a file and for a key, and taken back; pronunciations of one request."""

import asyncio
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
from frontend.speech.lexicons import MOST, pronunciations_of
from tests.frontend.http.test_pronunciation import ENGINE
from tests.frontend.http_fakes import FakeSpeaker
from tests.text.test_prosody import KOKORO
from text.g2p import G2P
from text.lexicon import LexiconFile
from text.pipeline import TextPipeline


async def pronounced(lexicon: Path, *bodies: dict[str, object]) -> list[tuple[int, dict[str, object]]]:
    g2p = G2P()
    pipeline = TextPipeline(g2p, lexicon=LexiconFile(lexicon).current)
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


async def test_the_ways_are_those_of_the_command(tmp_path: Path) -> None:
    ((status, answer),) = await pronounced(tmp_path / "none", {"word": "Nguyen", "lang": "en-us"})
    assert status == 200
    assert answer["word"] == "Nguyen"
    hows = [way["how"] for way in answer["ways"]]  # type: ignore[attr-defined]
    assert hows[0].startswith("now (")
    assert "letters" in hows


async def test_a_kept_word_is_said_so_from_the_next_text_on(tmp_path: Path) -> None:
    lexicon = tmp_path / "words.tsv"
    lexicon.write_text("other\tuther")
    before, kept, after = await pronounced(
        lexicon,
        {"input": "zyxxy", "lang": "en-us"},
        {"word": "zyxxy", "lang": "en-us", "keep": "/zˈuksi/"},
        {"input": "zyxxy", "lang": "en-us"},
    )
    assert kept[1]["kept"] is True
    assert before[1]["phonemes"] != after[1]["phonemes"] == "zˈuksi"
    assert lexicon.read_text() == "other\tuther\nzyxxy\t/zˈuksi/\ten-us\n"


async def test_the_users_entries_are_first_and_are_taken_back(tmp_path: Path) -> None:
    lexicon = tmp_path / "words.tsv"
    lexicon.write_text("# mine\nbow\t/bˈu/\ten\nBow\tbeau\nbow\t/bˈɔ/\ten\tnoun\nbow\t/bˈɪ/\tfr")
    word: dict[str, object] = {"word": "bow", "lang": "en-us"}
    answers = await pronounced(
        lexicon, word, {**word, "forget": True, "part": "noun"}, {**word, "forget": True}, {**word, "forget": True}
    )
    ways = [[(way["phonemes"], way["how"], way["part"]) for way in answer.get("ways", ())] for _, answer in answers]  # type: ignore[attr-defined]
    assert ways[0][:2] == [("bˈu", "now (your lexicon)", None), ("bˈɔ", "as noun (your lexicon)", "noun")]
    assert ways[0][2][1] == "otherwise (lexicon)"
    assert ways[1] == [way for way in ways[0] if way[0] != "bˈɔ"]
    assert ways[2][0] == (ways[0][2][0], "now (lexicon)", None)
    assert (answers[3][0], answers[3][1]["error"]["code"]) == (409, "no_lexicon")  # type: ignore[index]
    assert lexicon.read_text() == "# mine\nBow\tbeau\nbow\t/bˈɪ/\tfr"


async def test_the_language_is_the_voices_where_none_is_named(tmp_path: Path) -> None:
    ((_, british),) = await pronounced(tmp_path / "none", {"word": "schedule", "voice": "bf_emma"})
    assert british["language"] == "en-gb"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"word": "two words"}, 400),
        ({"word": "word", "keep": "/中/"}, 400),
        ({"word": "#word", "keep": "hash"}, 400),
        ({"word": ";;;word", "keep": "hash"}, 400),
        ({"word": "<lexicon", "keep": "hash"}, 400),
        ({"word": "word", "keep": ""}, 400),
        ({"word": "word", "keep": "werd", "part": "noun", "lang": "es"}, 400),
        ({"word": "", "keep": "werd"}, 400),
        ({"word": "\u202e", "keep": "werd"}, 400),
        ({"word": "w" * 201, "keep": "werd"}, 400),
        ({"word": "word", "forget": True}, 409),
    ],
)
async def test_what_is_no_entry_is_refused_and_not_written(
    body: dict[str, object], status: int, tmp_path: Path
) -> None:
    lexicon = tmp_path / "words.tsv"
    lexicon.write_text("")
    ((got, _),) = await pronounced(lexicon, {"lang": "en-us", **body})
    assert (got, lexicon.read_text()) == (status, "")


async def test_a_texts_own_pronunciations_are_shown(tmp_path: Path) -> None:
    body = {"input": "zyxxy nginx", "lang": "en-us", "pronunciations": {"zyxxy": "/zˈuksi/", "nginx": "two"}}
    ((status, answer),) = await pronounced(tmp_path / "none", body)
    assert (status, answer["phonemes"]) == (200, "zˈuksi tˈu")
    for word, way in (
        ("zyxxy", "/§/"),
        ("a\tb", "en"),
        ("#a", "b"),
        (";;;a", "b"),
        ("<?xml", "b"),
        ("a b", "c"),
        ("", "b"),
    ):
        ((status, answer),) = await pronounced(tmp_path / "none", body | {"pronunciations": {word: way}})
        assert (status, answer["error"]["param"]) == (400, "pronunciations")  # type: ignore[index]


KEYLESS = make_mocked_request("POST", "/")
PLS = """<?xml version="1.0"?><lexicon alphabet="ipa" xml:lang="en" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon">
<lexeme role="x:Verb"><grapheme>zork</grapheme><phoneme>ˈzoʊk</phoneme></lexeme>
<lexeme><grapheme>two words</grapheme><phoneme>ˈtuː</phoneme></lexeme></lexicon>"""


@pytest.fixture
async def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[aiohttp.ClientSession]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    g2p, words = G2P(), tmp_path / "words.tsv"
    services = Services(FakeSpeaker(engine=ENGINE), FrontSettings(api_keys=("first", "second")), Metrics())
    pipeline = TextPipeline(g2p, lexicon=LexiconFile(words).current)
    runner = web.AppRunner(make_app(services, Phonemizer(pipeline, g2p, words)), access_log=None)
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


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe",
        b"no entry\n",
        b"ZORK  Q Q",
        b"x\ty\ten\tnoon",
        PLS.encode()[:-9],
        PLS.replace("2005/01", "1999").encode(),
        PLS.replace('"1.0"', '"1.0" encoding="nonsense"').encode(),
        PLS.replace("?>", "?><!DOCTYPE x>").encode(),
        PLS.replace("<phoneme>", '<phoneme alphabet="x-sampa">').encode(),
    ],
)
async def test_a_lexicon_without_an_entry_is_refused_and_replaces_none(
    client: aiohttp.ClientSession, body: bytes
) -> None:
    headers = {"Authorization": "Bearer first"}
    for content, status in ((b"kept\tcapped", 200), (body, 400)):
        async with client.put("/v1/lexicon", data=content, headers=headers) as answer:
            assert answer.status == status, await answer.text()
    async with client.get("/v1/lexicon", headers=headers) as answer:
        assert await answer.text() == "kept\tcapped\n"


async def test_writers_at_once_lose_no_word(client: aiohttp.ClientSession) -> None:
    headers = {"Authorization": "Bearer first"}

    async def send(number: int) -> int:
        body = {"word": f"word{number}", "lang": "en-us", "keep": "werd", "mine": True}
        async with client.post("/v1/pronunciation", json=body, headers=headers) as answer:
            return answer.status

    assert set(await asyncio.gather(*map(send, range(24)))) == {200}
    async with client.get("/v1/lexicon", headers=headers) as answer:
        assert sorted((await answer.text()).split("\n")) == sorted(["", *(f"word{n}\twerd\ten-us" for n in range(24))])


async def test_a_file_that_can_not_be_written_is_an_error_of_its_own(tmp_path: Path) -> None:
    ((status, answer),) = await pronounced(tmp_path, {"word": "word", "lang": "en-us", "keep": "werd"})
    assert (status, answer["error"]["code"]) == (409, "no_lexicon")  # type: ignore[index]


async def test_a_word_is_kept_for_a_key_and_a_part_of_speech(client: aiohttp.ClientSession) -> None:
    body = {"word": "zork", "lang": "en-us", "keep": "/zˈOk/", "part": "noun", "mine": True}
    async with client.post("/v1/pronunciation", json=body, headers={"Authorization": "Bearer first"}) as answer:
        assert (answer.status, (await answer.json())["kept"]) == (200, True)
    words = (await said(client, "I zork the zork")).split()
    assert words[-1] == "zˈOk" != words[1]
    assert "zˈOk" not in await said(client, "I zork the zork", "second")


@pytest.mark.parametrize(
    ("own", "of_all", "left"),
    [
        ("zork\tork", "Zork\tark", ("zork\tork\n", "")),
        ("Zork\tork", "zork\tark", ("", "zork\tark")),
        ("Zork\tork", "Zork\tark\ten", ("Zork\tork\n", "")),
        ("Zork\tork\ten-us", "Zork\tark\ten-us", ("", "Zork\tark\ten-us")),
    ],
)
async def test_the_entry_that_says_the_word_is_taken_back_from_whichever_lexicon_has_it(
    client: aiohttp.ClientSession, tmp_path: Path, own: str, of_all: str, left: tuple[str, str]
) -> None:
    headers = {"Authorization": "Bearer first"}
    words = tmp_path / "words.tsv"
    words.write_text(of_all)
    async with client.put("/v1/lexicon", data=own, headers=headers) as answer:
        assert answer.status == 200
    body = {"word": "Zork", "lang": "en-us", "forget": True}
    async with client.post("/v1/pronunciation", json=body, headers=headers) as answer:
        assert answer.status == 200
    async with client.get("/v1/lexicon", headers=headers) as answer:
        assert (await answer.text(), words.read_text()) == left


async def test_a_lexicon_is_no_keyless_requests(client: aiohttp.ClientSession, tmp_path: Path) -> None:
    async with client.get("/v1/lexicon") as answer:
        assert answer.status == 401
    lines = "".join(f"word{number}\tw\n" for number in range(MOST + 1))
    async with client.put("/v1/lexicon", data=lines, headers={"Authorization": "Bearer first"}) as answer:
        assert answer.status == 400
    ((status, answered),) = await pronounced(tmp_path / "none", {"word": "word", "keep": "werd", "mine": True})
    assert (status, answered["error"]["code"]) == (403, "api_key_not_configured")  # type: ignore[index]


def phonemes(pipeline: TextPipeline, text: str) -> str:
    return " ".join(unit.script for sentence in pipeline.sentences(text, "en-us", KOKORO) for unit in sentence)


def test_a_requests_pronunciations_precede_the_users_and_end_with_it(tmp_path: Path) -> None:
    lexicon = tmp_path / "words.tsv"
    lexicon.write_text("nginx\tengine x\nzyxxy\t/zˈɪksi/\n")
    pipeline = TextPipeline(G2P(), lexicon=LexiconFile(lexicon).current)
    own = pronunciations_of(KEYLESS, {"nginx": "/ˈɛn/"})
    assert phonemes(pipeline.saying(own), "nginx zyxxy").startswith("ˈɛn zˈɪksi")
    assert not phonemes(pipeline, "nginx zyxxy").startswith("ˈɛn zˈɪksi")
    assert pipeline.saying(()) is pipeline


def test_a_request_with_unknown_sounds_is_refused() -> None:
    with pytest.raises(ApiError, match="pronunciations"):
        pronunciations_of(KEYLESS, {"word": "/中/"})
