"""Requests that aren't HTTP, bodies of any bytes, and uploads that are none: one answer that says what is wrong."""

import asyncio
import contextlib
import json
import logging
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from frontend.audio.formats import FORMATS
from frontend.contract.errors import ApiError
from frontend.serving.json_body import read_json
from frontend.settings.front import FrontSettings
from frontend.speech.answer import Delivery
from frontend.speech.asked import delivery_of, text_of
from frontend.speech.body import SpeechBody
from tests.frontend.http.guarded import HEALTH, answer, asks_health, ended, guarded
from tests.frontend.http.jobs_desk import desk
from tests.frontend.http_fakes import FakeSpeaker, raw_post, serving, speech

MALFORMED = (
    b"GET / HTTP/9.9\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nA\x00b: c\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /\x7f HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 20_000 + b"\r\n\r\n",
    b"GET /\r\n\r\n",
    b"\x00" * 64 + b"\r\n\r\n",
)

AIOHTTPS_OWN = 10.0
"""Seconds for which aiohttp by itself reads the rest of a body."""


def noise(number: int) -> bytes:
    """A well-formed request with some bytes of it changed."""
    chance = random.Random(number)
    request = bytearray(HEALTH)
    for _ in range(chance.randint(1, 6)):
        request[chance.randrange(len(request) - 4)] = chance.choice(b"\x00\r\n :/\xff9a")
    return bytes(request)


@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG])
async def test_a_malformed_request_is_one_line_at_debug(level: int, caplog: pytest.LogCaptureFixture) -> None:
    requests = [*MALFORMED, *map(noise, range(40))]
    with caplog.at_level(level):
        async with guarded(FakeSpeaker()) as server:
            for request in requests:
                reader, writer = await server.connect()
                writer.write(request)
                writer.write_eof()
                await ended(reader)
                writer.close()
    about = [record for record in caplog.records if record.name == "aiohttp.server"]
    assert not any(record.exc_info or record.levelno > logging.DEBUG for record in about)
    assert all("\n" not in record.getMessage() and len(record.getMessage()) < 200 for record in about)
    assert len(about) <= len(requests) if level == logging.DEBUG else not about


async def test_a_failure_that_is_no_clients_fault_keeps_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    async with guarded(FakeSpeaker()):
        logging.getLogger("aiohttp.server").error("Unhandled exception", exc_info=RuntimeError("ours"))
    assert [record.levelno for record in caplog.records if record.exc_info] == [logging.ERROR]


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_late_body_is_408_and_closed_at_once(chunked: bool) -> None:
    """The client goes on sending its body, a byte at a time. It has its answer, and soon its end."""
    length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: 1000"
    async with guarded(FakeSpeaker(), body_timeout=0.3) as server:
        reader, writer = await server.connect()
        writer.write(b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\n" + length + b"\r\n\r\n")
        answered = asyncio.create_task(answer(reader))
        while not answered.done():
            writer.write(b"1\r\nx\r\n" if chunked else b"x")
            await asyncio.wait((answered,), timeout=0.02)
        status, _, body = answered.result()
        assert (status, json.loads(body)["error"]["code"]) == (408, "request_timeout")
        with contextlib.suppress(ConnectionResetError):
            await asyncio.wait_for(ended(reader), AIOHTTPS_OWN * 0.8)
        writer.close()


async def answered(request: bytes, *, go_on: bool = False) -> int:
    """Status of a request's answer; with `go_on`, the connection must answer another one."""
    async with guarded(FakeSpeaker()) as server:
        reader, writer = await server.connect()
        writer.write(request)
        status = (await answer(reader))[0]
        if go_on:
            await asks_health(reader, writer)
        writer.close()
    return status


@pytest.mark.parametrize(
    ("target", "status"),
    [
        (b"http://evil.example/health", 403),
        (b"http://evil.example:80/health", 403),
        (b"https://evil.example/health", 403),
        (b"http://localhost@evil.example/health", 403),
        (b"http://localhost/health", 200),
        (b"http://127.0.0.1:8880/health", 200),
    ],
)
async def test_a_target_with_a_host_must_name_this_server(target: bytes, status: int) -> None:
    assert await answered(HEALTH.replace(b"/health", target)) == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (b"Referer: https://evil.example/page", 403),
        (b"Referer: http://evil.example:8880", 403),
        (b"Referer: http://localhost:3000/page", 400),
        (b"Referer: https://evil.example/page\r\nSec-Fetch-Site: none", 400),
        (b"Referer: about:client", 400),
        (b"", 400),
    ],
)
async def test_an_old_browsers_sound_of_another_sites_page_makes_no_work(headers: bytes, status: int) -> None:
    """400: the request reaches the handler, which misses the text."""
    head = b"GET /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n" * bool(headers) + b"\r\n"
    assert await answered(head, go_on=True) == status


async def test_what_follows_a_whole_body_is_the_next_request() -> None:
    async with guarded(FakeSpeaker()) as server:
        reader, writer = await server.connect()
        writer.write(raw_post(b"{}") + HEALTH)
        assert (await answer(reader))[0] == 400
        assert (await answer(reader))[0] == 200
        writer.close()


CORPUS = json.loads(Path(__file__).with_name("bad_requests.json").read_text())
LIMITS = FrontSettings(max_body_bytes=250_000, max_input_characters=5000)


