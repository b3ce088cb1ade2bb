"""Times on the wire: of words, with a clip or in events before their audio, and of sentences."""

import asyncio
import base64
import json
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec import UNSET

from frontend.contract.errors import Broken
from frontend.dialects import kokoro_fastapi
from frontend.http.openapi import build
from frontend.settings.front import FrontSettings
from frontend.speech.framing import CaptionedLine
from shm.audio import Pcm
from shm.timing import SentenceTiming, WordTiming
from tests.frontend.http_fakes import (
    DEFAULT_TIMEOUT,
    ENGINE,
    FakeSpeaker,
    FakeStream,
    asking,
    events_of,
    raw_post,
    serving,
    speech,
)
from text.sentences.sentences import sentences
from text.words.sanitize import sanitize

MARKING = msgspec.structs.replace(ENGINE, marks=True)
PIECE = speech(2400)
WORDS = [WordTiming("Hi", "Hi", 0.0, 0.05), WordTiming("42", "forty two", 0.05, 0.1)]


class WordyStream(FakeStream):
    """Tells `WORDS` with its first piece."""

    def take_words(self) -> list[WordTiming]:
        return list(WORDS) if self.given == 1 else []


class WordySpeaker(FakeSpeaker):
    def open(self, request: Any) -> FakeStream:
        self.opened.append(request)
        return WordyStream([PIECE, PIECE], MARKING)


def wordy() -> WordySpeaker:
    return WordySpeaker(engine=MARKING)


async def post(
    path: str,
    fields: dict[str, Any],
    speaker: FakeSpeaker | None = None,
    settings: FrontSettings | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, str, bytes]:
    async with asking(
        speaker or wordy(),
        path,
        settings=settings,
        json={"input": "Hi 42", "response_format": "pcm"} | fields,
        headers=headers,
    ) as response:
        return response.status, response.headers["Content-Type"], await response.read()


def samples(audio: bytes) -> Pcm:
    return np.frombuffer(audio, np.int16)


async def test_words_come_as_events_before_the_audio_in_which_they_sound() -> None:
    fields = {"timestamps": "word", "stream_format": "sse"}
    status, content_type, body = await post("/v1/audio/speech", fields)
    assert (status, content_type) == (200, "text/event-stream")
    events = events_of(body)
    kinds = [event["type"] for event in events]
    assert kinds == ["speech.audio.words", "speech.audio.delta", "speech.audio.delta", "speech.audio.done"]
    assert events[0]["words"] == [
        {"word": "Hi", "said": "Hi", "start": 0.0, "end": 0.05},
        {"word": "42", "said": "forty two", "start": 0.05, "end": 0.1},
    ]


async def test_a_clip_comes_in_json_with_its_words() -> None:
    fields = {"timestamps": "word", "stream": False, "sample_rate": 24_000}
    status, content_type, body = await post("/v1/audio/speech", fields)
    assert (status, content_type) == (200, "application/json")
    clip = json.loads(body)
    assert [word["word"] for word in clip["words"]] == ["Hi", "42"]
    assert (clip["format"], clip["sample_rate"], clip["duration"]) == ("pcm", 24_000, 0.2)
    assert np.array_equal(samples(base64.b64decode(clip["audio"])), np.concatenate([PIECE, PIECE]))


async def test_captioned_speech_is_as_kokoro_fastapi_has_it() -> None:
    status, content_type, body = await post("/dev/captioned_speech", {"stream": False})
    assert (status, content_type) == (200, "application/json")
    clip = json.loads(body)
    assert clip["timestamps"][0] == {"word": "Hi", "start_time": 0.0, "end_time": 0.05, "said": "Hi", "voice": None}
    assert clip["audio_format"] == "audio/pcm"
    assert len(samples(base64.b64decode(clip["audio"]))) == 2 * len(PIECE)
    status, content_type, body = await post("/dev/captioned_speech", {})
    assert (status, content_type) == (200, "application/x-ndjson")
    lines = [json.loads(line) for line in body.splitlines()]
    assert [word["word"] for word in lines[0]["timestamps"]] == ["Hi", "42"]
    audio = b"".join(base64.b64decode(line["audio"]) for line in lines)
    assert np.array_equal(samples(audio), np.concatenate([PIECE, PIECE]))


