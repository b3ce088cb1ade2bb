"""Ways by which other programs ask for speech. Each speaks one sentence, and measures what was heard."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from client.answers import CannotSpeak, reason_of, user_key
from client.asynchronous import AsyncClient
from client.blocking import BlockingClient
from shm.audio import SAMPLE_RATE

SENTENCE = "Hello. This is kokoro-live, and we are connected."

SECONDS = 60.0
"""Seconds within which the sentence must have been heard."""

SILENCE = -60.0
"""dB of full scale below which nothing was heard."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Speech that came by one of the ways."""

    seconds: float
    level: float
    """The root mean square in dB of full scale; minus infinity for silence."""

    @classmethod
    def of(cls, pcm: bytes) -> Heard:
        """Measure `shm.audio`'s samples."""
        samples = np.frombuffer(pcm, "<i2").astype(np.float64) / 32768
        power = float(np.mean(samples**2)) if len(samples) else 0.0
        return cls(len(samples) / SAMPLE_RATE, 10 * float(np.log10(power)) if power else -np.inf)

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s at {self.level:.0f} dB"

    def checked(self) -> Heard:
        """
        Raises:
            CannotSpeak: that is no speech.
        """
        if self.seconds < 0.5 or self.level < SILENCE:
            raise CannotSpeak(f"{self} came, and that is no speech")
        return self


def decoded(audio: bytes) -> Heard:
    """Speech in a file of any format.

    Raises:
        CannotSpeak: it is no audio.
    """
    import av

    try:
        with av.open(io.BytesIO(audio), "r") as file:
            resampler = av.AudioResampler("s16", "mono", SAMPLE_RATE)
            frames = [each for frame in file.decode(audio=0) for each in resampler.resample(frame)]
            frames += resampler.resample(None)
            return Heard.of(b"".join(frame.to_ndarray().tobytes() for frame in frames))
    except av.FFmpegError as error:
        raise CannotSpeak(f"{len(audio)} bytes came that are no audio: {error}") from error


def posted(url: str, path: str, body: Mapping[str, Any]) -> Heard:
    """The speech of one POST, in a file's format."""
    return decoded(BlockingClient(url).whole(path, dict(body)))


def openai(url: str, voice: str, form: str = "mp3") -> Heard:
    body = {"model": "kokoro", "input": SENTENCE, "voice": voice, "response_format": form}
    return posted(url, "/v1/audio/speech", body)


def raw_samples(url: str, voice: str) -> Heard:
    body = {"text": SENTENCE, "voice": voice, "format": "pcm", "stream": True}
    return Heard.of(BlockingClient(url).whole("/v1/audio/speech", body))


def elevenlabs(url: str, voice: str) -> Heard:
    return posted(url, f"/v1/text-to-speech/{voice}/stream", {"text": SENTENCE, "model_id": "kokoro"})


def cartesia(url: str, voice: str) -> Heard:
    output = {"container": "wav", "encoding": "pcm_s16le", "sample_rate": SAMPLE_RATE}
    asked = {"mode": "id", "id": voice}
    return posted(url, "/tts/bytes", {"transcript": SENTENCE, "voice": asked, "output_format": output})


def azure(url: str, voice: str) -> Heard:
    document = f'<speak version="1.0" xml:lang="en-US"><voice name="{voice}">{SENTENCE}</voice></speak>'
    headers = {"Content-Type": "application/ssml+xml", "X-Microsoft-OutputFormat": "riff-24khz-16bit-mono-pcm"}
    return decoded(BlockingClient(url, headers=headers).whole("/cognitiveservices/v1", document.encode()))


def google(url: str, voice: str) -> Heard:
    asked = {"input": {"text": SENTENCE}, "voice": {"name": voice}, "audioConfig": {"audioEncoding": "MP3"}}
    answer = json.loads(BlockingClient(url).whole("/v1/text:synthesize", asked))
    return decoded(base64.b64decode(answer["audioContent"]))


def elevenlabs_socket(url: str, voice: str) -> Heard:
    """Ask as LiveKit's and Pipecat's clients for ElevenLabs do: a context on a socket that can have several."""
    context = {"context_id": "hello"}
    return _over_socket(
        url,
        f"/v1/text-to-speech/{voice}/multi-stream-input?output_format=pcm_{SAMPLE_RATE}",
        [{"text": f"{SENTENCE} ", "flush": True, **context}, {"close_context": True, **context}],
        lambda answer: answer.get("audio"),
        lambda answer: bool(answer.get("isFinal")),
    )


