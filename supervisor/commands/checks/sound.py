"""The check of the sound card that `/v1/play` plays through."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from supervisor.commands.checks.finding import Circumstances, Finding, ok, warning


def sound_card(circumstances: Circumstances) -> Finding:
    """Opens the output and closes it, without a sound."""
    import numpy as np

    from player.output.choice import open_output
    from player.output.output import NoOutput

    try:
        with _quiet():
            output = open_output(lambda count: np.zeros(count, np.int16), circumstances.settings.player.play_buffer_ms)
            output.close()
    except NoOutput as error:
        return warning(
            f"/v1/play can't be heard: {error}",
            "Install the extra `play` (pip install 'kokoro-live[play]') on a machine with a sound card; all else works "
            "without.",
        )
    return ok(f"/v1/play plays through {output.name}")


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
