"""A desktop's media key reaches the player of a running server."""

import asyncio
from collections.abc import Callable

from tests.player.test_mpris import PATH, PLAYER, bus, needs_bus
from tests.system.server import server
from tests.system.sound_card import needs_pulseaudio, sound_card
from tests.system.test_player import play, wait_until

__all__ = ["bus"]


async def press_play_pause() -> str:
    """Press the key as a desktop does; the title that Now Playing shows."""
    from dbus_fast.aio import MessageBus

    from player.media_keys import BUS_NAME

    client = await MessageBus().connect()
    player = client.get_proxy_object(BUS_NAME, PATH, await client.introspect(BUS_NAME, PATH)).get_interface(PLAYER)
    await player.call_play_pause()  # type: ignore[attr-defined]
    shown = await player.get_metadata()  # type: ignore[attr-defined]
    client.disconnect()
    title: str = shown["xesam:title"].value
    return title


@needs_bus
@needs_pulseaudio
def test_play_pause(bus: Callable[[], None]) -> None:
    with sound_card() as card, server("--engine", "espeak", environment=card.environment) as speaking:
        play(speaking, "A text of some length. " * 20, title="Letter")
        wait_until(speaking, lambda state: bool(state["state"] == "playing"))
        speaking.logs("media keys: org.mpris.MediaPlayer2.kokoro_live")
        assert asyncio.run(press_play_pause()) == "Letter"
        wait_until(speaking, lambda state: bool(state["state"] == "paused"))
