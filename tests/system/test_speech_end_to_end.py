"""The whole server, from HTTP to the engine's samples and back; what is sent ahead, and one client's burst."""

import base64
import http.client
import io
import json
import re
import socket
import threading
import time
import uuid
import wave

import numpy as np
import pytest

from tests.frontend.http_fakes import events_of
from tests.frontend.segments import segments_of
from tests.system.conftest import CommonServer
from tests.system.listening import LONG
from tests.system.oracle import NOTATION, samples_of, sentences
from tests.system.server import DEADLINE, Server
from tests.system.shared import SharedServer
from text.g2p import G2P
from text.pipeline import TextPipeline


def samples(data: bytes) -> np.ndarray:
    return np.frombuffer(data, "<i2")


def test_every_sample_of_fifty_sentences_arrives_once_and_in_order(miniature: Server) -> None:
    text = sentences(50)
    got = samples(miniature.hear(input=text, response_format="pcm"))
    assert np.array_equal(got, samples_of(text))


def test_streams_side_by_side_do_not_mix(miniature: Server) -> None:
    texts = [sentences(n) for n in (3, 5, 7, 9)]
    got: dict[int, np.ndarray] = {}

    def ask(number: int) -> None:
        got[number] = samples(miniature.hear(input=texts[number], response_format="pcm", speed=1.5))

    askers = [threading.Thread(target=ask, args=(number,)) for number in range(len(texts))]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    for number, text in enumerate(texts):
        assert np.array_equal(got[number], samples_of(text, 1.5))


@pytest.mark.parametrize("text", ["...", "---", "*", "🙂", "|---|---|", "\u200b", "<speak></speak>"])
def test_every_engine_answers_a_text_without_sound_alike(miniature: Server, espeak: Server, text: str) -> None:
    for started in (miniature, espeak):
        answer = started.speak(input=text, ssml=True, response_format="pcm")
        assert (answer.status, answer.headers["X-Speakable"]) == (200, "none"), started.announcement
        assert answer.read() == bytes(2 * 2400)
        events = started.hear(input=text, ssml=True, stream_format="sse").decode()
        assert '"usage":{"input_tokens":0,"output_tokens":0,"total_tokens":0}' in events.replace(" ", "")


def test_readiness_lists_and_counters_over_the_real_socket(miniature: Server) -> None:
    assert miniature.get("/health") == (200, {"status": "ok"})
    status, ready = miniature.get("/ready")
    assert (status, ready["engine"], ready["model"]) == (200, "kokoro", "miniature.onnx")
    _, voices = miniature.get("/v1/audio/voices")
    assert [voice["id"] for voice in voices["voices"]] == ["af_heart", "am_adam", "bf_emma"]
    miniature.hear(input="Count me.", response_format="pcm")
    _, metrics = miniature.get("/metrics")
    assert 'kokoro_live_engine_info{engine="kokoro"' in metrics
    assert "kokoro_live_queue_depth 0.0" in metrics


def test_a_fresh_machine_speaks_intelligible_wav(espeak: Server) -> None:
    data = bytearray(espeak.hear(input="Hello from a fresh machine.", response_format="wav"))
    assert "espeak-ng" in espeak.announcement
    data[4:8] = (len(data) - 8).to_bytes(4, "little")  # streamed WAV doesn't know its size
    data[40:44] = (len(data) - 44).to_bytes(4, "little")
    with wave.open(io.BytesIO(bytes(data))) as clip:
        assert (clip.getframerate(), clip.getnchannels(), clip.getsampwidth()) == (24_000, 1, 2)
        audio = samples(clip.readframes(clip.getnframes()))
    assert 1.0 < len(audio) / 24_000 < 4.0
    assert np.abs(audio).max() > 3_000


def test_the_first_samples_leave_before_the_last_are_made(miniature: Server) -> None:
    response = miniature.speak(input=LONG, response_format="pcm")
    first = response.read(4800)
    _, metrics = miniature.get("/metrics")
    assert "kokoro_live_active_streams 1.0" in metrics, "it is still being spoken"
    assert np.array_equal(samples(first + response.read()), samples_of(LONG))


