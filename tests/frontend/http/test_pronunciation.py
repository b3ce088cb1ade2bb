"""POST /dev/phonemize, and phonemes in place of a text."""

import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import kokoro_onnx
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from frontend.contract.errors import ApiError
from frontend.http.app import make_app
from frontend.http.texts import Phonemizer
from frontend.monitoring.metrics import Metrics
from frontend.serving.services import Services
from frontend.settings.front import FrontSettings
from frontend.speech.asked import check_phonemes
from shm.engine_info import EngineInfo
from tests.engine_infos import espeak, kokoro
from tests.frontend.http_fakes import FakeSpeaker
from text.g2p import G2P
from text.lexicon import Lexicon, read_entries
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
    app = make_app(services, Phonemizer(PIPELINE, G2P(), Path(os.devnull)))
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
