"""Takes in what workers say of their segments: checks it, seals blocks, learns its cost, keeps what is whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import numpy as np

from frontend.contract.errors import Unspeakable
from frontend.monitoring.metrics import Metrics
from frontend.planning.ledger import Ledger
from frontend.streams.cache.entry import CachedSegment
from frontend.streams.cache.segments import SegmentCache
from frontend.streams.link import Link
from frontend.streams.planned import PlannedSegment, SealedBlock, State
from frontend.streams.stream import Stream
from shm.killpoint import killpoint
from shm.messages import Began, Commit, CommitMessage, Done, Failed, Marks, Quit, unpack_marks
from shm.ring import TornBlock


class Records:
    """What breaks a contract loses its link. `ended` is called for each segment that its worker is through with."""

    def __init__(
        self,
        streams: Mapping[int, Stream],
        ledger: Ledger,
        cache: SegmentCache,
        metrics: Metrics,
        ended: Callable[[Link, Stream], None],
        sounds: Callable[[], None],
    ) -> None:
        """`sounds` is called when a stream's first block is there."""
        self._streams = streams
        self._ledger = ledger
        self._cache = cache
        self._metrics = metrics
        self._ended = ended
        self._sounds = sounds

    def take(self, link: Link, message: CommitMessage) -> None:
        """One record from a link."""
        if message.generation != link.generation:
            link.lose(f"a record of generation {message.generation} from generation {link.generation}")
            return
        if isinstance(message, Quit):
            link.lose("it ends on its own account", to_blame=False)
            return
        number = link.stream_of(message.stream)
        stream = None if number is None else self._streams.get(number)
        planned = stream.find(message.segment) if stream else None
        if stream is None or planned is None or planned.link is not link or planned.state is not State.DISPATCHED:
            return  # sent before the worker read that the stream is forgotten
        match message:
            case Began():
                planned.touched = asyncio.get_running_loop().time()
                planned.side_by_side.append(self._running(link))
            case Marks():
                self._marked(link, planned, message)
            case Commit():
                self._sealed(link, stream, planned, message)
            case Done():
                self._done(link, stream, planned, message)
            case Failed():
                planned.ended(State.FAILED)
                self._ended(link, stream)
                stream.fail(Unspeakable(message.reason))

    def _marked(self, link: Link, planned: PlannedSegment, marks: Marks) -> None:
        if planned.marks_of is not link:
            planned.marks, planned.marks_of = [], link
        try:
            planned.marks += unpack_marks(marks.packed)
        except ValueError as error:
            link.lose(str(error))

    def _sealed(self, link: Link, stream: Stream, planned: PlannedSegment, commit: Commit) -> None:
        lease = planned.lease
        assert lease is not None
        if commit.offset != planned.sealed or commit.position != lease.sealed:
            link.lose(f"sample {commit.offset} of a segment where {planned.sealed} was due")
            return
        try:
            pieces = lease.reader.sealed(commit.position, commit.samples, commit.crc32)
        except TornBlock as torn:
            link.lose(str(torn))
            return
        killpoint("before-seal")
        planned.seal(SealedBlock(pieces, link, lease, commit.position + commit.samples), commit.samples)
        killpoint("sealed")
        stream.progress()
        if not stream.sounds:
            stream.sounds_now()
            self._sounds()

    def _done(self, link: Link, stream: Stream, planned: PlannedSegment, done: Done) -> None:
        if done.samples != planned.sealed:
            link.lose(f"a segment of {done.samples} samples, of which {planned.sealed} were committed")
            return
        if not planned.resumed:  # else a part of it was made elsewhere
            load = planned.load(self._running(link))
            self._ledger.of(link.engine).observe(
                planned.segment.tokens,
                stream.speed(planned.segment),
                done.samples,
                done.seconds,
                done.prosody_seconds,
                load,
            )
            self._metrics.segment_made(link.engine, stream.number, done.seconds, done.samples, load)
        if planned.kept is not None:
            samples = np.concatenate(planned.kept) if planned.kept else np.zeros(0, np.int16)
            self._cache.keep(planned.key, CachedSegment(samples, tuple(planned.marks)))
            planned.kept = None
        planned.ended(State.DONE)
        self._ended(link, stream)

    def _running(self, link: Link) -> int:
        """Segments that its lanes are at."""
        return sum(p.link is link and p.touched is not None for s in self._streams.values() for p in s.planned)
