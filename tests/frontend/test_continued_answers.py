"""What a killed front answered goes on from its successor: the same bytes of a file, every event of a socket once."""

import base64
import json
import random
import signal
from collections.abc import Iterator, Sequence
from http.client import RemoteDisconnected
from pathlib import Path
from typing import Any

import pytest

from frontend.serving.record import DEATHS
from tests.frontend.conversations import CONVERSATIONS, Conversation, Told
from tests.frontend.killable_fronts import Answer, Client, Fronts, fronts

TEXT = " ".join(f"Sentence number {number} has a few words more, and then it comes to its end." for number in range(12))
PLACES = ("unit-sent", "answer-sent", "before-headers", "after-headers", "chunk")
FORMATS = ("pcm", "wav", "mp3", "flac", "aac", "opus")


@pytest.fixture(scope="module")
def made() -> Iterator[Fronts]:
    with fronts(cache_bytes=0, adapt_plans=False) as started:
        yield started


def request(version: str = "1.1", path: str = "/v1/audio/speech", **fields: Any) -> bytes:
    body = json.dumps({"input": TEXT, "response_format": "pcm", **fields}).encode()
    head = f"POST {path} HTTP/{version}\r\nHost: localhost\r\nConnection: close\r\nX-Request-Id: one\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def undisturbed(made: Fronts, asked: bytes) -> Answer:
    return Client(made, asked).read_all()


def killed(made: Fronts, asked: bytes, whole: int, kills: int = 2, seed: int = 0) -> Answer:
    draw = random.Random(seed)
    client = Client(made, asked)
    for at in sorted(draw.randrange(whole) for _ in range(kills)):
        client.read(at)
        made.kill(draw.choice((signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP)))
    return client.read_all()


SLOW = pytest.mark.slow
"""Each test starts several fronts, a second of a core each: make test has one of each kind."""


@pytest.mark.parametrize("name", ["mp3", *(pytest.param(name, marks=SLOW) for name in FORMATS if name != "mp3")])
def test_a_file_is_the_same_after_kills_in_its_middle(made: Fronts, name: str) -> None:
    asked = request(response_format=name)
    whole = undisturbed(made, asked)
    answer = killed(made, asked, len(whole.wire), seed=FORMATS.index(name))
    assert answer.status == 200
    assert _content(name, answer.body) == _content(name, whole.body)


def _content(name: str, audio: bytes) -> bytes:
    """The audio without what differs from one answer to the next: Ogg's number of the stream, and its checksums."""
    if name != "opus":
        return audio
    pages = audio.split(b"OggS")
    assert len({page[10:14] for page in pages[1:]}) == 1, "pages of several streams"
    return b"OggS".join(page[:10] + page[22:] for page in pages)


@SLOW
def test_an_answer_is_continued_in_a_stream_that_nobody_has_recut(made: Fronts) -> None:
    """HTTP/1.0 has no chunks: the connection's end is the answer's."""
    asked = request("1.0", response_format="mp3")
    whole = undisturbed(made, asked)
    assert killed(made, asked, len(whole.wire), seed=1).body == whole.body


@pytest.mark.parametrize("name", ["wav", pytest.param("mp3", marks=SLOW), pytest.param("flac", marks=SLOW)])
def test_a_whole_answer_keeps_its_length(made: Fronts, name: str) -> None:
    asked = request(response_format=name, stream=False)
    whole = undisturbed(made, asked)
    answer = killed(made, asked, len(whole.wire), seed=len(name))
    assert answer.headers["Content-Length"] == str(len(answer.body))
    assert answer.body == whole.body


@SLOW
def test_a_silence_ahead_is_sent_once() -> None:
    with fronts(cache_bytes=0, adapt_plans=False, prime_silence=0.5) as primed:
        asked = request(response_format="pcm")
        whole = undisturbed(primed, asked)
        assert killed(primed, asked, len(whole.wire), seed=2).body == whole.body


