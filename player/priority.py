"""The player's priority: on a busy machine its few milliseconds of work must not wait for other programs."""

from __future__ import annotations

import contextlib
import os

_NICE = -11
"""PulseAudio's own nice value, where real-time scheduling isn't permitted and this is."""


def come_first() -> str:
    """Take real-time scheduling, or else a better nice value, where that is permitted; returns what was taken.

    Every thread is meant: the output's thread waits for the interpreter, which a thread that is kept waiting may hold.
    On a busy machine ordinary scheduling keeps the output waiting for longer than its buffer lasts
    (`python -m benchmarks.playing` counts such gaps).
    """
    if hasattr(os, "sched_setscheduler"):
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
            return "real-time"
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, _NICE)
        return f"nice {_NICE}"
    return "ordinary"