async def test_every_captioned_line_has_the_described_shape() -> None:
    """Every line fits its type, also the one that says that the rest is missing."""
    _, _, whole = await post("/dev/captioned_speech", {})
    speaker = FakeSpeaker(PIECE, Broken("it broke"), engine=MARKING)
    async with serving(speaker) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_post(b'{"input": "Hi 42", "response_format": "pcm"}', "/dev/captioned_speech"))
        answer = await asyncio.wait_for(reader.read(), DEFAULT_TIMEOUT)
        writer.close()
    broken = [line for line in answer.splitlines() if line.startswith(b"{")]
    lines = [msgspec.json.decode(line, type=CaptionedLine) for line in (*whole.splitlines(), *broken)]
    assert all((line.error is UNSET) is (line.audio is not UNSET) for line in lines)
    assert [line.error.code for line in lines if line.error is not UNSET] == ["synthesis_failed"]
    described = build(kokoro_fastapi.ROUTES)["paths"]["/dev/captioned_speech"]["post"]["responses"]["200"]["content"]
    assert described["application/x-ndjson"]["schema"]["$ref"].endswith("/CaptionedLine")


@pytest.mark.parametrize(
    ("fields", "engine", "code"),
    [
        ({"timestamps": "word"}, MARKING, "invalid_value"),
        ({"timestamps": "phoneme", "stream": False}, MARKING, "invalid_value"),
        ({"timestamps": "word", "stream": False}, ENGINE, "timestamps_unavailable"),
    ],
)
async def test_timestamps_that_cannot_be_given_are_refused(fields: dict[str, Any], engine: Any, code: str) -> None:
    status, _, body = await post("/v1/audio/speech", fields, FakeSpeaker(PIECE, engine=engine))
    error = json.loads(body)["error"]
    assert (status, error["param"], error["code"]) == (400, "timestamps", code)


async def test_words_sound_later_by_as_much_silence_as_was_sent_ahead() -> None:
    fields = {"timestamps": "word", "stream_format": "sse"}
    _, _, body = await post("/v1/audio/speech", fields, settings=FrontSettings(prime_silence=0.5))
    events = events_of(body)
    (words,) = (event["words"] for event in events if event["type"] == "speech.audio.words")
    assert [word["start"] for word in words] == [0.5, 0.55]
    audio = b"".join(base64.b64decode(event["audio"]) for event in events if event["type"] == "speech.audio.delta")
    assert not samples(audio)[:12_000].any()
    assert np.array_equal(samples(audio)[12_000:], np.concatenate([PIECE, PIECE]))


@pytest.mark.parametrize(("after", "told"), [(1199, ["42"]), (1200, ["42"]), (1201, [])])
async def test_a_continued_answer_tells_the_words_that_are_still_to_sound(after: int, told: list[str]) -> None:
    fields = {"timestamps": "word", "stream_format": "sse"}
    _, _, body = await post("/v1/audio/speech", fields, headers={"Last-Event-ID": str(after)})
    events = events_of(body)
    assert [word["word"] for event in events for word in event.get("words", ())] == told
    audio = b"".join(base64.b64decode(event["audio"]) for event in events if event["type"] == "speech.audio.delta")
    assert np.array_equal(samples(audio), np.concatenate([PIECE, PIECE])[after:])


MARKED = [
    WordTiming("Hi", "Hi", 0.0, 0.05, bookmarks=("a", "b")),
    WordTiming("42", "forty two", 0.05, 0.1, bookmarks=("c",), bookmarks_after=("d",)),
]
MARKS = [
    {"name": "a", "time": 0.0},
    {"name": "b", "time": 0.0},
    {"name": "c", "time": 0.05},
    {"name": "d", "time": 0.1},
]


