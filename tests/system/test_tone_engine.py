"""An engine of another package, with its own sample rate, voices and language, is heard through every dialect."""

import asyncio
import base64
import io
import json
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import aiohttp
import av
import numpy as np
import pytest
from wyoming.info import Describe, Info
from wyoming.tts import Synthesize, SynthesizeVoice

from shm.audio import Pcm
from tests.frontend.wyoming_desk import Client, pcm
from tests.system.server import Server, server
from tests.system.test_wyoming import port_of
from tests.tone_engine import HERTZ, RATE

TEXT = "tone tone"
SECONDS = len(TEXT) / 20
TONE = ("--engine", "tests.tone_engine:TONE")


@pytest.fixture(scope="module")
def tone() -> Iterator[Server]:
    with server(*TONE, "--wyoming-port", "0") as started:
        yield started


def check(samples: Pcm, rate: int, voice: str = "low") -> None:
    """It is the text in that voice: the pitch and the length are right at that sample rate."""
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > 2_000)
    assert (loud[-1] - loud[0]) / rate == pytest.approx(SECONDS, abs=0.02)
    spectrum = np.abs(np.fft.rfft(samples[loud[0] : loud[0] + rate // 5]))
    assert spectrum.argmax() * 5 == pytest.approx(HERTZ[voice], abs=5)


def samples(audio: bytes) -> Pcm:
    return np.frombuffer(audio, "<i2")


def decoded(audio: bytes) -> tuple[Pcm, int]:
    resampler = av.AudioResampler("s16", "mono")
    with av.open(io.BytesIO(audio)) as container:
        parts = [part for frame in container.decode(audio=0) for part in resampler.resample(frame)]
    return np.concatenate([part.to_ndarray().ravel() for part in parts]), parts[0].sample_rate


def check_words(words: list[tuple[float, float]], audio: Pcm, rate: int) -> None:
    """Two words, which begin and end where their tones do."""
    loud = np.abs(audio.astype(np.int32)) > 2_000
    sounding = np.flatnonzero(loud) / rate
    gap = int(np.argmax(np.diff(sounding)))
    heard = [(sounding[0], sounding[gap]), (sounding[gap + 1], sounding[-1])]
    assert words == [pytest.approx(each, abs=0.02) for each in heard]


@pytest.mark.parametrize(("format_", "rate"), [("wav", 24_000), ("flac", 24_000), ("mp3", 24_000), ("wav", RATE)])
@pytest.mark.parametrize("streamed", [True, False])
def test_formats_of_openai(tone: Server, format_: str, rate: int, streamed: bool) -> None:
    """Without a rate the answer has the API's, whatever the engine's; the headers tell the answer's own."""
    asked = {"sample_rate": rate} if rate == RATE else {}
    with closing(tone.speak(input=TEXT, voice="high", response_format=format_, stream=streamed, **asked)) as response:
        audio, found = decoded(response.read())
    assert (response.getheader("X-Engine"), response.getheader("X-Sample-Rate"), found) == ("tone", str(rate), rate)
    check(audio, rate, "high")


def test_openais_voice_times_and_sentences(tone: Server) -> None:
    body = {"input": TEXT, "voice": "alloy", "stream": False, "timestamps": "word", "response_format": "pcm"}
    _, answer = tone.post("/v1/audio/speech", body)
    audio = samples(base64.b64decode(answer["audio"]))
    check(audio, answer["sample_rate"])
    check_words([(word["start"], word["end"]) for word in answer["words"]], audio, answer["sample_rate"])
    events = tone.hear(input="Tone. Tone.", stream_format="sse", timestamps="sentence", response_format="pcm")
    told = [json.loads(line[6:]) for line in events.decode().splitlines() if line.startswith("data: ")]
    begun = [event["sample"] for event in told if event["type"] == "speech.audio.sentence"]
    whole = samples(b"".join(base64.b64decode(each["audio"]) for each in told if "audio" in each))
    silent = np.flatnonzero(np.diff(np.flatnonzero(np.abs(whole.astype(np.int32)) > 64)) > 4_800)
    second = np.flatnonzero(np.abs(whole.astype(np.int32)) > 64)[silent[0] + 1]
    assert (begun[0], begun[1]) == (0, pytest.approx(second, abs=0.06 * 24_000))


def test_lists_of_voices(tone: Server) -> None:
    _, listed = tone.get("/v1/audio/voices")
    assert listed["default_voice"] == "low"
    told = [(each["id"], each["language"], each["gender"], each["engine"]) for each in listed["voices"]]
    assert told == [("low", "eo", "male", "tone"), ("high", "eo", "female", "tone")]
    assert [each["voice_id"] for each in tone.get("/v1/voices")[1]["voices"]] == ["low", "high"]
    assert tone.get("/status")[1]["engine"]["name"] == "tone"


def test_kokoro_fastapis_captions(tone: Server) -> None:
    body = {"input": TEXT, "voice": "high", "response_format": "wav", "stream": False, "return_timestamps": True}
    _, answer = tone.post("/dev/captioned_speech", body)
    audio, rate = decoded(base64.b64decode(answer["audio"]))
    check(audio, rate, "high")
    check_words([(word["start_time"], word["end_time"]) for word in answer["timestamps"]], audio, rate)


@pytest.mark.parametrize(
    ("path", "body", "rate"),
    [
        ("/v1/text-to-speech/high?output_format=pcm_16000", {"text": TEXT}, 16_000),
        ("/v1/text-to-speech/high/stream?output_format=pcm_22050", {"text": TEXT}, 22_050),
        ("/v1/text-to-speech/high?output_format=mp3_44100_128", {"text": TEXT}, 44_100),
        (
            "/tts/bytes",
            {
                "transcript": TEXT,
                "voice": {"mode": "id", "id": "high"},
                "output_format": {"container": "wav", "encoding": "pcm_s16le", "sample_rate": 16_000},
            },
            16_000,
        ),
        ("/v1/speak?model=high&encoding=linear16&container=none&sample_rate=8000", {"text": TEXT}, 8_000),
        ("/v1/speak?model=high&encoding=flac", {"text": TEXT}, 24_000),
    ],
)
def test_calls_of_other_services(tone: Server, path: str, body: dict[str, Any], rate: int) -> None:
    status, audio = tone.post(path, body)
    assert status == 200, audio
    heard, found = (samples(audio), rate) if "pcm_" in path or "none" in path else decoded(audio)
    assert found == rate
    check(heard, rate, "high")


async def _talk(tone: Server, path: str, messages: list[dict[str, Any]]) -> list[dict[str, Any] | bytes]:
    heard: list[dict[str, Any] | bytes] = []
    async with aiohttp.ClientSession() as session, session.ws_connect(f"http://127.0.0.1:{tone.port}{path}") as socket:
        for message in messages:
            await socket.send_json(message)
        async for answer in socket:
            heard.append(answer.data if answer.type is aiohttp.WSMsgType.BINARY else json.loads(answer.data))
            if isinstance(heard[-1], dict) and (heard[-1].get("isFinal") or heard[-1].get("done")):
                break
    return heard


async def test_sockets_of_elevenlabs_and_their_alignment(tone: Server) -> None:
    path = "/v1/text-to-speech/high/stream-input?output_format=pcm_22050&sync_alignment=true"
    heard = await _talk(tone, path, [{"text": f"{TEXT} "}, {"text": ""}])
    told = [each for each in heard if isinstance(each, dict)]
    audio = samples(b"".join(base64.b64decode(each["audio"]) for each in told if each.get("audio")))
    check(audio, 22_050, "high")
    starts = [start for each in told if each.get("alignment") for start in each["alignment"]["charStartTimesMs"]]
    assert starts[-1] / 1000 < len(audio) / 22_050 and starts[5] / 1000 == pytest.approx(0.25, abs=0.06)


async def test_sockets_of_cartesia_and_deepgram(tone: Server) -> None:
    asked = {"model_id": "m", "voice": {"mode": "id", "id": "high"}, "transcript": TEXT, "context_id": "c"}
    form = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 44_100}
    heard = await _talk(tone, "/tts/websocket", [{**asked, "output_format": form, "add_timestamps": True}])
    told = [each for each in heard if isinstance(each, dict)]
    audio = samples(b"".join(base64.b64decode(each["data"]) for each in told if each.get("data")))
    check(audio, 44_100, "high")
    (times,) = [each["word_timestamps"] for each in told if "word_timestamps" in each]
    check_words(list(zip(times["start"], times["end"], strict=True)), audio, 44_100)
    said = [{"type": "Speak", "text": TEXT}, {"type": "Flush"}, {"type": "Close"}]
    heard = await _talk(tone, "/v1/speak?model=high&encoding=linear16&sample_rate=16000", said)
    check(samples(b"".join(each for each in heard if isinstance(each, bytes))), RATE, "high")


async def test_wyoming_has_the_engines_own_rate(tone: Server) -> None:
    async with Client("127.0.0.1", port_of(tone)) as house:
        await house.say(Describe())
        info = Info.from_event((await house.until("info"))[-1])
        voices = [(voice.name, voice.languages, voice.attribution.name) for voice in info.tts[0].voices]
        assert voices == [("low", ["eo"], "the tests"), ("high", ["eo"], "the tests")]
        await house.say(Synthesize(TEXT, SynthesizeVoice(name="high")))
        events = await house.until("audio-stop")
    assert {event.data["rate"] for event in events if "rate" in event.data} == {RATE}
    check(pcm(events), RATE, "high")


def test_another_engine_with_another_rate_takes_over(tmp_path: Path) -> None:
    """A growing text that began with tones goes on with espeak-ng at the socket's rate; a new answer is espeak-ng's."""
    config = tmp_path / "config.toml"
    config.write_text('engine = "tests.tone_engine:NAMESAKE"\n')
    with server("--config", str(config)) as started:
        asyncio.run(_changed_midway(started, lambda: config.write_text('engine = "espeak"\n')))
        assert started.speak(input="Hello.").getheader("X-Engine") == "espeak-ng"


async def _changed_midway(started: Server, change: Callable[[], object]) -> None:
    path = f"http://127.0.0.1:{started.port}/v1/speak?encoding=linear16&sample_rate=24000"
    async with aiohttp.ClientSession() as session, session.ws_connect(path) as socket:
        before = await _spoken(socket, TEXT)
        change()
        start = len(started.log)
        started.process.send_signal(signal.SIGHUP)
        await asyncio.to_thread(started.logs, r"worker\[1\] has finished", start)
        after = await _spoken(socket, "Hello.")
    check(samples(before + after)[: round(0.5 * 24_000)], 24_000, "af_heart")  # resampling holds the last 40 ms back
    assert np.abs(samples(after)).max() > 2_000


async def _spoken(socket: aiohttp.ClientWebSocketResponse, text: str) -> bytes:
    await socket.send_json({"type": "Speak", "text": text})
    await socket.send_json({"type": "Flush"})
    audio = b""
    async for answer in socket:
        if answer.type is aiohttp.WSMsgType.BINARY:
            audio += answer.data
        elif json.loads(answer.data)["type"] == "Flushed":
            return audio
    raise AssertionError("the socket was closed")
