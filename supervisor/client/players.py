"""Programs that play raw samples from their standard input; afplay can't do this."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from shm.audio import SAMPLE_RATE
from supervisor.client.spoken import CannotSpeak

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


def find_player() -> list[str]:
    """The command line of the first player on PATH.

    Raises:
        CannotSpeak: there is none.
    """
    for name, arguments in PLAYERS.items():
        if path := shutil.which(name):
            return [path, *arguments.split()]
    raise CannotSpeak(
        f"No player was found on PATH (looked for {', '.join(PLAYERS)}). Install one, write a file with `-o FILE.wav`, "
        "or pipe raw samples elsewhere with `-o -`."
    )


def write_all(stream: IO[bytes], pcm: bytes) -> None:
    """Write all bytes to a stream that may be unbuffered and then sometimes takes fewer than it is given."""
    rest = memoryview(pcm)
    while rest:
        rest = rest[stream.write(rest) :]


@contextmanager
def playing(command: list[str]) -> Iterator[Callable[[bytes], None]]:
    """A function that plays samples. The block ends when all were heard, or when the listener quits the player.

    Raises:
        CannotSpeak: the player can't be started, or failed, or found no sound card.
    """
    with tempfile.TemporaryFile() as said:
        try:
            player = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said, bufsize=0)
        except OSError as error:
            raise CannotSpeak(f"{command[0]} can't be started: {error.strerror}. Write a file with `-o`.") from error
        assert player.stdin is not None
        pipe = player.stdin
        try:
            with contextlib.suppress(BrokenPipeError):  # the player's exit status tells if it was quit or failed
                yield lambda pcm: write_all(pipe, pcm)
            pipe.close()
            status = player.wait()
        finally:
            player.kill()
            player.wait()
            pipe.close()
        said.seek(0)
        if failure := _failure(status, said.read().decode(errors="replace")):
            raise CannotSpeak(f"{command[0]} {failure}. Write a file with `-o FILE.wav` instead.")


_NO_DEVICE = re.compile(
    "audio open (failed|error)|no default audio device|initialize audio|cannot find card|connection refused",
    re.IGNORECASE,
)
"""Messages of players without a sound card; ffplay exits with 0 all the same."""


def _failure(status: int, said: str) -> str:
    """The reason why a player failed, in one line; empty if it didn't."""
    if not status and not _NO_DEVICE.search(said):
        return ""
    # ALSA writes a line for each file that it looked into.
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith("ALSA lib")]
    reason = f": {lines[0].rstrip('.')}" if lines else ""
    if _NO_DEVICE.search(said):
        return f"found no sound card{reason}"
    return f"failed with status {status}{reason}"
