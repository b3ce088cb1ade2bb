"""The lists that clients fill their menus from, and what monitors ask."""

import aiohttp
import pytest

from tests.frontend.http_fakes import ENGINE, FakeSpeaker, asking, serving

MODELS = ["kokoro", "tts-1", "tts-1-hd", "gpt-4o-mini-tts"]


@pytest.mark.parametrize("prefix", ["/v1", ""])
@pytest.mark.parametrize("speaking", [True, False])
async def test_models_are_known_whether_anything_speaks_or_not(prefix: str, speaking: bool) -> None:
    speaker = FakeSpeaker(engine=ENGINE if speaking else None)
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        async with client.get(f"{prefix}/models") as response:
            listing = await response.json()
        async with client.get(f"{prefix}/audio/models") as response:
            assert [model["id"] for model in (await response.json())["models"]] == MODELS
        for model in listing["data"]:
            async with client.get(f"{prefix}/models/{model['id']}") as response:
                assert (response.status, await response.json()) == (200, model)
    assert listing["object"] == "list"
    assert [model["id"] for model in listing["data"]] == MODELS
    for model in listing["data"]:
        assert set(model) == {"id", "object", "created", "owned_by"}
        assert model["object"] == "model" and isinstance(model["created"], int)


@pytest.mark.parametrize("name", ["whisper-1", "a/b", "kokoro%20"])
async def test_an_unknown_model_is_404_in_shape(name: str) -> None:
    async with serving(FakeSpeaker()) as server, aiohttp.ClientSession() as client:
        async with client.get(f"{server.url}/v1/models/{name}") as response:
            error = (await response.json())["error"]
        assert (response.status, error["param"], error["code"]) == (404, "model", "model_not_found")


@pytest.mark.parametrize("path", ["/v1/audio/voices", "/audio/voices", "/v1/voices", "/voices"])
async def test_voices_are_the_engines(path: str) -> None:
    async with asking(FakeSpeaker(), path, method="GET") as response:
        voices = (await response.json())["voices"]
    assert [voice["id"] for voice in voices] == list(ENGINE.voice_names)
    by_id = {voice["id"]: voice for voice in voices}
    heart = {"id": "af_heart", "name": "af_heart", "language": "en-us", "gender": "female"}
    heart |= {"engine": "kokoro", "grade": "A"}
    besides = {} if "audio" in path else {"voice_id": "af_heart", "category": "premade"}
    assert by_id["af_heart"] == heart | besides
    assert (by_id["am_echo"]["gender"], by_id["bf_emma"]["language"]) == ("male", "en-gb")
    assert by_id["zf_xiaobei"]["language"] == "cmn"


_CARTESIA, _ELEVENLABS, _DEEPGRAM = {"Cartesia-Version": "1"}, {"xi-api-key": "any"}, {"Authorization": "Token any"}


@pytest.mark.parametrize(
    ("path", "headers", "status", "fields"),
    [
        ("/v1/models", _ELEVENLABS, 200, {"model_id", "token_cost_factor"}),
        ("/v1/models", _DEEPGRAM, 200, {"stt", "tts"}),
        ("/v1/models", _CARTESIA, 200, {"object", "data"}),
        ("/v1/voices", _CARTESIA, 200, {"data", "has_more"}),
        ("/v1/voices", _DEEPGRAM, 200, {"voices"}),
        ("/v1/voices/af_heart", _CARTESIA, 200, {"tagline", "locales"}),
        ("/v1/voices/af_heart", {}, 200, {"voice_id", "preview_url"}),
        ("/nowhere", _CARTESIA, 404, {"title", "status_code"}),
        ("/nowhere", _ELEVENLABS, 404, {"detail"}),
        ("/nowhere", _DEEPGRAM, 404, {"err_code", "err_msg"}),
        ("/nowhere", {}, 404, {"error"}),
    ],
)
async def test_shared_paths_answer_in_the_shape_of_the_service_whose_client_asks(
    path: str, headers: dict[str, str], status: int, fields: set[str]
) -> None:
    async with asking(FakeSpeaker(), path, method="GET", headers=headers) as response:
        found = await response.json()
    assert response.status == status
    assert fields <= set(found[0] if isinstance(found, list) else found)


async def test_voices_are_503_while_nothing_speaks() -> None:
    async with asking(FakeSpeaker(engine=None), "/v1/audio/voices", method="GET") as response:
        assert (response.status, response.headers["Retry-After"]) == (503, "3")
        assert (await response.json())["error"]["message"] == "the model is loading"


async def test_ready_follows_the_speaker_and_health_does_not() -> None:
    speaker = FakeSpeaker(engine=None)
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        async with client.get("/ready") as response:
            assert (response.status, response.headers["Retry-After"]) == (503, "3")
            assert await response.json() == {"ready": False, "reason": "the model is loading"}
        async with client.get("/health") as response:
            assert (response.status, await response.json()) == (200, {"status": "ok"})
        speaker.engine = ENGINE
        async with client.get("/ready") as response:
            assert response.status == 503, "its worker is being restarted: requests wait, but nothing speaks"
        speaker.reason = ""
        async with client.get("/ready") as response:
            assert response.status == 200
            assert await response.json() == {
                "ready": True,
                "engine": "kokoro",
                "provider": "CPUExecutionProvider",
                "model": "tiny.onnx",
            }
