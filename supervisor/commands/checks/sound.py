"""The checks of the sound card that `/v1/play` plays through, and of the media keys that control it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

from kokoro_live.installation import this_installation
from shm.playing import Change, PlayerAnswer, PlayerState, Steer
from supervisor.commands.checks.finding import Circumstances, Finding, ok, warning


def sound_card(circumstances: Circumstances) -> Finding:
    """Opens the output and closes it, without a sound."""
    import numpy as np

    from player.output.choice import open_output
    from player.output.output import NoOutput
    from player.output.program_output import ProgramOutput

    try:
        with _quiet():
            output = open_output(lambda count: np.zeros(count, np.int16), circumstances.settings.player.play_buffer_ms)
            output.close()
    except NoOutput as error:
        return warning(
            f"/v1/play can't be heard: {error}",
            "On a machine with a sound card, install kokoro-live again: its package miniaudio or sounddevice plays. "
            "All else works without.",
        )
    if isinstance(output, ProgramOutput):
        return warning(
            f"/v1/play plays through {output.name}, a program of its own, and may stutter on a busy machine",
            "Install kokoro-live again: its package miniaudio or sounddevice plays; on Linux, libpulse0 does too.",
        )
    return ok(f"/v1/play plays through {output.name}")


def media_keys(_: Circumstances) -> Finding:
    """Takes the player's name on the session bus, and leaves it."""
    from player.mpris.session import MissingLibrary, NoMediaKeys

    try:
        return ok(f"media keys control /v1/play, as {asyncio.run(_name_on_bus())}")
    except MissingLibrary as error:
        return warning(
            f"media keys don't control /v1/play: {error}",
            f"Install the extra `mpris`: {this_installation().add('mpris')}",
        )
    except NoMediaKeys as error:
        return ok(f"media keys don't control /v1/play: {error}")


async def _name_on_bus() -> str:
    from player.mpris.session import MediaKeys

    found = MediaKeys(_Nothing())
    name = await found.open()
    found.close()
    return name


class _Nothing:
    """A player with nothing to play, for a look at the bus."""

    state = PlayerState()

    def steer(self, message: Steer) -> PlayerAnswer:
        return PlayerAnswer(message.number)

    async def change(self, message: Change) -> PlayerAnswer:
        return PlayerAnswer(message.number)


@contextmanager
def _quiet() -> Iterator[None]:
    """Drop what C libraries write to standard error: ALSA writes a line for each file that it looked into."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
