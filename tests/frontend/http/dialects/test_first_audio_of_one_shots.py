"""The time to first audio of the other services' one-shot calls begins with the request's header, not with its body's
end."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.frontend.http.dialects_desk import office

SLOWLY = 0.3


async def in_two_parts(body: bytes) -> AsyncIterator[bytes]:
    yield body[:5]
    await asyncio.sleep(SLOWLY)
    yield body[5:]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/text-to-speech/af_heart", b'{"text": "Hello there."}'),
        ("/v1/speak?model=af_heart", b'{"text": "Hello there."}'),
        ("/tts/bytes", b'{"transcript": "Hello there.", "voice": {"mode": "id", "id": "af_heart"}}'),
    ],
)
async def test_the_body_s_way_counts(path: str, body: bytes) -> None:
    async with office() as desk:
        async with desk.session.post(desk.url + path, data=in_two_parts(body)) as response:
            assert response.status == 200, await response.text()
            await response.read()
        spent = desk.metrics.registry.get_sample_value("kokoro_live_time_to_first_audio_seconds_sum")
        assert spent and spent >= SLOWLY * 0.9
