"""Programs that play raw samples from their standard input; afplay can't do this."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from player.output.programs import PLAYERS, failure, installed_player
from supervisor.client.spoken import CannotSpeak


def find_player() -> list[str]:
    """The command line of the first player on PATH.

    Raises:
        CannotSpeak: there is none.
    """
    if command := installed_player():
        return command
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
        if reason := failure(status, said.read().decode(errors="replace")):
            raise CannotSpeak(f"{command[0]} {reason}. Write a file with `-o FILE.wav` instead.")
