"""The check of the sound card that `/v1/play` plays through."""

from __future__ import annotations

from supervisor.commands.checks.finding import Circumstances, Finding, ok, warning


def sound_card(circumstances: Circumstances) -> Finding:
    """Opens the output and closes it, without a sound."""
    import numpy as np

    from player.output.choice import open_output
    from player.output.output import NoOutput

    try:
        output = open_output(lambda count: np.zeros(count, np.int16), circumstances.settings.player.play_buffer_ms)
    except NoOutput as error:
        return warning(
            f"/v1/play can't be heard: {error}",
            "Install the extra `play` (pip install 'kokoro-live[play]') on a machine with a sound card; all else works "
            "without.",
        )
    output.close()
    return ok(f"/v1/play plays through {output.name}")
