"""Programs that play raw samples from their standard input, and how they say that they can't."""

from __future__ import annotations

import re
import shutil

from shm.audio import SAMPLE_RATE

PLAYERS = {
    # Mono is the default of ffmpeg's raw demuxer; the option for channels has another name in each generation of
    # ffmpeg.
    "ffplay": f"-loglevel error -nodisp -autoexit -f s16le -sample_rate {SAMPLE_RATE} -i -",
    "mpv": "--no-terminal --no-video --demuxer=rawaudio --demuxer-rawaudio-channels=1 "
    f"--demuxer-rawaudio-format=s16le --demuxer-rawaudio-rate={SAMPLE_RATE} -",
    "play": f"-q -t raw -e signed-integer -b 16 -L -c 1 -r {SAMPLE_RATE} -",
    "aplay": f"-q -t raw -f S16_LE -c 1 -r {SAMPLE_RATE} -",
    "paplay": f"--raw --format=s16le --channels=1 --rate={SAMPLE_RATE}",
}
"""Arguments of each player, the first choice first. `play` is sox's."""

_NO_DEVICE = re.compile(
    "audio open (failed|error)|no default audio device|initialize audio|cannot find card|connection refused",
    re.IGNORECASE,
)
"""Messages of players without a sound card; ffplay exits with 0 all the same."""


def installed_player() -> list[str] | None:
    """The command line of the first player on PATH; None if there is none."""
    for name, arguments in PLAYERS.items():
        if path := shutil.which(name):
            return [path, *arguments.split()]
    return None


def failure(status: int, said: str) -> str:
    """The reason why a player failed, in one line; empty if it didn't."""
    if not status and not _NO_DEVICE.search(said):
        return ""
    # ALSA writes a line for each file that it looked into.
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith("ALSA lib")]
    reason = f": {lines[0].rstrip('.')}" if lines else ""
    if _NO_DEVICE.search(said):
        return f"found no sound card{reason}"
    return f"failed with status {status}{reason}"
