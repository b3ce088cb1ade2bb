"""GET /v1/audio/speech: a player that takes an address hears the text that stands in it."""

import pytest

from tests.frontend.http_fakes import FakeSpeaker, asking, speech

ADDRESS = "/v1/audio/speech"


async def test_the_query_has_the_fields_of_the_body() -> None:
    speaker = FakeSpeaker(speech(2400))
    query = {"input": "Hello & goodbye.", "voice": "bf_emma", "speed": "1.5", "stream": "false"}
    async with asking(speaker, ADDRESS, method="GET", params=query | {"response_format": "pcm"}) as response:
        assert (response.status, response.content_type) == (200, "audio/pcm")
        assert await response.read() == speech(2400).tobytes()
        assert response.headers["Content-Length"] == "4800"
    (asked,) = speaker.opened
    assert (asked.text, asked.voice, asked.speed) == ("Hello & goodbye.", (("bf_emma", 1.0),), 1.5)


async def test_a_parameter_that_stands_there_twice_is_named() -> None:
    query = [("input", "Hello."), ("input", "Goodbye."), ("speed", "1.5")]
    async with asking(FakeSpeaker(speech(10)), ADDRESS, method="GET", params=query) as response:
        assert (response.status, response.headers["X-Warning"]) == (200, "no effect: input")


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({}, "input"),
        ({"input": " "}, "input"),
        ({"input": "Hello.", "speed": "fast"}, "speed"),
        ({"input": "Hello.", "speed": "9"}, "speed"),
        ({"input": "Hello.", "response_format": "midi"}, "response_format"),
    ],
)
async def test_a_wrong_query_is_a_400_that_names_the_field(query: dict[str, str], param: str) -> None:
    async with asking(FakeSpeaker(speech(10)), ADDRESS, method="GET", params=query) as response:
        assert response.status == 400
        assert (await response.json())["error"]["param"] == param


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("speed", "fast", "'fast' is not a number."),
        ("sample_rate", "x", "'x' is not a whole number."),
        ("stream", "perhaps", "'perhaps' is not true or false."),
    ],
)
async def test_text_that_is_no_number_is_shown_as_it_stands_there(field: str, value: str, words: str) -> None:
    """All that stands in an address is text: an error says what it doesn't say, not that it is text."""
    async with asking(
        FakeSpeaker(speech(10)), ADDRESS, method="GET", params={"input": "Hello.", field: value}
    ) as response:
        error = (await response.json())["error"]
    assert (response.status, error["param"], error["message"]) == (400, field, f"`{field}`: {words}")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_no_page_of_another_site_has_the_server_speak(site: str) -> None:
    """A sound's address in a page makes the browser ask without an Origin."""
    speaker = FakeSpeaker(speech(10))
    async with asking(
        speaker, ADDRESS, method="GET", params={"input": "Hello."}, headers={"Sec-Fetch-Site": site}
    ) as response:
        assert response.status == 403
    assert speaker.opened == []


async def test_a_head_makes_no_speech() -> None:
    speaker = FakeSpeaker(speech(10))
    async with asking(speaker, ADDRESS, method="HEAD", params={"input": "Hello."}) as response:
        assert response.status == 405
    assert speaker.opened == []


async def test_without_keys_a_client_of_another_machine_is_refused() -> None:
    """A proxy's header stands for another machine: the client's own address is hidden behind it."""
    async with asking(
        FakeSpeaker(speech(10)),
        ADDRESS,
        method="GET",
        params={"input": "Hello."},
        headers={"X-Forwarded-For": "192.0.2.7"},
    ) as response:
        assert response.status == 403
        assert (await response.json())["error"]["code"] == "api_key_not_configured"
