"""A stream's segments in order, from the one being heard to the last one planned."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from frontend.streams.link import Link
from frontend.streams.planned import PlannedSegment, SegmentState


class SegmentQueue(deque[PlannedSegment]):
    """Queue of segments: `add` numbers and appends them; `heard` removes them on the left."""

    def __init__(self) -> None:
        super().__init__()
        self.numbered = 0
        """Number of segments added so far, which is the next one's index."""
        self.replaced_at = -1
        """Index of the last segment that was planned again because its listener was about to run dry."""
        self.last_heard_from: Link | None = None
        """The generation that made the last heard segment; None while none was heard but cached ones."""

    def add(self, segment: PlannedSegment) -> None:
        """Put a segment at the end."""
        segment.index = self.numbered
        self.numbered += 1
        self.append(segment)

    def heard(self) -> None:
        """Remove the first segment, and remember which generation made it."""
        self.last_heard_from = self.popleft().link or self.last_heard_from

    def replace(self, replaced: Sequence[PlannedSegment], segments: Sequence[PlannedSegment]) -> None:
        """Replace segments that no worker has begun; the segments after them are numbered again."""
        place = self.index(replaced[0])
        later = list(self)[place:]
        assert later[: len(replaced)] == list(replaced)
        for _ in later:
            self.pop()
        self.replaced_at = self.numbered = replaced[0].index
        segments[-1].flushes += sum(segment.flushes for segment in replaced)
        for segment in [*segments, *later[len(replaced) :]]:
            self.add(segment)

    @property
    def head(self) -> PlannedSegment | None:
        """The segment that the listener is hearing."""
        return self[0] if self else None

    @property
    def next(self) -> PlannedSegment | None:
        """The first segment that no worker has; segments are dispatched in order."""
        return next(self.waiting(), None)

    def waiting(self) -> Iterator[PlannedSegment]:
        """The segments that no worker has."""
        return (segment for segment in self if segment.state is SegmentState.PLANNED)

    def dispatched(self) -> Iterator[PlannedSegment]:
        """The segments that some worker has and hasn't ended."""
        return (segment for segment in self if segment.state is SegmentState.DISPATCHED)

    def at(self, link: Link) -> Iterator[PlannedSegment]:
        """The segments that this worker has and hasn't ended: it writes the blocks of the first one next."""
        return (segment for segment in self if segment.is_at(link))

    def find(self, index: int) -> PlannedSegment | None:
        """The segment with that index; None if it was heard or isn't planned yet."""
        return next((segment for segment in self if segment.index == index), None)

    @property
    def ready(self) -> int:
        """Samples that are made and that the listener hasn't taken."""
        return sum(segment.sealed - segment.taken for segment in self)

    def samples_before(self, wanted: PlannedSegment) -> int:
        """Samples that the listener hears before that segment, as far as they are known or expected."""
        before = 0
        for segment in self:
            if segment is wanted:
                break
            before += segment.length - segment.taken
        return before
