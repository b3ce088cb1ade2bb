"""Tells the supervisor when the workers may rest, because nobody has asked for speech for a while, and when they are
needed again."""

from __future__ import annotations

from collections.abc import Callable

from frontend.contract.countdown import Countdown
from shm.messages import ControlMessage, WorkersNeeded


class IdleUnload:
    """A timer that runs while a worker speaks and no stream is open.

    A stream is open from its request until its listener has taken the last sample or has left. A paused listener, a
    clip and a self-check keep the workers.
    """

    def __init__(self, seconds: float, tell: Callable[[ControlMessage], None]) -> None:
        """`seconds`: `--idle-unload`; 0 keeps the workers for ever."""
        self._seconds = seconds
        self._tell = tell
        self._countdown = Countdown(self._expired)
        self._told: bool | None = None
        """The last message to the supervisor; None before the first."""

    def idle(self) -> None:
        """Note that a worker speaks and no stream is open. Repeated calls don't prolong the time."""
        if self._seconds and not self._countdown.running:
            self._countdown.start(self._seconds)

    def busy(self, streams: bool) -> None:
        """Note that no worker speaks, or that a stream is open (`streams`)."""
        self._countdown.stop()
        if streams and self._told is not True:
            self._send(True)

    def _expired(self) -> None:
        self._send(False)
        self.idle()  # the supervisor doesn't follow while another front still finishes its streams

    def _send(self, needed: bool) -> None:
        self._told = needed
        self._tell(WorkersNeeded(needed))
