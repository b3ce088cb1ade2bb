"""The output through miniaudio: PulseAudio, ALSA, JACK or CoreAudio, without a library of the system's."""

from __future__ import annotations

import sys
from collections.abc import Generator

import miniaudio

from player.output.output import Fill, NoOutput
from shm.audio import SAMPLE_RATE

PERIOD_MS, PERIODS = 10, 4
"""The device's buffer, 40 ms: shorter ones have gaps on a busy machine (9 ms: two in 8 s at a load of 13)."""

_BACKENDS = {
    "darwin": [miniaudio.Backend.COREAUDIO],
    "linux": [
        miniaudio.Backend.PULSEAUDIO,
        miniaudio.Backend.ALSA,
        miniaudio.Backend.JACK,
        miniaudio.Backend.OSS,
    ],
}
"""Backends by platform, the first choice first. The null backend, which miniaudio would fall back on, isn't one."""


class MiniaudioOutput:
    """Implements `Output`."""

    def __init__(self, fill: Fill) -> None:
        """
        Raises:
            NoOutput: no backend has a device.
        """
        backends = _BACKENDS.get(sys.platform)
        if not backends:
            raise NoOutput(f"miniaudio is not used on {sys.platform}")
        try:
            self._device = miniaudio.PlaybackDevice(
                nchannels=1,
                sample_rate=SAMPLE_RATE,
                buffersize_msec=PERIOD_MS,
                callback_periods=PERIODS,
                backends=backends,
                app_name="kokoro-live",
            )
            self.name = f"{self._device.backend} (miniaudio)"
            pulls = _pulls(fill)
            next(pulls)
            self._device.start(pulls)
        except miniaudio.MiniaudioError as error:
            raise NoOutput(f"miniaudio: {error.args[0]}") from error

    @property
    def delay(self) -> int:
        """Implements `Output.delay`: the buffer is full while the device runs."""
        return PERIOD_MS * PERIODS * SAMPLE_RATE // 1000

    def drop(self) -> int:
        """Implements `Output.drop`: 40 ms sound sooner than a device restarts."""
        return 0

    def close(self) -> None:
        """Implements `Output.close`."""
        self._device.close()


def _pulls(fill: Fill) -> Generator[bytes, int, None]:
    count = yield b""
    while True:
        count = yield fill(count).tobytes()
