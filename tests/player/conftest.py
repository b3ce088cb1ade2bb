"""A playback for each test."""

from collections.abc import AsyncIterator

import pytest

from tests.player.fakes import House


@pytest.fixture
async def house() -> AsyncIterator[House]:
    made = House()
    yield made
    made.playback.stop_work()
    await made.playback.loudspeaker.close_outputs()
