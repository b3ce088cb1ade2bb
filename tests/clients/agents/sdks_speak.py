"""Run in an environment with the SDKs of ElevenLabs, Cartesia, Deepgram and Google, unchanged from PyPI: makes each
call, as their READMEs and examples do, with another address alone, and prints what came. Azure's calls are those of its
documentation.

Usage: python sdks_speak.py http(s)://HOST:PORT. Prints one JSON object: bytes or things that came by call, or the
error's class.
"""

from __future__ import annotations

import asyncio
import io
import json
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any
from urllib.request import Request, urlopen

from cartesia import AsyncCartesia, Cartesia
from deepgram import AsyncDeepgramClient, DeepgramClient
from deepgram.environment import DeepgramClientEnvironment
from deepgram.speak.v1.types import SpeakV1Text
from deepgram.speak.v2.types import SpeakV2Configure, SpeakV2Interrupt, SpeakV2InterruptPlaybackOffset, SpeakV2Speak
from elevenlabs import DialogueInput, VoiceSettings
from elevenlabs.client import AsyncElevenLabs, ElevenLabs
from google.auth import api_key
from google.cloud import texttospeech, texttospeech_v1beta1
from google.cloud.texttospeech_v1.services.text_to_speech.transports import TextToSpeechRestTransport
from google.cloud.texttospeech_v1beta1.services.text_to_speech.transports import (
    TextToSpeechRestTransport as BetaRestTransport,
)

HTTP, KEY = sys.argv[1], "any"
WS = HTTP.replace("http", "ws", 1)
SECURE = HTTP.startswith("https:")
"""The SDKs expect TLS of sockets; without it two of them must be told their address too."""
GEORGE, RACHEL = "JBFqnCBsd6RMkjVDRZzb", "21m00Tcm4TlvDq8ikWAM"
TESSA = "6ccbfb76-1fc6-48f7-b71d-91ac6298247b"
TEXT = "The first move is what sets everything in motion."
TURNS = [DialogueInput(text="Who is there?", voice_id=GEORGE), DialogueInput(text="It is me.", voice_id=RACHEL)]

found: dict[str, Any] = {}


def size(parts: Iterable[bytes]) -> int:
    return sum(map(len, parts))


def call(name: str, made: Callable[[], Any]) -> None:
    try:
        found[name] = made()
    except Exception as error:
        found[name] = f"{type(error).__name__} {getattr(error, 'status_code', '')}".strip()


def elevenlabs() -> None:
    client = ElevenLabs(base_url=HTTP, api_key=KEY)
    if not SECURE:
        client.text_to_speech._ws_base_url = WS
    speech, asked = client.text_to_speech, {"text": TEXT, "voice_id": GEORGE, "model_id": "eleven_v3"}
    call("elevenlabs text_to_speech.convert", lambda: size(speech.convert(**asked, output_format="mp3_44100_128")))
    call("elevenlabs text_to_speech.stream", lambda: size(speech.stream(**asked, output_format="pcm_24000")))
    call(
        "elevenlabs text_to_speech.convert with settings",
        lambda: size(speech.convert(**asked, voice_settings=VoiceSettings(stability=0.5, speed=1.1))),
    )
    timed = lambda: speech.convert_with_timestamps(**asked)  # noqa: E731
    call("elevenlabs text_to_speech.convert_with_timestamps", lambda: len(timed().alignment.characters))
    lines = lambda: [line.alignment for line in speech.stream_with_timestamps(**asked)]  # noqa: E731
    call(
        "elevenlabs text_to_speech.stream_with_timestamps",
        lambda: sum(len(line.characters) for line in lines() if line),
    )
    call(
        "elevenlabs text_to_speech.convert_realtime",
        lambda: size(speech.convert_realtime(voice_id=RACHEL, text=iter(["Hello ", "there."]), model_id="any")),
    )
    dialogue = client.text_to_dialogue
    call("elevenlabs text_to_dialogue.convert", lambda: size(dialogue.convert(inputs=TURNS)))
    call("elevenlabs text_to_dialogue.stream", lambda: size(dialogue.stream(inputs=TURNS, output_format="pcm_24000")))
    segments = lambda: dialogue.convert_with_timestamps(inputs=TURNS).voice_segments  # noqa: E731
    call(
        "elevenlabs text_to_dialogue.convert_with_timestamps",
        lambda: [[each.voice_id, each.dialogue_input_index] for each in segments()],
    )
    call(
        "elevenlabs text_to_dialogue.stream_with_timestamps",
        lambda: sorted(
            {
                segment.voice_id
                for line in dialogue.stream_with_timestamps(inputs=TURNS)
                for segment in line.voice_segments
            }
        ),
    )
    call("elevenlabs voices.search", lambda: client.voices.search(search="George").voices[0].voice_id)
    call("elevenlabs voices.get_all", lambda: len(client.voices.get_all().voices))
    call("elevenlabs voices.get", lambda: client.voices.get(GEORGE).voice_id)
    call("elevenlabs voices.settings.get", lambda: client.voices.settings.get(GEORGE).speed)
    call("elevenlabs voices.settings.get_default", lambda: client.voices.settings.get_default().speed)
    call("elevenlabs models.list", lambda: [model.model_id for model in client.models.list()])
    call("elevenlabs user.get", lambda: client.user.get().subscription.tier)
    call("elevenlabs user.subscription.get", lambda: client.user.subscription.get().status)
    call("elevenlabs history.list", lambda: len(client.history.list().history))
    call("elevenlabs voices.get of nobody", lambda: client.voices.get("nobody"))
    call("elevenlabs text_to_sound_effects.convert", lambda: size(client.text_to_sound_effects.convert(text="rain")))

    async def together() -> int:
        several = AsyncElevenLabs(base_url=HTTP, api_key=KEY)
        return sum([len(part) async for part in several.text_to_speech.stream(**asked)])

    call("elevenlabs async text_to_speech.stream", lambda: asyncio.run(together()))


