"""POST /dev/phonemize and /v1/pronunciation, phonemes in place of a text, and pronunciations of one request."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import kokoro_onnx
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from hypothesis import given
from hypothesis import strategies as st

from frontend.contract.errors import ApiError
from frontend.http.app import make_app
from frontend.http.texts import Phonemizer
from frontend.monitoring.metrics import Metrics
from frontend.serving.services import Services
from frontend.settings.front import FrontSettings
from frontend.speech.asked import check_phonemes
from frontend.speech.lexicons import MOST, pronunciations_of
from shm.engine_info import EngineInfo
from tests.engine_infos import espeak, kokoro
from tests.frontend.http_fakes import FakeSpeaker
from tests.text.test_prosody import KOKORO
from text.g2p import G2P
from text.lexicon import Lexicon, LexiconFile, read_entries
from text.pipeline import TextPipeline
from text.units.segmentation import phoneme_sentences
from text.words.punctuation import is_phone
from text.words.segment import Cut, Notation

NUMBERS = json.loads((Path(kokoro_onnx.__file__).parent / "config.json").read_text())["vocab"]
VOCABULARY = "".join(NUMBERS)
ENGINE = kokoro("af_heart", "bf_emma", vocabulary=VOCABULARY, phoneme_numbers=tuple(NUMBERS.values()))
NOTATION = Notation.of(ENGINE)
PIPELINE = TextPipeline(G2P(), lexicon=lambda: Lexicon(read_entries(b"nginx\tengine x")[0]))


@asynccontextmanager
async def serving(engine: EngineInfo | None = ENGINE) -> AsyncIterator[str]:
    services = Services(FakeSpeaker(engine=engine), FrontSettings(max_input_characters=300), Metrics())
    app = make_app(services, Phonemizer(PIPELINE, G2P()))
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/dev/phonemize"
    finally:
        await runner.cleanup()


async def asked(body: object, engine: EngineInfo | None = ENGINE) -> tuple[int, dict[str, object]]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with serving(engine) as url, aiohttp.ClientSession() as client, client.post(url, data=data) as answer:
        return answer.status, await answer.json()


async def test_each_word_has_its_phonemes_and_says_where_they_came_from() -> None:
    status, found = await asked({"input": "Try [it](/ˈaɪt/), nginx: $5 Kzqy \ue000.", "markup": "tags"})
    assert status == 200
    assert found["language"] == "en-us"
    assert found["unknown"] == ["\ue000"]
    words = found["words"]
    assert isinstance(words, list)
    assert [(word["word"], word["source"]) for word in words] == [
        ("Try", "lexicon"),
        ("it,", "user"),
        ("nginx:", "user"),
        ("five", "lexicon"),
        ("dollars", "lexicon"),
        ("Kzqy", "espeak"),
        ("\ue000.", "none"),
    ]
    assert words[1]["phonemes"] == "ˈIt,"
    assert found["phonemes"] == " ".join(word["phonemes"] for word in words)
    assert found["tokens"] == [0, *(NUMBERS[phoneme] for phoneme in str(found["phonemes"])), 0]


@pytest.mark.parametrize(
    ("g2p", "sources", "hello"),
    [
        (None, ["lexicon", "espeak", "user"], "həlˈO,"),
        ("misaki", ["lexicon", "espeak", "user"], "həlˈO,"),
        ("espeak", ["espeak", "espeak", "user"], "həlˈO,"),
        ("letters", ["letters", "letters", "user"], "ˈAʧ ˈi ˈɛl ˈɛl ˈO,"),
    ],
)
async def test_a_request_may_say_what_pronounces(g2p: str | None, sources: list[str], hello: str) -> None:
    status, found = await asked({"input": "Hello, Kzqy [it](/ˈaɪt/)!", "g2p": g2p})
    assert status == 200
    words = found["words"]
    assert isinstance(words, list)
    assert [word["source"] for word in words] == sources
    assert (words[0]["phonemes"], words[2]["phonemes"]) == (hello, "ˈIt!")


async def test_another_way_to_pronounce_is_an_error() -> None:
    status, found = await asked({"input": "Hello.", "g2p": "phonemizer"})
    assert status == 400 and "g2p" in str(found)


async def test_without_an_engine_that_knows_them_phonemes_have_no_numbers() -> None:
    _, found = await asked({"input": "Hello."}, engine=None)
    assert (found["phonemes"], found["tokens"]) == ("həlˈO.", [])


async def test_words_of_another_voice_are_pronounced_in_its_language() -> None:
    _, found = await asked({"input": "Schedule. [voice:bf_emma] Schedule.", "markup": "tags"})
    assert found["phonemes"] == "skˈɛʤˌul. ʃˈɛdjuːl."


async def test_what_it_says_can_be_sent_in_place_of_the_text() -> None:
    text = "It was a bright cold day in April. Was it?"
    _, found = await asked({"text": text})
    script = str(found["phonemes"])
    check_phonemes(script, NOTATION)
    sent = [[unit.script for unit in sentence] for sentence in phoneme_sentences(script, NOTATION)]
    read = [[unit.script for unit in sentence] for sentence in PIPELINE.sentences(text, "en-us", NOTATION)]
    assert [" ".join(sentence) for sentence in sent] == [" ".join(sentence) for sentence in read]


@pytest.mark.parametrize(
    ("fields", "language"),
    [
        ({"lang": "fr"}, "fr-fr"),
        ({"language": "b"}, "en-gb"),
        ({"voice": "bf_emma"}, "en-gb"),
        ({"voice": "bf_emma", "lang": "es"}, "es"),
    ],
)
@pytest.mark.parametrize("engine", [ENGINE, None])
async def test_the_language_is_that_of_a_speech_request(
    fields: dict[str, str], language: str, engine: EngineInfo | None
) -> None:
    status, found = await asked({"text": "Bonjour", **fields}, engine)
    assert (status, found["language"]) == (200, language)
    assert found["phonemes"]


async def test_with_an_engine_that_reads_text_it_says_what_kokoro_would_be_given() -> None:
    assert (await asked({"input": "hello"}, espeak()))[1]["phonemes"] == "həlˈO"


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({}, "input", "missing_required"),
        ({"input": " "}, "input", "missing_required"),
        ({"input": "x" * 301}, "input", "string_above_max_length"),
        ({"input": "x", "lang": "klingon"}, "lang", "unknown_language"),
        ({"input": "x", "voice": "nobody"}, "voice", "unknown_voice"),
        ({"input": "x", "markup": "rtf"}, "markup", "invalid_value"),
        ({"input": "<x", "markup": "ssml"}, "input", "invalid_markup"),
        ({"input": "[x](/5/)", "markup": "tags"}, "input", "unknown_phoneme"),
        (b"{", None, "invalid_json"),
        (b"\xff", None, "invalid_json"),
    ],
)
async def test_what_is_wrong_is_said(body: object, param: str | None, code: str) -> None:
    status, found = await asked(body)
    error = found["error"]
    assert isinstance(error, dict)
    assert (status, error["param"], error["code"]) == (400, param, code)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"voice": "bf_emma", "markup": "tags"}, None),
        ({"lang": "en-gb", "voice": "bf_emma", "speed": 1}, "no effect: speed, voice"),
        ({"lang": "en-gb", "language": "a", "text": "Ho."}, "no effect: text, language"),
    ],
)
async def test_fields_without_effect_are_named(fields: dict[str, object], named: str | None) -> None:
    body = {"input": "Hi."} | fields
    async with serving() as url, aiohttp.ClientSession() as client, client.post(url, json=body) as answer:
        assert (answer.status, answer.headers.get("X-Warning")) == (200, named)


def test_phonemes_are_cut_at_stops_and_marks_and_spaces() -> None:
    sentences = phoneme_sentences("həlˈO,  wˈɜɹld! — jˈɛs.”\nnˈO ju;\n\n… ɡˈO — \n\n…", NOTATION)
    assert [[(unit.text, unit.cut) for unit in sentence] for sentence in sentences] == [
        [("həlˈO,", Cut.CLAUSE), ("wˈɜɹld!", Cut.SENTENCE)],
        [("— jˈɛs.”", Cut.SENTENCE)],
        [("nˈO", Cut.WORD), ("ju;", Cut.PARAGRAPH)],
        [("… ɡˈO — …", Cut.PARAGRAPH)],
    ]


@given(st.text("ˈəhlO ,.!\n—ɡɪ", max_size=120), st.integers(5, 40))
def test_no_phoneme_is_lost_doubled_or_moved(script: str, limit: int) -> None:
    notation = Notation("phonemes", frozenset(VOCABULARY), limit)
    units = [unit for sentence in phoneme_sentences(script, notation) for unit in sentence]
    assert all(0 < len(unit.script) <= limit for unit in units)
    assert [c for unit in units for c in unit.script if is_phone(c)] == [c for c in script if is_phone(c)]


def test_phonemes_without_sound_are_accepted_and_make_no_sentence() -> None:
    """They are answered like a text without sound."""
    for script in (" — ˈ…", "..."):
        check_phonemes(script, NOTATION)
        assert list(phoneme_sentences(script, NOTATION)) == []


def test_phonemes_that_the_engine_can_not_speak_are_refused() -> None:
    check_phonemes("həlˈO\n\nwˈɜɹld", NOTATION)
    with pytest.raises(ApiError, match=r"'ε' \(U\+03B5\), '5' \(U\+0035\)") as refusal:
        check_phonemes("hεllo 5", NOTATION)
    assert (refusal.value.status, refusal.value.param, refusal.value.code) == (400, "phonemes", "unknown_phoneme")
    with pytest.raises(ApiError, match=re.escape("Send `input`")):
        check_phonemes("a", Notation("text", frozenset(), 1000))


async def test_why_says_tokens_readings_and_the_cover() -> None:
    async with serving() as url, aiohttp.ClientSession() as session:
        async with session.post(f"{url}?why=1", json={"input": "We won 3:1."}) as answer:
            found = await answer.json()
        async with session.post(url, json={"input": "We won 3:1."}) as answer:
            assert "why" not in await answer.json()
    (sentence,) = found["why"]
    assert sentence["tokens"] == ["We", "won", "3", ":", "1", "."]
    assert sentence["rewritten"] == [["3:1.", "three to one."]]
    readings = {reading["kind"]: reading for reading in sentence["considered"]}
    assert set(readings) == {"Score", "Ratio"}
    assert readings["Score"]["chosen"]
    assert not readings["Ratio"]["chosen"]
    assert readings["Score"]["cost"] < readings["Ratio"]["cost"]


async def pronounced(lexicon: Path | None, *bodies: dict[str, object]) -> list[tuple[int, dict[str, object]]]:
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
    ((status, answer),) = await pronounced(None, {"word": "Nguyen", "lang": "en-us"})
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


async def test_the_language_is_the_voices_where_none_is_named() -> None:
    ((_, british),) = await pronounced(None, {"word": "schedule", "voice": "bf_emma"})
    assert british["language"] == "en-gb"


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
    ((got, _),) = await pronounced(lexicon, {"lang": "en-us", **body})
    assert (got, lexicon.read_text()) == (status, "")


async def test_a_texts_own_pronunciations_are_shown() -> None:
    body = {"input": "zyxxy nginx", "lang": "en-us", "pronunciations": {"zyxxy": "/zˈuksi/", "nginx": "two"}}
    ((status, answer),) = await pronounced(None, body)
    assert (status, answer["phonemes"]) == (200, "zˈuksi tˈu")
    ((status, _),) = await pronounced(None, body | {"pronunciations": {"zyxxy": "/§/"}})
    assert status == 400


async def test_without_a_lexicon_nothing_can_be_kept() -> None:
    ((status, _),) = await pronounced(None, {"word": "word", "lang": "en-us", "keep": "werd"})
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
    ((status, answered),) = await pronounced(None, {"word": "word", "keep": "werd", "mine": True})
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
