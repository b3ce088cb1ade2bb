"""Every body of any bytes is a call whose fields are right, or is answered with 400 that says what is wrong."""

import json
from typing import Any

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from frontend.audio.formats import FORMATS
from frontend.contract.errors import ApiError
from frontend.serving.json_body import read_json
from frontend.settings.front import FrontSettings
from frontend.speech.answer import Delivery
from frontend.speech.asked import delivery_of, text_of
from frontend.speech.body import SpeechBody

LONGEST = 200
SETTINGS = FrontSettings(max_input_characters=LONGEST)
DECODE = msgspec.json.Decoder(SpeechBody).decode

FIELDS = [field.encode_name for field in msgspec.structs.fields(SpeechBody)]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.just("id"), inner, max_size=3),
    max_leaves=5,
)
LIKELY = st.sampled_from(
    [
        "Hello.",
        "af_heart",
        "pcm",
        "wav",
        "opus",
        "sse",
        "audio",
        "word",
        "queue",
        "en",
        1.0,
        0.25,
        8000,
        44100,
        True,
        False,
    ]
)
BODIES = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(FIELDS, LIKELY | ANYTHING) | {"input": st.text() | ANYTHING, "other": ANYTHING}
)


def check(body: bytes) -> tuple[str, Delivery] | ApiError:
    try:
        fields = read_json(DECODE, body)
        text, delivery = text_of(fields, SETTINGS), delivery_of(fields, SETTINGS)
    except ApiError as error:
        assert error.status == 400 and error.code
        assert 0 < len(error.message) < 700
        error.message.encode()
        return error
    output = delivery.output
    assert text.strip() and len(text) <= LONGEST
    assert fields.speed is None or 0.25 <= fields.speed <= 4
    assert output.format in FORMATS.values()
    assert not output.format.rates or output.sample_rate in output.format.rates
    assert 8000 <= output.sample_rate <= 48000
    return text, delivery


@settings(max_examples=60)
@given(BODIES)
def test_any_json_object(body: dict[str, Any]) -> None:
    check(json.dumps(body).encode())


@settings(max_examples=50)
@given(
    st.binary(max_size=200)
    | st.text().map(lambda text: text.encode("utf-16", "surrogatepass"))
    | ANYTHING.map(lambda value: json.dumps(value).encode())
)
@example(b"\xef\xbb\xbf{}")
@example(b"[" * 10_000)
def test_any_bytes(body: bytes) -> None:
    check(body)


@settings(max_examples=50)
@given(st.integers(0, 200), st.integers(0, 255))
def test_a_good_body_with_a_wrong_byte(place: int, byte: int) -> None:
    body = bytearray(json.dumps({"input": "Hello.", "voice": {"id": "af_heart"}, "speed": 1, "stream": True}).encode())
    body[place % len(body)] = byte
    check(bytes(body))


@given(st.text(st.characters(exclude_categories=()), min_size=1, max_size=LONGEST).filter(str.strip))
def test_any_text_arrives_as_it_was_sent(text: str) -> None:
    call = check(json.dumps({"input": text}, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    if any("\ud800" <= character <= "\udfff" for character in text):
        assert isinstance(call, ApiError)
    else:
        assert isinstance(call, tuple) and call[0] == text
