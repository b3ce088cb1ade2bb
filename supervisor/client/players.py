"""Programs that play raw samples from their standard input; afplay can't."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from shm.audio import SAMPLE_RATE
from supervisor.client.spoken import CannotSpeak

PLAYERS = {
    # Mono is its raw demuxer's default; the option that says so has another name in each generation of ffmpeg.
    "ffplay": f"-loglevel error -nodisp -autoexit -f s16le -sample_rate {SAMPLE_RATE} -i -",
    "mpv": "--no-terminal --no-video --demuxer=rawaudio --demuxer-rawaudio-channels=1 "
    f"--demuxer-rawaudio-format=s16le --demuxer-rawaudio-rate={SAMPLE_RATE} -",
    "play": f"-q -t raw -e signed-integer -b 16 -L -c 1 -r {SAMPLE_RATE} -",
    "aplay": f"-q -t raw -f S16_LE -c 1 -r {SAMPLE_RATE} -",
    "paplay": f"--raw --format=s16le --channels=1 --rate={SAMPLE_RATE}",
}
"""The arguments that each takes, the first choice first. `play` is sox's."""


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
    """Write to a stream that may have no buffer, and then takes less than it is given at times."""
    rest = memoryview(pcm)
    while rest:
        rest = rest[stream.write(rest) :]


@contextmanager
def playing(command: list[str]) -> Iterator[Callable[[bytes], None]]:
    """What is written is played; the block ends when it was heard, or when its listener quits the player.

    Raises:
        CannotSpeak: the player can't be started, or failed.
    """
    try:
        player = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, bufsize=0)
    except OSError as error:
        raise CannotSpeak(f"{command[0]} can't be started: {error.strerror}. Write a file with `-o`.") from error
    assert player.stdin is not None
    pipe = player.stdin

    try:
        try:
            yield lambda pcm: write_all(pipe, pcm)
        except BrokenPipeError:
            pass  # its exit status tells whether it was quit or failed
        pipe.close()
        status = player.wait()
    finally:
        player.kill()
        player.wait()
        pipe.close()
    if status:
        raise CannotSpeak(f"{command[0]} failed with status {status}. Write a file with `-o FILE.wav` instead.")
