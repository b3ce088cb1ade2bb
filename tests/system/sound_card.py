"""A sound card that records: PulseAudio on a private socket, with a null sink and its monitor."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from shm.audio import AUDIBLE, SAMPLE_RATE, Pcm
from tests.system.server import DEADLINE

HAS_PULSEAUDIO = all(map(shutil.which, ("pulseaudio", "pactl", "parec")))

needs_pulseaudio = pytest.mark.skipif(
    not HAS_PULSEAUDIO, reason="PulseAudio isn't installed (apt-get install pulseaudio pulseaudio-utils)"
)

QUIET = SAMPLE_RATE // 5
"""Samples without sound that are a silence."""

STEP = SAMPLE_RATE // 10
"""Samples after which a recording is looked at again: each look copies all of it."""

SINK = "sink_name={} rate=24000 channels=1 format=s16le"


class SoundCard:
    """Plays into nothing at 24 kHz, and records all that it plays."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "pulse.socket"
        self.environment = {
            "PULSE_SERVER": f"unix:{self.socket}",
            "PULSE_RUNTIME_PATH": str(folder / "runtime"),
            "PULSE_STATE_PATH": str(folder / "state"),
            "PULSE_CONFIG": str(folder / "daemon.conf"),
        }
        # In real time the system ends it after 0.2 s of work at a stretch; a machine that stands still counts as work.
        (folder / "daemon.conf").write_text("rlimit-rttime = -1\n")
        self._process = subprocess.Popen(
            [
                *_first_in_line(),
                *("pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1"),
                *("--disallow-exit", "--disable-shm=yes", "--realtime=no", "--high-priority=no"),
                *(f"--log-target=newfile:{folder / 'log'}", "--log-level=error"),
                *("-L", f"module-native-protocol-unix auth-anonymous=1 socket={self.socket}"),
                *("-L", f"module-null-sink {SINK.format('first')}"),
            ],
            env=os.environ | self.environment | {"HOME": str(folder)},
            stderr=subprocess.DEVNULL,
        )
        self._log = folder / "log"
        limit = time.monotonic() + DEADLINE
        while not self._listens():
            assert self._process.poll() is None and time.monotonic() < limit
            time.sleep(0.01)
        self._recorders: list[Recording] = []

    def _listens(self) -> bool:
        """Its socket has a name a moment before that."""
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self.socket)) == 0

    def last_words(self) -> str:
        return f"the sound server has ended with {self._process.poll()}: {self._log.read_text()[-1000:]}"

    def control(self, *arguments: str) -> str:
        """`pactl`'s answer."""
        return subprocess.run(
            ["pactl", *arguments],
            env=os.environ | self.environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=DEADLINE,
        ).stdout

    def add_sink(self, name: str) -> str:
        """Plug in another card; the number of its module."""
        return self.control("load-module", "module-null-sink", *SINK.format(name).split()).strip()

    def record(self, sink: str = "first", latency: int = 10) -> Recording:
        """Record a sink from now on. `latency`: milliseconds that a sample may come late; a longer one costs less."""
        self._recorders.append(Recording(sink, self, latency))
        return self._recorders[-1]

    def close(self) -> None:
        for recorder in self._recorders:
            recorder.close()
        self._process.kill()
        self._process.wait(DEADLINE)


class Recording:
    """The samples that a sink plays, silence included: their number is a clock."""

    def __init__(self, sink: str, card: SoundCard, latency: int) -> None:
        self._card = card
        self._process = subprocess.Popen(
            [
                *("parec", "-d", f"{sink}.monitor", "--raw", "--format=s16le", "--rate=24000", "--channels=1"),
                f"--latency-msec={latency}",
            ],
            env=os.environ | card.environment,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self._recorded = bytearray()
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.wait_for(lambda samples: len(samples) > 0)

    def _read(self) -> None:
        assert self._process.stdout
        while part := self._process.stdout.read(4800):
            with self._more:
                self._recorded += part
                self._more.notify_all()

    def __len__(self) -> int:
        """Samples recorded so far: the time now, by the sample clock."""
        with self._more:
            return len(self._recorded) // 2

    @property
    def samples(self) -> Pcm:
        with self._more:
            return self._since(0)

    def _since(self, start: int) -> Pcm:
        """A copy of what was recorded from sample `start` on."""
        return np.frombuffer(self._recorded, "<i2", len(self._recorded) // 2)[start:].copy()

    def wait_for(self, condition, start: int = 0) -> Pcm:  # type: ignore[no-untyped-def]
        """Wait until what was recorded from sample `start` on fulfils the condition; returns it."""
        limit = time.monotonic() + 3 * DEADLINE
        while True:
            records = self._reader.is_alive()
            with self._more:
                found = self._since(start)
                seen = len(self._recorded)
            if condition(found):
                return found
            assert records, self._card.last_words()
            assert time.monotonic() < limit, f"{len(found)} samples, {int((abs(found) > AUDIBLE).sum())} audible"
            with self._more:
                self._more.wait_for(lambda: len(self._recorded) >= seen + 2 * STEP, 0.5)  # noqa: B023

    def quiet(self, samples: int = SAMPLE_RATE, start: int = 0) -> Pcm:
        """Wait until something was heard, and then nothing for so long; what was recorded."""

        def over(found: Pcm) -> bool:
            return audible(found[-samples:]).size == 0 and len(found) > samples and audible(found).size > 0

        return self.wait_for(over, start)

    def silence(self) -> int:
        """Wait until nothing has sounded for 0.2 s; samples recorded so far."""
        return len(self.wait_for(lambda found: len(found) > QUIET and not audible(found[-QUIET:]).size))

    def close(self) -> None:
        self._process.kill()
        self._process.wait(DEADLINE)
        self._reader.join(DEADLINE)
        assert self._process.stdout
        self._process.stdout.close()


def audible(samples: Pcm) -> NDArray[np.intp]:
    """Indices of samples that are sound."""
    return np.flatnonzero((samples > AUDIBLE) | (samples < -AUDIBLE))


def whole(recorded: Pcm, wanted: Pcm) -> int | None:
    """Where `wanted` begins in what was recorded, each sample once and in order; None if it isn't there so."""
    first, last = audible(wanted)[[0, -1]]
    loud = wanted[first : last + 1]
    for at in np.flatnonzero(recorded[: max(len(recorded) - len(loud) + 1, 0)] == loud[0]):
        if np.array_equal(recorded[at : at + 64], loud[:64]) and np.array_equal(recorded[at : at + len(loud)], loud):
            return int(at - first)
    return None


@contextmanager
def sound_card() -> Iterator[SoundCard]:
    """A card for the length of a test."""
    with tempfile.TemporaryDirectory(prefix="card") as folder:
        card = SoundCard(Path(folder))
        try:
            yield card
        finally:
            card.close()


def _first_in_line() -> tuple[str, ...]:
    """A prefix that runs a command in real time, as a desktop runs its sound server, where that is permitted."""
    allowed = subprocess.run(["chrt", "-f", "5", "true"], stderr=subprocess.DEVNULL).returncode == 0
    return ("chrt", "-f", "5") if allowed else ()


@pytest.fixture(scope="module")
def card() -> Iterator[SoundCard]:
    with sound_card() as found:
        yield found