def body_of(case: dict[str, Any]) -> bytes:
    match case:
        case {"body": body}:
            return json.dumps(body).encode()
        case {"raw": text}:
            return text.encode()
        case {"raw_hex": digits}:
            return bytes.fromhex(digits)
        case {"repeat": [before, part, times, after]}:
            return (before + part * times + after).encode()
    raise AssertionError(f"{case['name']} has no body")


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CORPUS])
async def test_is_refused_in_shape(case: dict[str, Any]) -> None:
    speaker = FakeSpeaker(speech(10))
    async with serving(speaker, LIMITS) as server, aiohttp.ClientSession(server.url) as client:
        async with client.post(
            case.get("path", "/v1/audio/speech"), data=body_of(case), headers=case.get("headers")
        ) as response:
            answer = await response.json()
            assert response.status == case["status"], answer
            assert response.headers["X-Request-Id"]
        error = answer["error"]
        assert answer == {"error": error}
        assert set(error) == {"message", "type", "param", "code"}
        assert error["type"] == "invalid_request_error"
        assert (error["param"], error["code"]) == (case.get("param"), case["code"]), error
        assert case.get("says", "") in error["message"]
        assert 0 < len(error["message"]) < 400
        assert speaker.opened == []
        async with client.post("/v1/audio/speech", json={"input": "still well"}) as response:
            assert response.status == 200


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


@given(BODIES)
def test_any_json_object(body: dict[str, Any]) -> None:
    check(json.dumps(body).encode())


@given(
    st.binary(max_size=200)
    | st.text().map(lambda text: text.encode("utf-16", "surrogatepass"))
    | ANYTHING.map(lambda value: json.dumps(value).encode())
)
@example(b"\xef\xbb\xbf{}")
@example(b"[" * 10_000)
def test_any_bytes(body: bytes) -> None:
    check(body)


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


async def test_a_length_of_100_mb_is_refused_before_the_body(tmp_path: Path) -> None:
    async with desk(tmp_path / "jobs") as at:
        headers = {"Content-Type": "multipart/form-data; boundary=b", "Content-Length": str(101 << 20)}
        async with at.session.post("/v1/jobs", headers=headers, data=_never()) as response:
            assert response.status == 413


async def _never() -> AsyncIterator[bytes]:
    yield b"--b\r\n"


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{}", "application/json", 415),
        (b"--b\r\n", "multipart/form-data", 400),
        (b"nothing of it", "multipart/form-data; boundary=b", 400),
        (b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n", "multipart/form-data; boundary=b", 400),
        (b"--b--\r\n", "multipart/form-data; boundary=b", 400),
        (
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n'
            b"Content-Transfer-Encoding: base64\r\n\r\neA==\r\n--b--\r\n",
            "multipart/form-data; boundary=b",
            400,
        ),
        (
            b'--b\r\nContent-Disposition: form-data; name="\xff"\r\n\r\nx\r\n--b--\r\n',
            "multipart/form-data; boundary=b",
            400,
        ),
        (
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n'
            + b'--b\r\nContent-Disposition: form-data; name="voice"\r\n\r\n\r\n' * 64
            + b"--b--\r\n",
            "multipart/form-data; boundary=b",
            400,
        ),
        (
            b'--b\r\nContent-Disposition: form-data; name="voice"\r\n\r\n\xff\xfe\r\n--b--\r\n',
            "multipart/form-data; boundary=b",
            400,
        ),
    ],
)
async def test_bodies_that_are_no_upload_are_refused(tmp_path: Path, body: bytes, kind: str, status: int) -> None:
    async with desk(tmp_path / "jobs") as at:
        async with at.session.post("/v1/jobs", data=body, headers={"Content-Type": kind}) as response:
            assert response.status == status, await response.text()
        assert at.kept == []


HEADS = (
    b'Content-Disposition: form-data; name="file"; filename="a\x00b.txt"',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nX\x00: y',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n: no name',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nno colon',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n folded',
    b'Content-Disposition: form-data; name="file"; filename="' + b"a" * 100_000 + b'"',
    b"Content-Disposition: form-data; name=file; filename*=utf-8''%ff%00%zz",
    b"Content-Disposition: form-data; name=file; filename*0*=x'y'z; filename*1=\"",
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Length: -5',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Length: x',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: \xff/\xfe; charset=none',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: multipart/mixed',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Encoding: gzip',
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n' + b"X: y\r\n" * 9_000,
)


def _noisy_head(seed: int) -> bytes:
    chance = random.Random(seed)
    head = bytearray(HEADS[1].replace(b"\x00", b"x"))
    for _ in range(chance.randint(1, 5)):
        head[chance.randrange(len(head))] = chance.choice(b'\x00\x01\t\r\n :;="\\\x7f\x80\xff%*')
    return bytes(head)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # aiohttp's, of odd Content-Disposition headers
async def test_no_header_of_a_part_is_a_failure_of_the_server(tmp_path: Path) -> None:
    async with desk(tmp_path / "jobs", max_jobs=500) as at:
        for head in (*HEADS, *map(_noisy_head, range(60))):
            body = b"--b\r\n" + head + b"\r\n\r\nHello.\r\n--b--\r\n"
            kept = len(at.kept)
            kind = {"Content-Type": "multipart/form-data; boundary=b"}
            async with at.session.post("/v1/jobs", data=body, headers=kind) as response:
                assert response.status in (202, 400), (head[:200], await response.text())
                assert len(at.kept) == kept + (response.status == 202)
