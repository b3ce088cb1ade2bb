"""The interface of an output, and the choice of one: the first that works."""

from __future__ import annotations

import importlib
import logging
import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from player.deck import FADE
from shm.audio import SAMPLE_RATE, Pcm

LONGEST_FADED = SAMPLE_RATE * 40 // 1000
"""Samples of a device's buffer up to which an output whose library takes nothing back lets the buffer and a fade sound
before it closes the device: silence then comes within 60 ms. It drops a longer buffer, with a click, because a pause
that comes later is the greater nuisance."""

Fill = Callable[[int], Pcm]
"""Gives exactly so many samples; called in the output's own thread (`player.deck.Deck.fill`)."""


class NoOutput(Exception):
    """There is no sound card, or it can't be used. The message says why."""


class Output(Protocol):
    """An open output: it takes samples as they are due, from its opening to its closing."""

    name: str
    """The output's name, for people."""

    takes_fade: bool
    """True if `close` lets the next 20 ms of samples sound before it closes the device, so that they can be a fade.
    False if it drops what the device has taken, or fades that itself."""

    @property
    def delay(self) -> int:
        """Samples that were taken and haven't sounded."""
        ...

    def close(self) -> None:
        """Close the device: silence within 60 ms, whatever it has taken. Blocks until then. Idempotent."""
        ...


@runtime_checkable
class RewritingOutput(Output, Protocol):
    """An output that takes back what hasn't sounded."""

    def fill_silence(self, most: Callable[[], int], taken_back: Callable[[int], None]) -> None:
        """Replace silence at the end of what was taken by samples that are there now.

        Args:
            most: samples that may be replaced.
            taken_back: called with the number that are, before they are asked for again.
        """
        ...


def let_sound(delay: int) -> None:
    """Wait until a fade has sounded on a device whose buffer holds `delay` samples."""
    time.sleep((delay + FADE) / SAMPLE_RATE)


Opener = Callable[[Fill], Output]
"""Opens an output, or raises `NoOutput`. Blocks for as long as the device needs."""


log = logging.getLogger(__name__)

_CLASSES = (
    ("player.output.pulse_output", "PulseOutput"),
    ("player.output.miniaudio_output", "MiniaudioOutput"),
    ("player.output.sounddevice_output", "SounddeviceOutput"),
    ("player.output.program_output", "ProgramOutput"),
)
"""Outputs, the first choice first. A module that needs a library which isn't installed fails to import."""


def open_output(fill: Fill, buffer_ms: int) -> Output:
    """Open the first output that works; blocks for up to some seconds.

    Args:
        buffer_ms: milliseconds of audio that the output is to hold.

    Raises:
        NoOutput: none works; the message has each one's reason.
    """
    reasons: list[str] = []
    for module, name in _CLASSES:
        try:
            output: Output = getattr(importlib.import_module(module), name)(fill, buffer_ms)
        except ImportError as error:
            reasons.append(f"{error.name or 'a library'} is not installed")
        except NoOutput as error:
            reasons.append(str(error))
        else:
            log.info("playing through %s", output.name)
            return output
    raise NoOutput("; ".join(reasons))
