"""The output through miniaudio: ALSA, JACK or CoreAudio. PulseAudio has an output of its own."""

from __future__ import annotations

import sys
from collections.abc import Generator

import miniaudio

from player.output.output import LONGEST_FADED, Fill, NoOutput, let_sound
from shm.audio import SAMPLE_RATE

PERIODS = 4
"""Parts of the device's buffer. A backend asks for a part when it is free, so the slack is the other three."""

_BACKENDS = {
    "darwin": [miniaudio.Backend.COREAUDIO],
    "linux": [
        miniaudio.Backend.ALSA,
        miniaudio.Backend.JACK,
        miniaudio.Backend.OSS,
    ],
}
"""Backends by platform, the first choice first. The null backend, which miniaudio would fall back on, isn't one."""


class MiniaudioOutput:
    """A short buffer sounds to its end before the device is closed, which drops a longer one and
    silences the device at once."""

    def __init__(self, fill: Fill, buffer_ms: int) -> None:
        """
        Raises:
            NoOutput: no backend has a device.
        """
        backends = _BACKENDS.get(sys.platform)
        if not backends:
            raise NoOutput(f"miniaudio is not used on {sys.platform}")
        period = max(buffer_ms // PERIODS, 5)
        try:
            self._device = miniaudio.PlaybackDevice(
                nchannels=1,
                sample_rate=SAMPLE_RATE,
                buffersize_msec=period,
                callback_periods=PERIODS,
                backends=backends,
                app_name="kokoro-live",
            )
            pulls = _pulls(fill)
            next(pulls)
            self._device.start(pulls)
        except miniaudio.MiniaudioError as error:
            raise NoOutput(f"miniaudio: {error.args[0]}") from error
        self.name = f"{self._device.backend} (miniaudio)"
        self._delay = period * PERIODS * SAMPLE_RATE // 1000
        self.takes_fade = self._delay <= LONGEST_FADED

    @property
    def delay(self) -> int:
        """The buffer is full while the device runs."""
        return self._delay

    def close(self) -> None:
        if self.takes_fade and self._device.running:
            let_sound(self._delay)
        self._device.close()


def _pulls(fill: Fill) -> Generator[bytes, int, None]:
    count = yield b""
    while True:
        count = yield fill(count).tobytes()
