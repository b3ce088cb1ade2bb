"""The choice of an output: the first one that works."""

from __future__ import annotations

import importlib
import logging

from player.output.output import Fill, NoOutput, Output

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