class MarkedSpeaker(FakeSpeaker):
    def open(self, request: Any) -> FakeStream:
        stream = WordyStream([PIECE, PIECE], MARKING)
        stream.take_words = lambda: list(MARKED) if stream.given == 1 else []  # type: ignore[method-assign]
        return stream


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/v1/audio/speech", {"timestamps": "word", "stream": False}),
        ("/v1/audio/speech", {"timestamps": "word", "stream_format": "sse"}),
        ("/dev/captioned_speech", {"stream": False}),
        ("/dev/captioned_speech", {}),
    ],
)
async def test_marks_come_with_the_words(path: str, fields: dict[str, Any]) -> None:
    _, content_type, body = await post(path, fields, MarkedSpeaker(engine=MARKING))
    if content_type == "text/event-stream":
        events = events_of(body)
        assert [event["type"] for event in events[:2]] == ["speech.audio.words", "speech.audio.marks"]
        assert events[1]["marks"] == MARKS
    else:
        assert json.loads(body.splitlines()[0])["marks"] == MARKS


class Reciter(FakeSpeaker):
    """Two sentences, the second within the second piece."""

    def __init__(self) -> None:
        super().__init__(
            lambda: self.streams[-1].sentences.append(SentenceTiming(3, "Hi.", 0)),
            speech(2400),
            lambda: self.streams[-1].sentences.append(SentenceTiming(4, "Ho.", 3000)),
            speech(2400),
        )


async def events(
    fields: dict[str, Any], settings: FrontSettings | None = None, **headers: str
) -> tuple[int, list[dict[str, Any]]]:
    speaker, body = Reciter(), {"input": "Hi. Ho.", "response_format": "pcm"} | fields
    async with asking(speaker, settings=settings, json=body, headers=headers) as response:
        answer = await response.read()
    if response.status != 200:
        return response.status, [json.loads(answer)["error"]]
    assert speaker.opened[0].sentences and speaker.opened[0].from_sentence == 3
    return response.status, events_of(answer)


WANTED = {"stream_format": "sse", "timestamps": "sentence", "from_sentence": 3}


async def test_a_sentence_is_told_before_the_audio_in_which_it_begins() -> None:
    status, told = await events(WANTED)
    assert status == 200
    assert [event["type"].rpartition(".")[2] for event in told] == ["sentence", "delta", "sentence", "delta", "done"]
    assert told[0] == {
        "type": "speech.audio.sentence",
        "number": 3,
        "text": "Hi.",
        "sample": 0,
        "real_time_factor": 0.5,
    }
    assert told[2]["sample"] == 3000


async def test_primed_silence_moves_the_sentences() -> None:
    _, told = await events(WANTED, FrontSettings(prime_silence=0.1))
    assert [event["sample"] for event in told if event["type"].endswith("sentence")] == [2400, 5400]


@pytest.mark.parametrize(("after", "left"), [(0, [3, 4]), (1, [4]), (3000, [4]), (3001, [])])
async def test_a_continued_answer_tells_the_sentences_that_are_still_to_begin(after: int, left: list[int]) -> None:
    _, told = await events(WANTED, **{"Last-Event-ID": str(after)})
    assert [event["number"] for event in told if event["type"].endswith("sentence")] == left


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"timestamps": "sentence"}, "timestamps"),
        ({"from_sentence": 1}, "from_sentence"),
        ({"stream_format": "sse", "timestamps": "word", "from_sentence": 1}, "from_sentence"),
    ],
)
async def test_sentences_need_events(fields: dict[str, Any], param: str) -> None:
    status, (error,) = await events(fields)
    assert (status, error["param"]) == (400, param)


