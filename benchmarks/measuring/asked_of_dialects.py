"""The requests, conversations and events that each checkout's server answers for `benchmarks.same_bytes`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wyoming.event import Event

TEXT = "Hello there, Dr. Smith. It is 10:30 on 5 May 2024, and 3 km cost $4.50!"
LONG = "The quick brown fox jumps over the lazy dog, and then it rests for a while in the shade. " * 6
SHORT = "Good evening."
LANGUAGES = {
    "es": "Hola, son las 3 y media.",
    "fr-fr": "Bonjour, il est 15 h 30.",
    "it": "Ciao, costa 5 euro.",
    "pt-br": "Bom dia, são 3 km.",
    "hi": "नमस्ते, आप कैसे हैं?",
    "en-gb": "The lift costs £3.",
    "de": "Guten Tag.",
    "ja": "こんにちは。",
    "cmn": "你好。",
}
PROCESS = ("/health", "/ready", "/v1/models")
Message = dict[str, Any]


def speech(**fields: Any) -> tuple[str, str, dict[str, Any]]:
    """A request for speech, as WAV samples without a header unless it says otherwise."""
    return "POST", "/v1/audio/speech", {"input": TEXT, "response_format": "pcm", **fields}


def requests() -> Iterator[tuple[str, str, Any]]:
    """Method, path and body of each request over HTTP. A body that is no dict is sent as it is."""
    yield from _speech()
    yield from _kokoro_fastapi()
    yield from _services()
    yield from _rest()


def _speech() -> Iterator[tuple[str, str, Any]]:
    for name in ("mp3", "opus", "aac", "flac", "wav", "pcm"):
        yield speech(response_format=name)
        yield speech(response_format=name, stream=False, input=SHORT)
        yield speech(response_format=name, sample_rate=48000, input=SHORT)
    for language, text in LANGUAGES.items():
        yield speech(lang=language, input=text)
    yield speech(input=LONG)
    for fields in (
        {"speed": 1.5},
        {"speed": 0.25, "input": SHORT},
        {"volume_multiplier": 0.5},
        {"voice": {"id": "nova"}},
        {"voice": "alloy"},
        {"stream_format": "sse"},
        {"stream_format": "sse", "timestamps": "word"},
        {"stream_format": "sse", "sentences": True},
        {"timestamps": "word", "stream": False},
        {"input": "One [pause:0.5s] two [tomato](/təˈmeɪtoʊ/).", "markup": "basic"},
        {"input": "One [rate:0.8]slow[/rate] [voice:nova]two.", "markup": "tags"},
        {"input": "<speak>One <break time='300ms'/> <mark name='m'/>two</speak>", "markup": "ssml"},
        {"input": "<speak>One", "markup": "ssml"},
        {"input": "A *Markdown* [link](https://example.org) and `code`.\n\n- one\n- two\n", "markup": "none"},
        {"normalization_options": {"normalize": False}},
        {"normalization_options": {"unit_normalization": False}},
        {"input": "…"},
        {"input": "---"},
        {"instructions": "Be happy", "foo": {"bar": 1}},
        {"model": "unknown"},
        {"user": "me", "on_busy": "interrupt"},
        {"return_download_link": True, "response_format": "mp3", "input": SHORT},
        {"priority": "idle", "input": SHORT},
    ):
        yield speech(**fields)
    for bad in (
        {"input": ""},
        {"input": 3},
        {"input": None},
        {"voice": "nobody"},
        {"voice": ""},
        {"voice": "af_heart(2)+"},
        {"speed": 9},
        {"speed": "fast"},
        {"response_format": "caff"},
        {"format": "nope", "response_format": None},
        {"sample_rate": 12345, "response_format": "mp3"},
        {"sample_rate": 1},
        {"lang": "klingon"},
        {"lang": "x" * 100},
        {"markup": "html"},
        {"stream_format": "ndjson"},
        {"input": "[rate:9]x", "markup": "tags"},
        {"timestamps": "letter"},
        {"phonemes": "hɛloʊ", "input": "x"},
        {"phonemes": "@@@", "input": None},
        {"input": "x" * 200_000},
        {"on_busy": "wait"},
        {"stream": "yes"},
        {"volume_multiplier": 99},
    ):
        yield speech(**bad)
    yield "POST", "/v1/audio/speech", "{"
    yield "POST", "/v1/audio/speech", "[]"
    yield "POST", "/v1/audio/speech", b"\xff\xfe"
    yield "PUT", "/v1/audio/speech", {}
    yield "GET", "/v1/audio/speech?input=Hello.&response_format=wav&speed=1.2&unknown=1", None
    yield "GET", "/v1/audio/speech?input=Hello.&speed=x", None
    turns = [{"voice": "alloy", "text": "Who is there?"}, {"text": "It is me."}]
    dialogues: tuple[dict[str, Any], ...] = (
        {"turns": turns},
        {"inputs": turns, "pause_between_turns": 0.5},
        {"turns": []},
        {"input": "x"},
        {},
    )
    for fields in dialogues:
        yield "POST", "/v1/audio/dialogue", {"response_format": "pcm", **fields}
    yield "POST", "/v1/audio/dialogue", {"turns": [{"text": " "}]}
    yield "POST", "/dev/dialogue", {"response_format": "pcm", "turns": turns}


def with_headers() -> Iterator[tuple[dict[str, str], tuple[str, str, Any]]]:
    """Requests over HTTP with headers of their own, and those that came later than a record may be."""
    for accept in ("audio/x-wav", "audio/L16;rate=16000", "audio/flac;q=0.5, audio/pcm", "*/*", "audio/midi"):
        yield {"Accept": accept}, ("POST", "/v1/audio/speech", {"input": SHORT})
    for fields in ({"stream_format": "jsonl"}, {"stream_format": "jsonl", "timestamps": "sentence"}):
        yield {}, speech(**fields)
    for last_event in ("24000", "none"):
        yield {"Last-Event-ID": last_event}, speech(stream_format="sse", timestamps="sentence")
    yield {"Accept": "application/octet-stream"}, ("GET", "/v1/audio/speech?input=Hello.", None)


def _kokoro_fastapi() -> Iterator[tuple[str, str, Any]]:
    for fields in ({"stream": False}, {"stream": True}, {"return_timestamps": True, "stream": False}, {"voice": "no"}):
        yield "POST", "/dev/captioned_speech", {"input": TEXT, "response_format": "wav", **fields}
    yield "POST", "/dev/phonemize", {"text": TEXT, "language": "a"}
    yield "POST", "/dev/phonemize", {"input": "Hola.", "lang": "es"}
    yield "POST", "/dev/phonemize", {"input": 1}
    yield "POST", "/dev/generate_from_phonemes", {"phonemes": "həlˈoʊ wˈɜːld"}
    yield "POST", "/dev/generate_from_phonemes", {"text": "x"}
    yield "POST", "/dev/ssml", {"text": "<speak>One <break time='1s'/> two</speak>"}
    yield "POST", "/dev/ssml", {"text": "<speak>"}
    yield "POST", "/v1/audio/voices/combine", {"voices": ["a"]}
    yield "GET", "/v1/audio/voices", None
    yield "GET", "/v1/voices", None
    yield "GET", "/v1/test", None
    yield "GET", "/v1/download/nothing.mp3", None


def _services() -> Iterator[tuple[str, str, Any]]:
    voice = "/v1/text-to-speech/alloy"
    for path in (voice, f"{voice}/stream", f"{voice}/with-timestamps", f"{voice}/stream/with-timestamps"):
        yield "POST", f"{path}?output_format=pcm_24000", {"text": TEXT, "model_id": "eleven_flash"}
        yield "POST", path, {"text": SHORT, "voice_settings": {"speed": 1.2, "style": 1}}
        yield "POST", path, {"text": " "}
        yield "POST", path, {"text": 5}
        yield "POST", f"{path}?output_format=nope", {"text": SHORT}
        yield "POST", path, {"text": SHORT, "apply_text_normalization": "maybe"}
        yield "POST", path, {"text": SHORT, "voice_settings": {"speed": 99}}
        yield "POST", path, {"text": "…"}
        yield "POST", f"{path}?output_format=ulaw_8000", {"text": SHORT, "language_code": "es"}
        yield "POST", f"{path}?output_format=mp3_44100_128", {"text": SHORT, "apply_text_normalization": "off"}
    yield "POST", "/v1/text-to-speech/nobody", {"text": SHORT}
    yield "POST", voice, {"text": "x" * 200_000}
    yield "GET", f"{voice}/stream-input", None
    for output in (
        {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000},
        {"container": "raw", "encoding": "pcm_f32le", "sample_rate": 44100},
        {"container": "raw", "encoding": "pcm_mulaw"},
        {"container": "wav", "encoding": "pcm_s16le"},
        {"container": "mp3", "bit_rate": 64000, "encoding": "pcm_s16le"},
        {"container": "wav", "encoding": "pcm_f32le"},
        {"container": "ogg"},
        {"encoding": 4},
        None,
    ):
        body = {
            "transcript": TEXT,
            "voice": {"mode": "id", "id": "alloy"},
            "output_format": output,
            "model_id": "sonic",
        }
        yield "POST", "/tts/bytes", body
    cartesia = {"transcript": SHORT, "voice": {"mode": "id", "id": "alloy"}}
    asked: tuple[dict[str, Any], ...] = (
        {"speed": "fast"},
        {"speed": "warp"},
        {"speed": 1.1, "generation_config": {"speed": 1.3}},
        {"voice": "alloy", "language": "es"},
        {"voice": {"mode": "embedding", "id": "alloy"}},
        {"voice": {}},
        {"transcript": ""},
        {"generation_config": 3},
        {"foo": 1},
    )
    for fields in asked:
        yield "POST", "/tts/bytes", {**cartesia, **fields}
    for query in (
        "",
        "?encoding=linear16",
        "?encoding=linear16&container=none&sample_rate=16000",
        "?encoding=mulaw",
        "?encoding=opus&bit_rate=32000",
        "?encoding=flac",
        "?encoding=nope",
        "?sample_rate=1",
        "?sample_rate=x",
        "?model=nobody",
        "?model=alloy&speed=1.4",
        "?speed=x",
        "?speed=99",
        "?encoding=flac&bit_rate=32000&container=ogg&foo=1&foo=2",
    ):
        yield "POST", f"/v1/speak{query}", {"text": SHORT, "foo": 1}
    yield "POST", "/v1/speak", {"text": ""}
    yield "POST", "/v1/speak", {}
    yield "GET", "/v1/speak", None
    yield "POST", "/v1/speak", "nonsense"


def _rest() -> Iterator[tuple[str, str, Any]]:
    yield "POST", "/v1/text/sentences", {"paragraphs": ["Dr. Smith came. He left.", "Bldg. 7 is new."], "lang": "en"}
    yield "POST", "/v1/text/sentences", {"paragraphs": "x"}
    for path in (*PROCESS, "/v1/models/kokoro", "/v1/models/x", "/v1/audio/models", "/openapi.json", "/nothing", "/"):
        yield "GET", path, None
    yield "GET", "/docs", None
    yield "GET", "/v1/play", None
    yield "POST", "/v1/play", {"input": 3}
    yield "POST", "/v1/play", {"foo": "x"}
    yield "PATCH", "/v1/play", {"volume": 5}
    yield "DELETE", "/v1/play/play-x", None
    yield "GET", "/v1/jobs", None
    yield "GET", "/v1/jobs/x", None
    yield "POST", "/v1/jobs", {}
    yield "OPTIONS", "/v1/audio/speech", None


def conversations() -> Iterator[tuple[str, list[Message]]]:
    """Path and messages of each WebSocket; the server's side is read until nothing more comes."""
    voice = "/v1/text-to-speech/alloy"
    single, multi = (
        f"{voice}/stream-input?output_format=pcm_24000",
        f"{voice}/multi-stream-input?output_format=pcm_24000",
    )
    yield single, [{"text": " "}, {"text": "Hello there. "}, {"text": "How are you?"}, {"text": ""}]
    yield (
        f"{single}&auto_mode=true",
        [{"text": "One."}, {"text": "Two", "voice_settings": {"speed": 1.4}}, {"text": ""}],
    )
    yield f"{single}&enable_ssml_parsing=true", [{"text": "<speak>One <break time='1s'/> two</speak>"}, {"text": ""}]
    yield f"{single}&inactivity_timeout=x", []
    yield f"{voice}/stream-input?output_format=no", []
    yield "/v1/text-to-speech/nobody/stream-input", []
    yield single, [{"text": 3}]
    yield single, [{"text": "a", "voice_settings": {"speed": 77}}]
    yield (
        multi,
        [
            {"text": "First one. ", "context_id": "a"},
            {"context_id": "a", "flush": True},
            {"context_id": "a", "close_context": True},
            {"text": "Again", "context_id": "a"},
            {"close_socket": True},
        ],
    )
    yield (
        multi,
        [
            {"text": "Hi.", "contextId": "b", "foo": 1},
            {"contextId": "b", "close_context": True},
            {"close_socket": True},
        ],
    )
    cartesia = {"model_id": "m", "voice": {"mode": "id", "id": "alloy"}, "output_format": {"sample_rate": 24000}}
    yield "/tts/websocket", [{**cartesia, "transcript": TEXT, "context_id": "c", "add_timestamps": True}]
    yield (
        "/tts/websocket",
        [
            {**cartesia, "transcript": "One. ", "context_id": "c", "continue": True},
            {**cartesia, "transcript": "Two", "context_id": "c", "continue": True, "flush": True},
            {**cartesia, "transcript": "", "context_id": "c", "continue": False},
        ],
    )
    yield "/tts/websocket", [{"transcript": "x", "context_id": "c"}, {"context_id": "c", "cancel": True}]
    yield "/tts/websocket", [{**cartesia, "transcript": 3, "context_id": "c"}]
    yield "/tts/websocket", [{**cartesia, "transcript": "x", "voice": "nobody", "context_id": "c", "speed": "warp"}]
    yield (
        "/v1/speak?encoding=linear16&sample_rate=24000",
        [
            {"type": "Speak", "text": TEXT},
            {"type": "Flush"},
            {"type": "Speak", "text": SHORT, "foo": 1},
            {"type": "Flush"},
            {"type": "Clear"},
            {"type": "Odd"},
            {"type": "Flush"},
            {"type": "Close"},
        ],
    )
    yield "/v1/speak?encoding=opus", []
    yield "/v1/speak?model=nobody", []
    yield "/v1/speak", [{"type": 3}]


def wyoming_events() -> Iterator[list[Event]]:
    """The events of each Wyoming connection."""
    yield [Event("describe")]
    yield [Event("ping", {"text": "x"})]
    yield [Event("synthesize", {"text": TEXT})]
    yield [Event("synthesize", {"text": "Hola.", "voice": {"language": "es"}})]
    yield [Event("synthesize", {"text": SHORT, "voice": {"name": "nobody"}})]
    yield [Event("synthesize", {"text": 3})]
    yield [Event("synthesize", {"text": "<speak>One", "text_format": "ssml"})]
    yield [Event("synthesize-chunk", {"text": "x"})]
    yield [
        Event("synthesize-start", {}),
        Event("synthesize-chunk", {"text": "One two. "}),
        Event("synthesize-chunk", {"text": "Three"}),
        Event("synthesize-stop", {}),
    ]