def cartesia() -> None:
    client = Cartesia(base_url=HTTP, api_key=KEY, **({} if SECURE else {"websocket_base_url": WS}))
    raw = {"container": "raw", "encoding": "pcm_f32le", "sample_rate": 44100}
    asked: dict[str, Any] = {
        "model_id": "sonic-3",
        "transcript": TEXT,
        "voice": {"mode": "id", "id": TESSA},
        "output_format": raw,
    }
    call(
        "cartesia tts.generate",
        lambda: len(client.tts.generate(**asked | {"output_format": {"container": "wav", **raw_wav()}}).read()),
    )
    events = lambda **more: list(client.tts.generate_sse(**asked, **more))  # noqa: E731
    call("cartesia tts.generate_sse", lambda: size(event.audio for event in events() if event.type == "chunk"))
    call(
        "cartesia tts.generate_sse with timestamps",
        lambda: [word for each in events(add_timestamps=True) for word in words_of(each)],
    )

    def by_socket() -> int:
        with client.tts.websocket_connect() as connection:
            context = connection.context(**{name: asked[name] for name in ("model_id", "voice", "output_format")})
            context.push(TEXT)
            context.no_more_inputs()
            return size(each.audio for each in context.receive() if each.type == "chunk" and each.audio)

    call("cartesia tts.websocket_connect", by_socket)
    call("cartesia voices.list", lambda: len(list(client.voices.list())))
    call("cartesia voices.get", lambda: client.voices.get(TESSA).id)
    call("cartesia voices.get of nobody", lambda: client.voices.get("nobody"))
    call("cartesia voices.clone", lambda: client.voices.clone(clip=io.BytesIO(b"x"), name="x", language="en"))

    async def together() -> int:
        several = AsyncCartesia(base_url=HTTP, api_key=KEY)
        answer = await several.tts.generate(**asked)
        return len(await answer.read())

    call("cartesia async tts.generate", lambda: asyncio.run(together()))


def raw_wav() -> dict[str, Any]:
    return {"encoding": "pcm_s16le", "sample_rate": 44100}


def words_of(event: Any) -> list[str]:
    return list(event.word_timestamps.words) if event.type == "timestamps" else []