def cartesia_socket(url: str, voice: str) -> Heard:
    """Ask as Pipecat's client for Cartesia does."""
    output = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": SAMPLE_RATE}
    asked = {"transcript": SENTENCE, "voice": {"mode": "id", "id": voice}, "output_format": output}
    return _over_socket(
        url,
        "/tts/websocket",
        [{"context_id": "hello", "continue": False, **asked}],
        lambda answer: answer.get("data"),
        lambda answer: bool(answer.get("done")),
    )


def _over_socket(
    url: str,
    path: str,
    messages: Sequence[Mapping[str, Any]],
    audio: Callable[[Mapping[str, Any]], str | None],
    is_last: Callable[[Mapping[str, Any]], bool],
) -> Heard:
    async def heard() -> Heard:
        client = AsyncClient(url, user_key())
        pcm = b""
        try:
            async with aclosing(client.socket(path, messages)) as answers:
                async for answer in answers:
                    if "error" in answer:
                        raise CannotSpeak(str(answer.get("message") or answer["error"]))
                    pcm += base64.b64decode(audio(answer) or "")
                    if is_last(answer):
                        break
        finally:
            await client.close()
        return Heard.of(pcm)

    return _within_time(heard)


def _within_time(hear: Callable[[], Awaitable[Heard]]) -> Heard:
    async def limited() -> Heard:
        async with asyncio.timeout(SECONDS):
            return await hear()

    try:
        return asyncio.run(limited())
    except TimeoutError as error:
        raise CannotSpeak(f"no speech came within {SECONDS:.0f} s") from error


def wyoming(host: str, port: int, voice: str) -> Heard:
    """Ask as Home Assistant does."""

    async def heard() -> Heard:
        from wyoming.audio import AudioChunk, AudioStop
        from wyoming.client import AsyncTcpClient
        from wyoming.error import Error
        from wyoming.tts import Synthesize, SynthesizeVoice

        pcm = b""
        async with AsyncTcpClient(host, port) as client:
            await client.write_event(Synthesize(SENTENCE, SynthesizeVoice(voice)).event())
            while event := await client.read_event():
                if AudioChunk.is_type(event.type):
                    pcm += AudioChunk.from_event(event).audio
                elif Error.is_type(event.type):
                    raise CannotSpeak(Error.from_event(event).text)
                elif AudioStop.is_type(event.type):
                    break
        return Heard.of(pcm)

    try:
        return _within_time(heard)
    except OSError as error:
        raise CannotSpeak(f"nobody speaks Wyoming at {host}:{port} ({reason_of(error)})") from error


def agent_tool(command: str, arguments: Sequence[str], environment: Mapping[str, str], voice: str) -> Heard:
    """Ask as Claude or Cursor does: the command is started as their settings say, and its tool is called."""

    async def heard() -> Heard:
        from mcp import StdioServerParameters
        from mcp.client import Client

        started = StdioServerParameters(command=command, args=[*arguments], env={**os.environ, **environment})
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "hello.wav")
            async with Client(started) as client:
                asked = {"text": SENTENCE, "path": str(file), "voice": voice}
                answer = await client.call_tool("render", asked)
            if answer.is_error:
                raise CannotSpeak(" ".join(getattr(part, "text", "") for part in answer.content))
            return decoded(await asyncio.to_thread(file.read_bytes))

    return _within_time(heard)


_BLOCK = re.compile(rb"705-AUDIO\0(.*?)\n705 AUDIO\n", re.DOTALL)
_ESCAPED = re.compile(rb"\x7d(.)", re.DOTALL)
_RATE = re.compile(rb"705-sample_rate=(\d+)")


def speech_module(program: Path) -> Heard:
    """Ask as Speech Dispatcher does: its module is started, and given a text in Speech Dispatcher's protocol."""
    lines = ["INIT", "AUDIO", "audio_output_method=server", ".", "SPEAK", f"<speak>{SENTENCE}</speak>", "."]
    with subprocess.Popen(
        [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as module:
        assert module.stdin and module.stdout
        limit = threading.Timer(SECONDS, module.kill)
        limit.start()
        try:
            module.stdin.write("".join(f"{line}\n" for line in lines).encode())
            module.stdin.flush()
            said = b""
            while (line := module.stdout.readline()) and not re.match(rb"(30\d|70[234]) ", line):
                said += line
            module.stdin.write(b"QUIT\n")
            module.stdin.close()
        except BrokenPipeError as error:
            raise CannotSpeak(f"{program} ended") from error
        finally:
            limit.cancel()
            module.kill()
    pcm = b"".join(_ESCAPED.sub(lambda found: bytes([found[1][0] ^ 0x20]), block) for block in _BLOCK.findall(said))
    rates = {int(rate) for rate in _RATE.findall(said)}
    if rates - {SAMPLE_RATE}:
        raise CannotSpeak("espeak-ng spoke in place of the server")
    return Heard.of(pcm)