WRAPPED = (
    "Dr. Smith paid $12.50 on Monday, and he left at once; nobody saw\n"
    "him again. Mr. Jones stayed until it was late, and then he went home\n"
    "as well."
)
LIST = "Buy:\n- milk, e.g. two bottles\n- bread. Brown bread."


async def asked(body: object) -> tuple[int, dict[str, Any]]:
    async with asking(
        FakeSpeaker(), "/v1/text/sentences", settings=FrontSettings(max_input_characters=1000), json=body
    ) as answer:
        return answer.status, await answer.json()


async def test_wrapped_lines_are_one_and_lines_of_a_list_are_not() -> None:
    status, found = await asked({"paragraphs": [WRAPPED, LIST, " \u200b\n"]})
    assert status == 200
    assert found["language"] == "en-us"
    wrapped, listed, blank = found["paragraphs"]
    assert [[len(line) for line in wrapped], len(wrapped[0])] == [[2], 2]
    assert wrapped[0][0].endswith("saw him again. ")
    assert ["".join(line) for line in wrapped] == [WRAPPED.replace("\n", " ")]
    assert listed == [["Buy:"], ["- milk, e.g. two bottles"], ["- bread. ", "Brown bread."]]
    assert blank == []


TOLD = {
    "es": "Los precios de la energía han bajado en los últimos meses, aunque todavía quedan problemas en el sector.",
    "fr-fr": "Selon le ministre, les prix ont baissé ces derniers mois, mais des problèmes subsistent dans le secteur.",
    "it": "Scaldate l'olio in una padella e friggete le patate per venti minuti. Aggiungete il sale e le uova.",
    "pt-br": "O governo anunciou ontem medidas econômicas. Os preços da energia caíram, embora não sejam os do gás.",
    "hi": "यह एक परीक्षण है। मुझे हिन्दी पसंद है।",
    "ja": "日本語のAPIを使います。Pythonが好きです。",
    "cmn": "这是一个测试。我喜欢中文和Python。",
    "en-us": "Prices fell, the minister said, but there are still problems with it. He added “je ne sais pas”.",
}


@pytest.mark.parametrize("language", TOLD)
@pytest.mark.parametrize("voice", ["en-us", "es", "fr-fr", "hi", "ja"])
async def test_a_texts_evident_language_is_told_whatever_the_voices(language: str, voice: str) -> None:
    _, found = await asked({"paragraphs": ["7. 12", TOLD[language]], "lang": voice})
    assert (found["language"], found["evident_language"]) == (voice, language)


@pytest.mark.parametrize("text", ["Bonjour", "12.50", "Öl in einer Pfanne erhitzen, Kartoffeln waschen.", "Это тест."])
@pytest.mark.parametrize("voice", ["en-gb", "fr-fr"])
async def test_a_text_without_evidence_is_taken_for_the_voices_language(text: str, voice: str) -> None:
    assert (await asked({"paragraphs": [text], "lang": voice}))[1]["evident_language"] == voice


async def test_the_sentences_are_those_of_speech() -> None:
    text = "1.) The first 2.) The second\n«Bien !» dit-il. これは文です。次の文です。 Is it?! Yes… no."
    _, found = await asked({"paragraphs": [text]})
    [lines] = found["paragraphs"]
    assert [sentence.strip() for line in lines for sentence in line] == list(sentences(sanitize(text), "en-us"))
    assert "\n".join("".join(line) for line in lines) == text


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({}, None, "invalid_value"),
        ({"paragraphs": "one"}, "paragraphs", "invalid_value"),
        ({"paragraphs": ["a" * 600, "b" * 600]}, "paragraphs", "string_above_max_length"),
        ({"paragraphs": ["a"], "voice": "nobody"}, "voice", "unknown_voice"),
        ({"paragraphs": ["a"], "lang": "klingon"}, "lang", "unknown_language"),
    ],
)
async def test_errors_name_the_field(body: object, param: str | None, code: str) -> None:
    status, found = await asked(body)
    assert (status, found["error"]["param"], found["error"]["code"]) == (400, param, code)
