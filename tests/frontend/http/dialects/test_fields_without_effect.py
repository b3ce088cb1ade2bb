"""Fields of the other services' calls that change nothing are named: in a header, or on the socket if it has a way."""

import logging

import pytest

from tests.frontend.http.dialects_desk import closed, next_json, office
from tests.frontend.http.dialects_messages import CARTESIA, DEEPGRAM, ELEVENLABS, SENTENCE, error_after, speak

TEXT = "Two words."
VOICE = "/v1/text-to-speech/af_heart"
RAW = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000}
CARTESIAN = {"transcript": TEXT, "voice": {"mode": "id", "id": "af_heart"}, "output_format": RAW}

FULL_ELEVENLABS = {
    "text": TEXT,
    "model_id": "kokoro",
    "language_code": "en",
    "voice_settings": {"speed": 1.1},
    "apply_text_normalization": "off",
}


@pytest.mark.parametrize(
    ("path", "body", "named"),
    [
        (f"{VOICE}?output_format=pcm_24000", FULL_ELEVENLABS, None),
        (f"{VOICE}/stream", {"text": TEXT, "seed": 5, "previous_text": "Hi."}, "seed, previous_text"),
        (
            f"{VOICE}?optimize_streaming_latency=3&output_format=pcm_24000&enable_logging=false",
            {"text": TEXT, "model_id": "eleven_v3", "voice_settings": {"stability": 0.5, "speed": 1, "style": 0}},
            "optimize_streaming_latency, enable_logging, model_id, voice_settings.stability, voice_settings.style",
        ),
        (f"{VOICE}/with-timestamps", {"text": TEXT, "seed": 5}, "seed"),
        (f"{VOICE}/stream/with-timestamps?a=1", {"text": TEXT, "seed": 5}, "a, seed"),
        ("/tts/bytes", {**CARTESIAN, "model_id": "tts-1", "language": "en", "generation_config": {"speed": 1.1}}, None),
        ("/tts/bytes", {**CARTESIAN, "voice": "af_heart", "speed": "slow"}, None),
        (
            "/tts/bytes?cartesia_version=2025-04-16",
            {
                **CARTESIAN,
                "voice": {"mode": "embedding", "id": "af_heart", "embedding": [0.1]},
                "model_id": "sonic-3",
                "generation_config": {"speed": 1.1, "emotion": "sad", "volume": 2},
                "speed": "slow",
                "context_id": "a",
            },
            "cartesia_version, voice.embedding, context_id, voice.mode, model_id, speed, generation_config.emotion, "
            "generation_config.volume",
        ),
        (
            "/tts/bytes",
            {**CARTESIAN, "output_format": {"container": "mp3", "encoding": "pcm_s16le", "bit_rate": 64_000}},
            "output_format.encoding",
        ),
        ("/tts/bytes", {**CARTESIAN, "output_format": {**RAW, "bit_rate": 64_000}}, "output_format.bit_rate"),
        ("/v1/speak?model=af_heart&encoding=linear16&container=none&sample_rate=16000&speed=1.1", {"text": TEXT}, None),
        ("/v1/speak?encoding=opus&container=ogg&bit_rate=64000&sample_rate=48000", {"text": TEXT}, None),
        (
            "/v1/speak?encoding=mulaw&container=wav&bit_rate=64000&mip_opt_out=true&tag=a&tag=b",
            {"text": TEXT, "voice": "x"},
            "mip_opt_out, tag, voice, container, bit_rate",
        ),
    ],
)
async def test_a_call_names_its_fields_without_effect(path: str, body: object, named: str | None) -> None:
    async with office() as desk, desk.post(path, body) as response:
        assert response.status == 200, await response.text()
        assert response.headers.get("X-Warning") == (named and f"no effect: {named}")
        assert await response.read()


@pytest.mark.parametrize(
    ("path", "named"),
    [
        (
            f"{ELEVENLABS}&language_code=en&apply_text_normalization=off&enable_ssml_parsing=true&auto_mode=true"
            "&inactivity_timeout=60",
            None,
        ),
        (f"{ELEVENLABS}&model_id=eleven_v3&enable_logging=true", "model_id, enable_logging"),
        (CARTESIA, None),
        (f"{CARTESIA}?cartesia_version=2025-04-16", "cartesia_version"),
        (f"{DEEPGRAM}&encoding=mulaw&sample_rate=8000&speed=1.1", None),
        (f"{DEEPGRAM}&container=none&mip_opt_out=true", "container, mip_opt_out"),
    ],
)
async def test_an_upgrade_names_the_parameters_without_effect(path: str, named: str | None) -> None:
    async with office() as desk, desk.connect(path) as socket:
        assert socket._response.headers.get("X-Warning") == (named and f"no effect: {named}")


async def test_a_deepgram_socket_names_each_field_without_effect_once() -> None:
    async with office() as desk, desk.connect(DEEPGRAM) as socket:
        assert (await next_json(socket))["type"] == "Metadata"
        for extra in ({}, {"pitch": 1, "tone": 2}, {"pitch": 1}):
            await socket.send_json({**speak(DEEPGRAM, "Two "), **extra})
        await socket.send_json({"type": "Clear"})
        warned, cleared = await next_json(socket), await next_json(socket)
        assert (warned["type"], warned["warn_msg"], warned["code"]) == (
            "Warning",
            "no effect: pitch, tone",
            "NO_EFFECT",
        )
        assert cleared["type"] == "Cleared"


@pytest.mark.parametrize(
    ("path", "message", "named"),
    [
        (ELEVENLABS, {"voice_settings": {"stability": 1}, "generation_config": {}, "flush": True}, "generation_config"),
        (CARTESIA, {"add_phoneme_timestamps": True, "flush": True, "max_buffer_delay_ms": 0}, "add_phoneme_timestamps"),
    ],
)
async def test_a_socket_without_warnings_has_the_log_name_them(
    path: str, message: dict[str, object], named: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "frontend.dialects.socket")
    async with office() as desk, desk.connect(path) as socket:
        await socket.send_json({**speak(path, SENTENCE), **message})
        assert "error" not in await next_json(socket)
    [line] = [record.getMessage() for record in caplog.records if "no effect" in record.getMessage()]
    assert line.endswith(named)


async def test_names_without_end_are_not_all_kept() -> None:
    async with office() as desk, desk.connect(DEEPGRAM) as socket:
        assert (await next_json(socket))["type"] == "Metadata"
        for number in range(100):
            await socket.send_json({"type": "Speak", "text": "", f"field{number}": 1})
        await socket.send_json({"type": "Clear"})
        kinds = [(await next_json(socket))["type"]]
        while kinds[-1] != "Cleared":
            kinds.append((await next_json(socket))["type"])
        assert kinds.count("Warning") == 64


@pytest.mark.parametrize("wanted", ["soon", "-5", "1.5"])
async def test_a_timeout_that_is_no_whole_number_is_an_error(wanted: str) -> None:
    async with office() as desk, desk.connect(f"{ELEVENLABS}&inactivity_timeout={wanted}") as socket:
        assert await error_after(socket, ELEVENLABS) == "invalid_value"
        assert await closed(socket) == 1008
