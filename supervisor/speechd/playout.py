"""Audio on its way to Speech Dispatcher: cut into blocks, with each mark before the sample at which it is reached."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from shm.audio import SAMPLE_BYTES
from supervisor.speechd.wire import BLOCK_SECONDS, Wire


class Ended(Exception):
    """The utterance was stopped or paused."""


class Playout:
    """One utterance on the wire."""

    def __init__(self, wire: Wire, is_ended: Callable[[], bool]) -> None:
        self.reached = 0
        """Number of marks that were sent."""
        self.sounded = False
        """True once audio was sent."""
        self._wire = wire
        self._is_ended = is_ended
        self._begun = False
        self._marks: deque[tuple[int, str]] = deque()
        """Marks to come, with the sample of the present source at which they are due."""
        self._position = 0
        """Samples of the present source that were sent."""

    def begin(self) -> None:
        """Tell Speech Dispatcher that the utterance begins. Idempotent."""
        if not self._begun:
            self._begun = True
            self._wire.reply("701 BEGIN")

    def another_source(self) -> None:
        """Forget marks that are due in audio of a source that has failed."""
        self._marks.clear()
        self._position = 0

    def mark(self, sample: int, name: str) -> None:
        """Send a mark before a sample of the source that is sent later, counted from the source's beginning."""
        self._marks.append((sample, name))

    def audio(self, pcm: bytes, sample_rate: int) -> None:
        """Send samples (int16, little-endian, mono); waits while earlier ones are played.

        Raises:
            Ended: the utterance was stopped or paused.
            BrokenPipeError: Speech Dispatcher has gone.
        """
        most = round(BLOCK_SECONDS * sample_rate)
        total = len(pcm) // SAMPLE_BYTES
        start = 0
        while start < total:
            self._send_marks(self._position)
            due = self._marks[0][0] - self._position if self._marks else most
            count = min(most, total - start, due)
            self._check()
            self.begin()
            self._wire.audio(pcm[start * SAMPLE_BYTES : (start + count) * SAMPLE_BYTES], sample_rate)
            self.sounded = True
            start += count
            self._position += count

    def finish(self) -> None:
        """Send all marks that are left.

        Raises:
            Ended: the utterance was stopped or paused.
        """
        self._send_marks(None)

    def _send_marks(self, until: int | None) -> None:
        while self._marks and (until is None or self._marks[0][0] <= until):
            self._check()
            self.begin()
            _, name = self._marks.popleft()
            self._wire.reply(f"700-{' '.join(name.split())}", "700 INDEX MARK")
            self.reached += 1

    def _check(self) -> None:
        if self._is_ended():
            raise Ended
