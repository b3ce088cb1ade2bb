"""An answer's progress in its own terms: kept by its front, and read by the successor that continues it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from shm.decoding import msgpack_decoder
from shm.records import SegmentCut


class Place(msgspec.Struct, array_like=True):
    """The facts from which a successor makes the rest of an answer: decisions at its beginning, and sent amounts."""

    whole: bool = False
    """The audio was encoded as a finished file."""
    number: int = 0
    """The number of the encoded stream, where its container has one."""
    primed: float = 0.0
    """Seconds of silence that were sent ahead of the audio."""
    download: str = ""
    """The name under which the whole audio is kept."""
    audio: int = 0
    """Bytes of encoded audio, or of the whole body, that were sent."""
    words: int = 0
    sentences: int = 0
    framing: list[float] = []
    """The framing's counts (`Framing.place`)."""
    ended: bool = False
    """The framing's last line or event was sent."""
    heard: int = 0
    """Segments of which samples were joined."""
    samples: int = 0
    """Samples that were given to the encoder, or are about to be."""
    since: float = 0.0
    """Monotonic seconds at which the listener heard the first sample (`Playback.since`)."""
    profile: list[float] = []
    """The cost profile that the text was planned with."""
    seam: tuple[int, int] = (0, 0)
    """Samples and bytes of the audio after which an encoder can begin again (`frontend.audio.encoders.Seam`)."""


encode_place = msgspec.msgpack.Encoder().encode
decode_place = msgpack_decoder(Place)


class Progress:
    """One text's way through the front. Without `keep` nothing is kept, and the answer can't be continued."""

    def __init__(
        self,
        keep: Callable[[int, SegmentCut], bool] | None = None,
        left: Place | None = None,
        cuts: Sequence[SegmentCut] = (),
        name: bytes = b"",
        again: bool = False,
        moved: Callable[[int], bool] = lambda _: False,
        went_on: Callable[[], None] = lambda: None,
        arrived: float = 0.0,
        profile: Sequence[float] = (),
        keep_profile: Callable[[Sequence[float]], None] = lambda _: None,
    ) -> None:
        """
        Args:
            keep: keeps the segment of an index; returns False if there is no room.
            left: the place at which the front before was killed; None: the answer begins.
            cuts: the segments that it kept.
            name: the text's, which a successor gives it too, and gives no other; empty: there is no successor.
            again: a killed front has begun with it.
            moved: called when more of its sound was made (0), or encoded: so many samples from its beginning; returns
                True if no front has encoded as many.
            went_on: called once more of the answer than that is sent, or more was encoded than by any front before.
            arrived: monotonic seconds at which the first front began with it.
            profile: the cost profile with which a killed front has planned it, though nothing was sent; empty: none.
            keep_profile: keeps that.
        """
        self.left = left
        self.cuts = cuts
        self.name = name
        self.again = again
        self.arrived = arrived if again else 0.0
        """Monotonic seconds at which a killed front began with it; 0: none has."""
        self.moved = moved
        self.lost = keep is None
        """True if the answer can't be continued."""
        self.heard = 0
        """Segments of which samples were joined."""
        self.profile = [*(left.profile if left else profile)]
        self.clock: Callable[[], tuple[int, float]] | None = None
        """Samples that the listener has taken, and when the first was (0 before that)."""
        self._keep, self._keep_profile = keep, keep_profile
        self._went_on = went_on

    def goes_on(self) -> None:
        """Note that the answer has got further than with the front before."""
        went_on, self._went_on = self._went_on, lambda: None
        went_on()

    def encoded(self, samples: int) -> None:
        """Note that so many samples were encoded."""
        if self.moved(samples) and self.again:
            self.goes_on()

    def plan_by(self, profile: Sequence[float]) -> None:
        """Note the cost profile with which the text is planned: another one would cut it into other segments, and what
        was made of these would be lost."""
        self.profile = [*profile]
        self._keep_profile(self.profile)

    def planned(self, index: int, units: int, key: bytes) -> None:
        """Note a segment of the text, in place of an earlier one of that index, if there was any."""
        if self._keep is not None and not (units and self._keep(index, SegmentCut(units, key))):
            self.lost = True

    def agrees(self, index: int, key: bytes) -> bool:
        """False if another segment has been heard in this one's place: the text, or the engine, isn't the same."""
        if self.left is None or index >= self.left.heard:
            return True
        return index < len(self.cuts) and self.cuts[index].key == key[:6]
