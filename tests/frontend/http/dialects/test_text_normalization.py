"""ElevenLabs' `apply_text_normalization`: how numbers reach the engine."""

import pytest

from tests.frontend.http.dialects_desk import Office, next_json, office, until

PATH = "/v1/text-to-speech/af_heart"
PRICE = "The ticket for the concert costs $250."
IN_WORDS = "two hundred"


def scripts(desk: Office) -> str:
    """The text that the engine was given."""
    return " ".join(order.script for order in desk.workers[0].orders)


async def over_a_socket(desk: Office, wanted: str) -> None:
    path = f"{PATH}/multi-stream-input?output_format=pcm_24000&apply_text_normalization={wanted}"
    async with desk.connect(path) as socket:
        await socket.send_json({"text": f"{PRICE} ", "context_id": "a", "flush": True})
        await socket.send_json({"context_id": "a", "close_context": True})
        await until(socket, "isFinal")


async def in_one_call(desk: Office, wanted: str) -> None:
    body = {"text": PRICE, "apply_text_normalization": wanted}
    async with desk.post(f"{PATH}?output_format=pcm_24000", body) as response:
        assert response.status == 200 and await response.read()


@pytest.mark.parametrize("ask", [over_a_socket, in_one_call])
@pytest.mark.parametrize(("wanted", "written_out"), [("auto", True), ("on", True), ("", True), ("off", False)])
async def test_numbers_are_written_out_unless_the_client_says_off(ask: object, wanted: str, written_out: bool) -> None:
    assert callable(ask)
    async with office() as desk:
        await ask(desk, wanted)
        assert (IN_WORDS in scripts(desk)) is written_out
        assert ("250" in scripts(desk)) is not written_out


async def test_any_other_value_is_an_error() -> None:
    async with office() as desk:
        body = {"text": PRICE, "apply_text_normalization": "sometimes"}
        async with desk.post(PATH, body) as response:
            assert response.status == 400 and "auto, on or off" in await response.text()
        async with desk.connect(f"{PATH}/stream-input?apply_text_normalization=sometimes") as socket:
            assert "auto, on or off" in (await next_json(socket))["message"]