def deepgram() -> None:
    server = DeepgramClientEnvironment(base=HTTP, production=WS, agent=WS, agent_rest=HTTP)
    client = DeepgramClient(api_key=KEY, environment=server)
    generate = client.speak.v1.audio.generate
    call("deepgram speak.v1.audio.generate", lambda: size(generate(text=TEXT, model="aura-2-thalia-en")))
    call(
        "deepgram speak.v1.audio.generate linear16",
        lambda: size(generate(text=TEXT, model="aura-asteria-en", encoding="linear16", sample_rate=24000)),
    )
    call(
        "deepgram speak.v2.audio.generate",
        lambda: size(client.speak.v2.audio.generate(text=TEXT, model="flux-alexis-en")),
    )

    def by_socket() -> int:
        came = 0
        with client.speak.v1.connect(model="aura-2-thalia-en", encoding="linear16", sample_rate=24000) as socket:
            socket.send_text(SpeakV1Text(text=TEXT))
            socket.send_flush()
            ends = time.monotonic() + 60
            while time.monotonic() < ends:
                message = socket.recv()
                if isinstance(message, bytes):
                    came += len(message)
                elif message.type == "Flushed":
                    return came
        return 0

    def by_turns() -> int:
        came, told = 0, []
        with client.speak.v2.connect(model="flux-alexis-en", encoding="linear16", sample_rate="24000") as socket:
            socket.send_configure(SpeakV2Configure(speed=0.9))
            socket.send_speak(SpeakV2Speak(text=TEXT))
            socket.send_flush()
            socket.send_speak(SpeakV2Speak(text=TEXT))
            socket.send_close()
            for message in socket:
                if isinstance(message, bytes):
                    came += len(message)
                else:
                    told.append(message.type)
        turn = ["SpeechStarted", "SpeechMetadata"]
        assert [each for each in told if each != "Flushed"] == [
            *("Connected", "ConfigureSuccess", *turn, *turn, "SessionMetadata")
        ], told
        return came

    def interrupted() -> list[str]:
        with client.speak.v2.connect(model="flux-alexis-en", encoding="linear16", sample_rate="24000") as socket:
            socket.send_speak(SpeakV2Speak(text=f"{TEXT} " * 9))
            while not isinstance(socket.recv(), bytes):
                pass
            offset = SpeakV2InterruptPlaybackOffset(value=500)
            socket.send_interrupt(SpeakV2Interrupt(playback_offset=offset))
            while isinstance(message := socket.recv(), bytes):
                pass
            return [message.type, message.text_spoken]

    call("deepgram speak.v1.connect", by_socket)
    call("deepgram speak.v2.connect", by_turns)
    call("deepgram speak.v2.connect interrupted", interrupted)
    call("deepgram manage.v1.models.list", lambda: len(client.manage.v1.models.list().tts))
    call(
        "deepgram listen.v1.media.transcribe_url",
        lambda: client.listen.v1.media.transcribe_url(url="https://example.com/a.wav"),
    )

    async def together() -> int:
        several = AsyncDeepgramClient(api_key=KEY, environment=server)
        return sum([len(part) async for part in several.speak.v1.audio.generate(text=TEXT, model="aura-2-orion-en")])

    call("deepgram async speak.v1.audio.generate", lambda: asyncio.run(together()))


def google() -> None:
    host, scheme, key = HTTP.partition("//")[2], HTTP.partition(":")[0], api_key.Credentials(KEY)
    plain = {"host": host, "url_scheme": scheme, "credentials": key}
    client = texttospeech.TextToSpeechClient(transport=TextToSpeechRestTransport(**plain))
    beta = texttospeech_v1beta1.TextToSpeechClient(transport=BetaRestTransport(**plain))
    female = texttospeech.SsmlVoiceGender.FEMALE
    asked: dict[str, Any] = {
        "input": texttospeech.SynthesisInput(text=TEXT),
        "voice": texttospeech.VoiceSelectionParams(language_code="en-US", ssml_gender=female),
        "audio_config": texttospeech.AudioConfig(audio_encoding=texttospeech.AudioEncoding.MP3),
    }
    call("google synthesize_speech", lambda: len(client.synthesize_speech(**asked).audio_content))
    named = texttospeech.VoiceSelectionParams(language_code="en-US", name="en-US-Neural2-J")
    call(
        "google synthesize_speech by name",
        lambda: len(client.synthesize_speech(**asked | {"voice": named}).audio_content),
    )
    nobody = texttospeech.VoiceSelectionParams(language_code="en-US", name="nobody")
    call("google synthesize_speech of nobody", lambda: client.synthesize_speech(**asked | {"voice": nobody}))
    marked = {
        "input": {"ssml": '<speak>Go from <mark name="here"/> here, to <mark name="there"/> there!</speak>'},
        "voice": {"language_code": "en-US"},
        "audio_config": {"audio_encoding": "LINEAR16"},
        "enable_time_pointing": ["SSML_MARK"],
    }
    points = lambda: beta.synthesize_speech(request=marked).timepoints  # noqa: E731
    call("google synthesize_speech with marks", lambda: [point.mark_name for point in points()])
    call("google list_voices", lambda: len(client.list_voices().voices))
    call("google list_voices of a language", lambda: len(beta.list_voices(language_code="fr-FR").voices))


def azure() -> None:
    def ask(path: str, headers: dict[str, str], body: bytes | None = None) -> bytes:
        with urlopen(Request(HTTP + path, data=body, headers=headers)) as answer:
            read: bytes = answer.read()
            return read

    key = {"Ocp-Apim-Subscription-Key": KEY}
    document = b"""<speak version='1.0' xml:lang='en-US'><voice xml:lang='en-US' xml:gender='Male'
        name='en-US-ChristopherNeural'>I'm excited to try text to speech!</voice></speak>"""
    wanted = {"X-Microsoft-OutputFormat": "riff-24khz-16bit-mono-pcm", "Content-Type": "application/ssml+xml"}

    def spoken() -> int:
        token = ask("/sts/v1.0/issueToken", key, b"").decode()
        return len(ask("/cognitiveservices/v1", {"Authorization": f"Bearer {token}"} | wanted, document))

    call("azure cognitiveservices/v1", spoken)
    call("azure cognitiveservices/voices/list", lambda: len(json.loads(ask("/cognitiveservices/voices/list", key))))


elevenlabs()
cartesia()
deepgram()
google()
azure()
print(json.dumps(found))
