"""The output through sounddevice (PortAudio), where miniaudio has no wheel."""

from __future__ import annotations

from typing import Any

try:
    import sounddevice
except OSError as error:  # the package is installed and finds no PortAudio
    raise ImportError(str(error), name="PortAudio") from error

from player.output.output import LONGEST_FADED, Fill, NoOutput, let_sound
from shm.audio import SAMPLE_RATE


class SounddeviceOutput:
    """Aborting the stream drops what the device holds; a short buffer sounds to its end before."""

    def __init__(self, fill: Fill, buffer_ms: int) -> None:
        """
        Raises:
            NoOutput: PortAudio has no device.
        """

        def pull(out: Any, frames: int, _time: object, _status: object) -> None:
            out[:] = fill(frames).tobytes()

        try:
            self._stream = sounddevice.RawOutputStream(
                samplerate=SAMPLE_RATE, channels=1, dtype="int16", latency=buffer_ms / 1000, callback=pull
            )
            self._stream.start()
        except sounddevice.PortAudioError as error:
            raise NoOutput(f"sounddevice: {error.args[0]}") from error
        self.name = "PortAudio (sounddevice)"
        self.takes_fade = self.delay <= LONGEST_FADED

    @property
    def delay(self) -> int:
        latency: float = self._stream.latency
        return round(latency * SAMPLE_RATE)

    def close(self) -> None:
        if self.takes_fade and self._stream.active:
            let_sound(self.delay)
        self._stream.abort(ignore_errors=True)
        self._stream.close(ignore_errors=True)