def _events(body: bytes) -> dict[str, Any]:
    """What events or lines say, without how the audio is divided over them."""
    found: dict[str, Any] = {"audio": b"", "words": [], "sentences": [], "rest": []}
    at = 0
    for line in body.splitlines():
        if line.startswith(b"id: "):
            assert int(line[4:]) >= at
            at = int(line[4:])
        if line.startswith((b"data: ", b"{")):
            event = json.loads(line.removeprefix(b"data: "))
            audio = event.pop("audio", "") or event.pop("audio_base64", "")
            found["audio"] += base64.b64decode(audio)
            found["words"] += event.pop("words", []) + event.pop("timestamps", [])
            told = event.pop("sentences", [event] if event.get("type") == "speech.audio.sentence" else [])
            found["sentences"] += [(each["number"], each["text"], each["sample"]) for each in told]
            if not told and event.get("type") in ("speech.audio.start", "speech.audio.done"):
                found["rest"].append({name: event[name] for name in event if name != "lines"})
    return found


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/v1/audio/speech", {"stream_format": "sse", "timestamps": "sentence"}),
        pytest.param("/v1/audio/speech", {"stream_format": "sse", "response_format": "mp3"}, marks=SLOW),
        pytest.param(
            "/v1/audio/speech",
            {"stream_format": "jsonl", "timestamps": "sentence", "response_format": "opus"},
            marks=SLOW,
        ),
        pytest.param("/v1/audio/speech", {"stream_format": "jsonl", "timestamps": "word"}, marks=SLOW),
        pytest.param("/dev/captioned_speech", {"response_format": "mp3", "stream": True}, marks=SLOW),
        pytest.param("/dev/captioned_speech", {"response_format": "flac", "stream": False}, marks=SLOW),
        pytest.param("/v1/audio/speech", {"response_format": "wav", "stream": False, "timestamps": "word"}, marks=SLOW),
    ],
)
def test_nothing_is_told_twice(made: Fronts, path: str, fields: dict[str, Any]) -> None:
    asked = request(path=path, **fields)
    whole = undisturbed(made, asked)
    answer = killed(made, asked, len(whole.wire), kills=4, seed=len(str(fields)))
    told, once = _events(answer.body), _events(whole.body)
    told["audio"], once["audio"] = (_content(fields.get("response_format", ""), each["audio"]) for each in (told, once))
    assert told == once


@SLOW
def test_a_line_with_characters_is_told_once(made: Fronts) -> None:
    path = "/v1/text-to-speech/af_heart/stream/with-timestamps?output_format=pcm_24000"
    asked = request(path=path, text=TEXT)
    whole = undisturbed(made, asked)
    answer = killed(made, asked, len(whole.wire), kills=4, seed=9)
    audio, characters = zip(*map(_spelled, (answer.body, whole.body)), strict=True)
    assert audio[0] == audio[1]
    assert characters[0] == characters[1]


def _spelled(body: bytes) -> tuple[bytes, str]:
    lines = [json.loads(line) for line in body.splitlines()]
    spelled = "".join("".join(line["alignment"]["characters"]) for line in lines if line["alignment"])
    return b"".join(base64.b64decode(line["audio_base64"]) for line in lines), spelled


def test_a_connection_that_waits_is_served_by_the_next_front(made: Fronts) -> None:
    """The client asks twice on one connection, and the front is killed in between, and in the middle of a request."""
    asked = request(response_format="pcm").replace(b"Connection: close\r\n", b"")
    health = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    client = Client(made, health)
    client.read(1)
    client.read_to(b'{"status":"ok"}')
    made.kill()
    client.socket.sendall(health[:10])
    made.kill()
    client.socket.sendall(health[10:])
    client.read_to(b'{"status":"ok"}')
    client.socket.sendall(asked[:-100])
    made.kill()
    client.socket.sendall(asked[-100:])
    client.read(len(client.heard) + 5000)
    made.kill()
    client.read_to(b"\r\n0\r\n\r\n")
    client.socket.close()
    assert client.heard.count(b"HTTP/1.1 200") == 3


@SLOW
def test_a_request_that_fronts_die_of_is_ended_and_no_other(tmp_path: Path) -> None:
    order = tmp_path / "MainProcess.deadly"
    other = request(response_format="pcm", speed=1.5)
    with fronts(tmp_path, cache_bytes=0, adapt_plans=False) as mortal:
        whole = undisturbed(mortal, other)
        innocents = [Client(mortal, other) for _ in range(2)]
        for innocent in innocents:
            innocent.read(20_000)
        order.write_text("1")
        deadly = Client(mortal, request(response_format="pcm", input=f"This is deadly. {TEXT}"))
        deadly.allow()
        for _ in range(DEATHS):
            mortal.outlives(order)
        with pytest.raises(RemoteDisconnected):
            deadly.read_all()
        assert [innocent.read_all().body == whole.body for innocent in innocents] == [True, True]


