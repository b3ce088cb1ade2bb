"""Checks the workers' records of their segments; then seals blocks, learns costs and caches segments."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np

from frontend.contract.errors import Unspeakable
from frontend.scheduling.shared import Shared
from frontend.streams.cache.entry import CachedSegment
from frontend.streams.link import Link
from frontend.streams.loss import Loss
from frontend.streams.planned import PlannedSegment, SegmentState
from frontend.streams.sealed_block import SealedBlock
from frontend.streams.stream import Stream
from shm.killpoint import killpoint
from shm.marks import unpack_marks
from shm.messages import Began, Commit, CommitMessage, Done, Failed, Marks, Quit
from shm.ring import TornBlock


class Records:
    """Handles records. A worker that breaks the protocol loses its link, and its later records are ignored."""

    def __init__(self, shared: Shared, ended: Callable[[Link, Stream], None], sounds: Callable[[], None]) -> None:
        """Args:
        ended: called for each segment that its worker has ended.
        sounds: called when a stream's first block has arrived.
        """
        self._shared = shared
        self._ended = ended
        self._sounds = sounds

    def take(self, link: Link, message: CommitMessage) -> None:
        """Handle one record from a link."""
        if message.generation != link.generation:
            link.lose(f"a record of generation {message.generation} from generation {link.generation}")
            return
        if isinstance(message, Quit):
            link.lose("it ends on its own account", Loss.INNOCENT)
            return
        number = link.rings.stream_of(message.stream)
        stream = None if number is None else self._shared.streams.get(number)
        planned = stream.segments.find(message.segment) if stream else None
        if stream is None or planned is None or not planned.is_at(link):
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
                planned.ended(SegmentState.FAILED)
                self._ended(link, stream)
                stream.fail(Unspeakable(message.reason))

    def _marked(self, link: Link, planned: PlannedSegment, marks: Marks) -> None:
        try:
            told = unpack_marks(marks.packed)
        except ValueError as error:
            link.lose(str(error))
            return
        if planned.marks_of is not link:
            # A generation that resumes the segment sends the marks from its first sample on, or all of them.
            begin = told[0][0] if told else 0
            planned.marks, planned.marks_of = [mark for mark in planned.marks if mark[0] < begin], link
        planned.marks += told

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
        if not stream.timing.sounds:
            stream.timing.first_block()
            self._sounds()

    def _done(self, link: Link, stream: Stream, planned: PlannedSegment, done: Done) -> None:
        if done.samples != planned.sealed:
            link.lose(f"a segment of {done.samples} samples, of which {planned.sealed} were committed")
            return
        if not planned.resumed:  # else another worker made a part of the segment, and the seconds cover only the rest
            load = planned.load(self._running(link))
            tokens, speed = planned.segment.tokens, planned.speed
            account = self._shared.ledger.of(link.engine)
            account.observe(tokens, speed, done.samples, done.seconds, done.prosody_seconds, load)
            self._shared.metrics.segment_made(link.engine, stream.number, done.seconds, done.samples, load)
        if planned.kept is not None:
            samples = np.concatenate(planned.kept) if planned.kept else np.zeros(0, np.int16)
            self._shared.cache.keep(planned.key, CachedSegment(samples, tuple(planned.marks)))
            planned.kept = None
        planned.ended(SegmentState.DONE)
        self._ended(link, stream)

    def _running(self, link: Link) -> int:
        """The number of segments on which the worker's inference threads are working."""
        return sum(p.link is link and p.touched is not None for s in self._shared.streams.values() for p in s.segments)
