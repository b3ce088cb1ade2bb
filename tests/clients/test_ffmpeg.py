"""FFmpeg's own programs, which half of all players are made of: each format, streamed and whole, short and long."""

import io
import json
import wave
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.clients.programs import needs, pipe, run
from tests.frontend.audio.hearing import FRAME, PADDING
from tests.system.oracle import sentences
from tests.system.server import Server

pytestmark = needs("ffmpeg", "ffprobe")

TEXT = sentences(2)
CODECS = {"mp3": "mp3", "opus": "opus", "aac": "aac", "flac": "flac", "wav": "pcm_s16le"}
"""Formats by ffprobe's names; pcm has no header, so ffprobe needs its parameters."""

FRESH = {"Cache-Control": "no-store"}


def spoken(espeak: Server, text: str, name: str, *, streamed: bool) -> bytes:
    body = json.dumps({"input": text, "response_format": name, "stream": streamed})
    connection = espeak.connect()
    connection.request("POST", "/v1/audio/speech", body, FRESH)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    assert response.status == 200, data
    assert (response.getheader("Content-Length") is None) == streamed
    return data


def decoded(data: bytes, *flags: str) -> NDArray[np.int16]:
    """The decoded samples; with `-xerror`, only if the decoder has nothing to complain of."""
    return np.frombuffer(run(["ffmpeg", "-v", "error", *flags, "-i", "-", "-f", "s16le", "-"], data), "<i2")


@pytest.mark.parametrize("text", ["Yes.", TEXT], ids=["a word", "two sentences"])
@pytest.mark.parametrize("name", [*CODECS, "pcm"])
def test_a_stream_sounds_as_the_whole_file_does(espeak: Server, text: str, name: str) -> None:
    """Both files agree to the sample, also where the codec is lossy: the same encoder made both.

    A stream of mp3 can't say which samples are padding (the whole file does), nor can AAC in ADTS.
    """
    flags = ["-f", "s16le", "-ar", "24000", "-ac", "1"] if name == "pcm" else []
    # A streamed WAV is shorter than its header says: OpenAI's is, too.
    strictly = [] if name == "wav" else ["-xerror"]
    stream = decoded(spoken(espeak, text, name, streamed=True), *flags, *strictly)
    whole = decoded(spoken(espeak, text, name, streamed=False), *flags, "-xerror")
    if name == "mp3":
        stream = stream[PADDING[name] :]
        assert abs(len(stream) - len(whole)) <= FRAME[name]
        length = min(len(stream), len(whole))
        stream, whole = stream[:length], whole[:length]
    assert np.array_equal(stream, whole)
    if name in ("flac", "wav", "pcm"):
        assert np.array_equal(whole, np.frombuffer(espeak.hear(input=text, response_format="pcm"), "<i2"))


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
def test_ffprobe_knows_what_it_is(espeak: Server, name: str, streamed: bool) -> None:
    data = spoken(espeak, TEXT, name, streamed=streamed)
    shown = ["-show_entries", "stream=codec_name,sample_rate,channels", "-of", "json"]
    (found,) = json.loads(run(["ffprobe", "-v", "error", *shown, "-"], data))["streams"]
    expected: dict[str, Any] = {"codec_name": CODECS[name], "sample_rate": "24000", "channels": 1}
    if name == "opus":
        expected["sample_rate"] = "48000"  # whatever it was made from: RFC 7845
    assert found == expected


@pytest.mark.parametrize(
    "command",
    [
        "ffmpeg -v error -f s16le -ar 24000 -ac 1 -i - -f wav -",
        pytest.param("sox -t raw -r 24000 -e signed -b 16 -c 1 - -t wav -", marks=needs("sox")),
    ],
)
@needs("curl")
def test_curl_into_a_converter(espeak: Server, command: str) -> None:
    body = json.dumps({"input": TEXT, "response_format": "pcm"})
    url = f"http://127.0.0.1:{espeak.port}/v1/audio/speech"
    with wave.open(io.BytesIO(pipe(f"curl -sfN {url} -d '{body}' | {command}"))) as made:
        assert made.readframes(1 << 30) == espeak.hear(input=TEXT, response_format="pcm")


@needs("curl", "ffplay")
def test_curl_into_ffplay(espeak: Server) -> None:
    """It plays to the end, at the pace of sound, on a sound card that isn't there."""
    body = json.dumps({"input": "Yes.", "response_format": "pcm"})
    url = f"http://127.0.0.1:{espeak.port}/v1/audio/speech"
    play = "ffplay -v error -nodisp -autoexit -f s16le -ar 24000 -"
    pipe(f"curl -sfN {url} -d '{body}' | {play}", SDL_AUDIODRIVER="dummy", PATH="/usr/local/bin:/usr/bin:/bin")
