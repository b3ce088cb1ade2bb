"""The output through a program that plays its standard input, where no library can be used."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import PurePath

from player.output.output import Fill, NoOutput
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE

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


BLOCK = SAMPLE_RATE // 50
"""Samples written at a time: 20 ms."""

TRIAL_SECONDS = 5.0
"""Seconds in which a program must have played a tenth of a second of silence, to show that it finds a sound card."""


class ProgramOutput:
    """A thread writes samples as they are due; closing kills the program and what it holds."""

    takes_fade = False

    def __init__(self, fill: Fill, buffer_ms: int) -> None:
        """
        Raises:
            NoOutput: there is no such program, or it finds no sound card.
        """
        command = installed_player()
        if command is None:
            raise NoOutput("no program that plays raw samples was found on PATH")
        self.name = PurePath(command[0]).name
        _try(command, self.name)
        self._fill = fill
        self._buffer = buffer_ms * SAMPLE_RATE // 1000
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, bufsize=0
        )
        self._began = time.monotonic()
        self._written = 0
        threading.Thread(target=self._write, name="output", daemon=True).start()

    @property
    def delay(self) -> int:
        """Estimated by the clock, because the program doesn't tell."""
        played = (time.monotonic() - self._began) * SAMPLE_RATE
        return max(round(self._written - played), 0)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def _write(self) -> None:
        assert self._process.stdin
        try:
            while self._process.poll() is None:
                ahead = self.delay
                if ahead >= self._buffer:
                    time.sleep(max(ahead - self._buffer + BLOCK, BLOCK) / SAMPLE_RATE)
                    continue
                if ahead == 0:  # the thread was late: what is written now sounds now
                    self._began = time.monotonic() - self._written / SAMPLE_RATE
                self._process.stdin.write(self._fill(BLOCK).tobytes())
                self._written += BLOCK
        except OSError:
            pass  # the program has ended; the loudspeaker notices that nothing is taken any more
        finally:
            self._process.stdin.close()


def _try(command: list[str], name: str) -> None:
    silence = bytes(SAMPLE_RATE // 10 * SAMPLE_BYTES)
    with tempfile.TemporaryFile() as said:
        try:
            tried = subprocess.run(
                command, input=silence, stdout=subprocess.DEVNULL, stderr=said, timeout=TRIAL_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoOutput(f"{name}: {error}") from error
        said.seek(0)
        if reason := failure(tried.returncode, said.read().decode(errors="replace")):
            raise NoOutput(f"{name} {reason}")