def test_a_whole_clip_gets_further_at_each_front_that_dies(tmp_path: Path) -> None:
    """What workers have made of it isn't made again, though nothing of it was sent."""
    order = tmp_path / "MainProcess.deadly"
    asked = request(response_format="mp3", stream=False, input=TEXT.replace("few", "deadly"))
    many, deaths = 1000, 3
    with fronts(tmp_path, cache_bytes=0) as mortal:
        order.write_text(str(many))
        whole = undisturbed(mortal, asked)
        segments = many - int(order.read_text())
        order.write_text("3")
        client = Client(mortal, asked)
        client.allow()
        for death in range(deaths):
            mortal.outlives(order, 3 if death + 1 < deaths else many)
        assert client.read_all().body == whole.body
        assert many - int(order.read_text()) <= segments - deaths


@pytest.mark.parametrize("place", ["unit-kept", *(pytest.param(place, marks=SLOW) for place in PLACES)])
@pytest.mark.parametrize("name", ["mp3", pytest.param("wav", marks=SLOW)])
def test_a_kill_at_each_place_of_a_write_costs_nothing(tmp_path: Path, place: str, name: str) -> None:
    asked = request(response_format=name)
    with fronts(tmp_path, cache_bytes=0, adapt_plans=False) as mortal:
        whole = undisturbed(mortal, asked)
        (tmp_path / f"MainProcess.{place}").write_text("1")
        client = Client(mortal, asked)
        client.allow()
        mortal.outlives()
        assert client.read_all().body == whole.body


def converse(
    made: Fronts, spoken: Conversation, kills: Sequence[int] = (), seed: int = 0
) -> tuple[dict[str, Told], int]:
    """Told contexts, and the number of their bytes. Half of the input is sent after the first kill.

    Args:
        kills: bytes of the answer after which the front is killed.
    """
    draw = random.Random(seed)
    client = Client(made, spoken.opening, wyoming=not spoken.path)
    if spoken.opening:
        client.wait(lambda wire: b"\r\n\r\n" in wire)
    half = len(spoken.input) // 2
    client.socket.sendall(b"".join(spoken.input[:half]))
    for number, at in enumerate(kills):
        client.read(at)
        made.kill(draw.choice((signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP)))
        if not number:
            client.socket.sendall(b"".join(spoken.input[half:]))
    if not kills:
        client.socket.sendall(b"".join(spoken.input[half:]))
    client.wait(lambda wire: spoken.told(bytes(wire))[1])
    client.socket.close()
    return spoken.told(bytes(client.heard))[0], len(client.heard)


SHORT = ("elevenlabs", "wyoming")


@pytest.mark.parametrize("name", [name if name in SHORT else pytest.param(name, marks=SLOW) for name in CONVERSATIONS])
def test_every_event_is_told_once_after_kills(made: Fronts, name: str) -> None:
    spoken, draw = CONVERSATIONS[name], random.Random(len(name))
    once, length = converse(made, spoken)
    told, _ = converse(made, spoken, sorted(draw.randrange(200, length) for _ in range(3)), len(name))
    assert told == once


@SLOW
@pytest.mark.parametrize("name", [*CONVERSATIONS])
@pytest.mark.parametrize("place", ["unit-kept", "unit-sent"])
def test_a_kill_at_each_place_of_a_sockets_write_costs_nothing(tmp_path: Path, place: str, name: str) -> None:
    with fronts(tmp_path, cache_bytes=0) as mortal:
        once, _ = converse(mortal, CONVERSATIONS[name])
        (tmp_path / f"MainProcess.{place}").write_text("5")
        spoken = CONVERSATIONS[name]
        client = Client(mortal, spoken.opening, wyoming=not spoken.path)
        with client.socket:
            if spoken.opening:
                client.wait(lambda wire: b"\r\n\r\n" in wire)
            client.socket.sendall(b"".join(spoken.input))
            client.allow()
            mortal.outlives()
            client.wait(lambda wire: spoken.told(bytes(wire))[1])
            assert spoken.told(bytes(client.heard))[0] == once