def test_events_count_tokens_and_frames(miniature: Server) -> None:
    text = sentences(9)
    tokens = sum(segment.tokens for segment in segments_of(TextPipeline(G2P()), text, "en-us", NOTATION))
    body = miniature.hear(input=text, response_format="pcm", stream_format="sse")
    *deltas, done = events_of(body)
    heard = samples(b"".join(base64.b64decode(delta["audio"]) for delta in deltas))
    assert np.array_equal(heard, samples_of(text))
    frames = -(-len(heard) // 600)
    assert done["usage"] == {"input_tokens": tokens, "output_tokens": frames, "total_tokens": tokens + frames}


def test_a_stream_that_broke_continues_at_its_last_event(miniature: Server) -> None:
    text = sentences(9)
    body = json.dumps({"input": text, "response_format": "pcm", "stream_format": "sse"})
    broken, again = miniature.connect(), miniature.connect()
    broken.request("POST", "/v1/audio/speech", body)
    response = broken.getresponse()
    had = b"".join(response.readline() for _ in range(3 * 40))  # data, id and an empty line
    broken.close()
    last = had.splitlines()[-2].removeprefix(b"id: ").decode()
    again.request("POST", "/v1/audio/speech", body, {"Last-Event-ID": last, "Cache-Control": "no-store"})
    rest = again.getresponse().read()
    again.close()
    heard = [base64.b64decode(each["audio"]) for each in events_of(had + rest) if "audio" in each]
    assert len(events_of(had)) == 40 and len(events_of(rest)) > 40
    assert np.array_equal(samples(b"".join(heard)), samples_of(text))


@pytest.mark.slow
def test_health_answers_while_a_long_text_is_being_read(espeak: Server) -> None:
    text = sentences(150)
    assert len(text) > 9_000
    stop = threading.Event()
    asker = threading.Thread(target=lambda: (espeak.hear(input=text, response_format="pcm"), stop.set()))
    asker.start()
    waits = []
    while not stop.is_set():
        started = time.perf_counter()
        assert espeak.get("/health")[0] == 200
        waits.append(time.perf_counter() - started)
        time.sleep(0.02)  # questions without a pause would take a core from the reading
    asker.join()
    # Far above the promise, for a busy machine that may stand still itself; benchmarks/overhead.py measures it.
    assert max(waits) < max(1.0, sum(waits) / 4)


RING = 20.0
"""Seconds: the default of `--ring-seconds`."""
CLIENTS_BUFFER = 8192
"""Bytes that the client's own system takes, as it was told to; the system allows itself twice that."""


def sent_at_rest(of: Server) -> float:
    """Seconds that have left for the only stream, once no more leave."""
    last, since = -1.0, time.monotonic()
    end = since + DEADLINE
    while time.monotonic() < end:
        streams = of.get("/status")[1]["streams"]
        sent = streams[0]["seconds_sent"] if streams else 0.0
        assert sent >= last, "all of it has left"
        if sent != last:
            last, since = sent, time.monotonic()
        elif sent and time.monotonic() - since > 2.0:
            return float(sent)
        time.sleep(0.1)
    raise TimeoutError


@pytest.mark.parametrize(("response_format", "bytes_per_second"), [("pcm", 48_000), ("mp3", 8_000)])
def test_a_reader_who_reads_nothing_is_sent_no_more_than_a_ring(
    common: CommonServer, response_format: str, bytes_per_second: int
) -> None:
    started = common.calm()
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, CLIENTS_BUFFER)
        deaf.connect(("127.0.0.1", started.port))
        body = json.dumps({"input": sentences(36), "response_format": response_format}).encode()
        head = f"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        deaf.sendall(head.encode() + body)
        sent = sent_at_rest(started)
        assert sent <= RING + 2 * CLIENTS_BUFFER / bytes_per_second


BURST = 8

SLOWLY = 0.25
"""The speed: a long sound for little work, so that the burst's later sentences are due long after a newcomer's."""


def sentence(number: int) -> str:
    return f"Number {number} of many."


class Asker(threading.Thread):
    """Asks for a sentence as Open WebUI does, and reads all of it."""

    def __init__(self, started: Server, session: str, text: str) -> None:
        super().__init__()
        self._connection = started.connect()
        self._session = session
        self.name = f"{session}-{uuid.uuid4().hex}"
        """Also the request's, by which the server's log says when it was answered."""
        self.text = text
        self.status = 0
        self.data = b""

    def run(self) -> None:
        body = json.dumps({"input": self.text, "response_format": "pcm", "speed": SLOWLY})
        headers = {"Content-Type": "application/json", "X-Session": self._session, "X-Request-Id": self.name}
        self._connection.request("POST", "/v1/audio/speech", body, headers)
        response: http.client.HTTPResponse = self._connection.getresponse()
        self.status = response.status
        self.data = response.read()


def test_a_burst_is_answered_whole_and_lets_others_in(laborious: SharedServer) -> None:
    """The worker stands still until all have asked, so that the order is the front's choice alone."""
    started = laborious.calm()
    Asker(started, "before", "Something to be measured by.").run()
    burst = [Asker(started, "burst", sentence(number)) for number in range(BURST)]
    other = Asker(started, "other", "And this is for somebody else.")
    worker = started.child("worker[")
    worker.suspend()
    try:
        for asker in burst:
            asker.start()
        started.await_streams(BURST)
        other.start()
        started.await_streams(BURST + 1)
    finally:
        worker.resume()
    for asker in [*burst, other]:
        asker.join()
    for asker in [*burst, other]:
        assert asker.status == 200, asker.data
        assert asker.data == samples_of(asker.text, SLOWLY).astype("<i2").tobytes()
    for asker in [*burst, other]:
        started.logs(rf"200 .* {asker.name}$")
    # Clients on a busy machine don't see the order: their threads run when they can.
    answered = re.findall(r"200 .* ((?:burst|other)-[0-9a-f]{32})$", "\n".join(started.log), re.MULTILINE)
    before = answered.index(other.name)
    assert before < BURST // 2, f"{before} of the burst's sentences went before the other client's"


def test_a_machine_without_a_sound_card_says_so(plain: SharedServer) -> None:
    """`test_metrics` shows that the same server ends with 0."""
    mute = plain.calm()
    status, answer = mute.post("/v1/play", {"input": "Hello."})
    assert (status, answer["error"]["code"]) == (501, "no_sound_card")
    _, report = mute.get("/status")
    assert report["player"]["output"] == "" and report["player"]["reason"] in answer["error"]["message"]
    assert mute.get("/v1/play")[1]["state"] == "idle"
