"""Inflected speech through the whole server, with a model that is cut into stages."""

from __future__ import annotations

import numpy as np
import pytest

from tests.system.server import Server

TEXT = "A heart that beats, and a voice that says so. It says so again."


def spoken(started: Server, **fields: object) -> np.ndarray:
    return np.frombuffer(started.hear(response_format="pcm", **fields), "<i2")


def test_an_engine_that_doesnt_inflect_says_so_and_speaks(miniature: Server) -> None:
    response = miniature.speak(input=TEXT, pitch=2, expression=0.5, response_format="pcm")
    assert response.getheader("X-Warning") == "no effect: pitch, expression"
    assert np.array_equal(np.frombuffer(response.read(), "<i2"), spoken(miniature, input=TEXT))
    assert np.array_equal(
        spoken(miniature, input=f"<speak><prosody pitch='+2st'>{TEXT}</prosody></speak>", markup="ssml"),
        spoken(miniature, input=TEXT),
    )


@pytest.mark.parametrize("field", [{"pitch": 13}, {"expression": -1}, {"pitch": "high"}])
def test_a_wrong_value_names_its_field(miniature: Server, field: dict[str, object]) -> None:
    response = miniature.speak(input=TEXT, **field)
    assert response.status == 400 and next(iter(field)) in response.read().decode()
