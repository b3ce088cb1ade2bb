"""Messages between processes, and their encoding in bytes.

Three conversations, each on a channel of its own, connect the supervisor, the front (frontend process) and the workers:

* **orders**, front -> worker: `SegmentOrder`, `Release`, `Forget`
* **commits**, worker -> front: `Began`, `Marks`, `Commit`, `Done`, `Failed`, `Quit`. Each fits `MAX_COMMIT_BYTES`, so
  that one `write` puts it into the pipe whole (POSIX: writes up to PIPE_BUF, at least 512 bytes, are atomic) and a
  killed worker can't leave half of one.
* **control**, supervisor <-> child: everything about lifecycles (`ControlMessage`).

Samples are counted at their engine's rate; times are seconds on the monotonic clock, which all processes of one
machine share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from shm.decoding import one_error
from shm.engine_info import EngineInfo, Priority
from shm.in_flight import DeathCause
from shm.inflection import InflectedSpan
from shm.score import Score
from shm.situation import Situation

MAX_COMMIT_BYTES = 512
"""Longest record on the commits channel, frame header included: POSIX's smallest PIPE_BUF."""

Voice = tuple[tuple[str, float], ...]
"""Voice blend: names of voices with weights that sum to 1. A single voice is a blend of one."""

FIRST_BLOCK_GRACE = 0.3
"""Seconds after `SegmentOrder.first_deadline` by which a worker whose engine vocodes in windows may make a stream's
first block, if a listener to another stream would otherwise hear a gap."""


class SpokenScript(msgspec.Struct, frozen=True):
    """A segment's script, and how it is spoken."""

    script: str
    """Phonemes of the model's vocabulary, or text, depending on `EngineInfo.speaks`; at most `EngineInfo.max_tokens`.
    """
    language: str
    """Language code as espeak-ng names it: en-us, en-gb, es, fr-fr, hi, it, ja, pt-br, cmn."""
    voice: Voice
    speed: float
    """Speed factor, 0.25 to 5; 1 is the voice's own pace."""
    seed: int = 0
    """Noise seed: equal scripts with equal seeds give equal samples. An engine without randomness, such as the
    published models, ignores the seed."""
    from_sample: int = 0
    """First sample wanted; a dead generation has sealed the samples before it."""
    inflected: tuple[InflectedSpan, ...] = ()
    """Spans of the script that are to be said otherwise than the engine would say them; in order, without overlaps.
    Only for an engine that inflects, like `score` and `score_only`."""
    part: tuple[int, int] | None = None
    """Span of the script that is made, in characters, with the prosody that it has in the whole script; None: all of
    it. Samples are counted from the part's beginning. Only for an engine that makes parts."""
    styled: int = 0
    """Tokens of the text whose style the script has: that of more than itself; 0: its own."""
    marks: bool = False
    """True if the times are wanted at which the parts of the script sound, if the engine reports them."""
    score: Score = ()
    """Durations, pitch, energy and level of the script's phonemes where they were edited; `inflected` comes first."""
    score_only: bool = False
    """True if the segment's score is wanted, packed (`shm.score.pack`), in place of its samples."""


class SegmentOrder(SpokenScript, frozen=True, kw_only=True, tag="order"):
    """Front -> worker: make one segment's PCM, from `from_sample` on, and write it into a ring."""

    generation: int
    stream: int
    """Stream number in this worker, unique within a front's life; a stream gets a new one with each new ring."""
    segment: int
    """Index of the segment in its stream, from 0; a stream's segments are dispatched and written in order."""
    ring: int
    """Index of the ring in the arena. The stream's number owns it until `Forget` (`shm.ring` has the layout)."""
    first_deadline: float
    """Monotonic seconds at which the segment's sample 0 must be ready."""


class Release(msgspec.Struct, frozen=True, tag="release"):
    """Front -> worker: the front has read all samples before `position`, so that room is free again (a credit)."""

    stream: int
    position: int
    """Samples since the stream took the ring."""


class Forget(msgspec.Struct, frozen=True, tag="forget"):
    """Front -> worker: the stream has ended or its listener left. The worker writes no more; the ring is free."""

    stream: int


OrderMessage = SegmentOrder | Release | Forget


class _Record(msgspec.Struct, frozen=True):
    """A record of a worker about a segment."""

    generation: int
    stream: int
    segment: int


class BlockTimes(msgspec.Struct, frozen=True, array_like=True):
    """Monotonic seconds at which a block passed each place in the worker; 0 where nobody noted it."""

    read: float = 0.0
    """The worker had read the segment's order."""
    begun: float = 0.0
    """An inference thread took the block up."""
    prosody: float = 0.0
    """The segment's prosody was made; only of its first block, from an engine with that stage."""
    features: float = 0.0
    """The decoder's features were made, and statistics predicted; likewise."""
    made: float = 0.0
    """The engine had returned the samples."""
    written: float = 0.0
    """The samples lay in the ring."""


class Began(_Record, frozen=True, tag="began"):
    """Worker -> front: an inference thread has started a segment's next block (a heartbeat, which reveals a hang)."""


class Commit(_Record, frozen=True, tag="commit"):
    """Worker -> front: a complete block is in the ring. The front uses it after checking generation and CRC."""

    offset: int
    """Offset of the block's first sample within its segment."""
    position: int
    """Offset of the block's first sample within the ring: samples since the stream took it."""
    samples: int
    crc32: int
    """Checksum of the block's bytes, by `zlib.crc32`."""
    times: BlockTimes = BlockTimes()


class Marks(_Record, frozen=True, tag="marks"):
    """Worker -> front: times at which parts of the script sound. Records are sent in order, each before the commit of
    the first sample that it mentions.

    A segment has as many of these records as it needs.
    """

    packed: bytes
    """Pairs of (place in the script, in characters; sample of the segment at which that place begins to sound), both
    increasing, as `shm.timing.pack_marks` writes them. A segment's last pair has the script's length and the end of its
    sound."""


class Done(_Record, frozen=True, tag="done"):
    """Worker -> front: the segment's last block was committed."""

    samples: int
    """Whole length of the segment, counted from its sample 0."""
    seconds: float
    """Seconds spent in the engine."""
    prosody_seconds: float = 0.0
    """The part of `seconds` before vocoding could begin; 0 from an engine that doesn't report it."""


class Failed(_Record, frozen=True, tag="failed"):
    """Worker -> front: the engine can't make this segment; the worker itself continues."""

    reason: str


class Quit(msgspec.Struct, frozen=True, tag="quit"):
    """Worker -> front: the worker ends for a reason of its own; none of its segments is to blame."""

    generation: int


CommitMessage = Began | Marks | Commit | Done | Failed | Quit

_MAX_REASON_BYTES = 400


def clipped(reason: str) -> str:
    """The beginning of `reason` that fits into a record of `MAX_COMMIT_BYTES`; lone surrogates become `?`."""
    return reason.encode(errors="replace")[:_MAX_REASON_BYTES].decode(errors="ignore")


class Load(msgspec.Struct, frozen=True, tag="load"):
    """Supervisor -> worker: load the engine. Before this message a standby worker waits with its modules imported."""

    without: tuple[str, ...] = ()
    """Execution providers that don't work here."""
    standby: bool = False
    """True if the worker stays a standby, with its model loaded, because it isn't needed yet."""
    slot: int = 0
    """The worker's slot, from 0. A loaded worker gets a second `Load` for another slot or share of cores."""
    slots: int = 1
    """Number of workers that share the machine."""
    accelerated: bool = False
    """True if the first worker runs on an accelerator, and so leaves the cores to the others."""
    proven: EngineInfo | None = None
    """The engine with which the slot's last worker spoke on the CPU: the same one isn't warmed up, since somebody may
    wait."""


class ChildReady(msgspec.Struct, frozen=True, tag="ready"):
    """Worker -> supervisor: the engine is loaded and warmed up. The worker waits for a channel (`Connect`)."""

    engine: EngineInfo
    load_seconds: float


class Loading(msgspec.Struct, frozen=True, tag="loading"):
    """Worker -> supervisor: the worker is loading for the named execution provider, from now until `ChildReady`."""

    provider: str
    """Empty in the answer to `Load`, before a provider is chosen."""


class ChildProgress(msgspec.Struct, frozen=True, tag="progress"):
    """Child -> supervisor, once: the child has done useful work. A worker has sealed a block, or a front has begun an
    answer. A later death doesn't count as part of a crash loop."""


class Placed(msgspec.Struct, frozen=True, tag="placed"):
    """Worker -> supervisor: the worker has followed a second `Load`; `priority` is its scheduling since then."""

    priority: Priority


class ProviderFailure(msgspec.Struct, frozen=True, tag="provider_failure"):
    """Worker -> supervisor: the provider doesn't work here, and this process ends: the next provider's turn."""

    provider: str
    reason: str


class Recycle(msgspec.Struct, frozen=True, tag="recycle"):
    """Worker -> supervisor: the worker is too large or too old, and is replaced once another one is ready."""

    reason: str


class BootFailure(msgspec.Struct, frozen=True, tag="boot_failure"):
    """Child -> supervisor: the process can't start, and starting it again would not help."""

    kind: str
    """Name of a status in `supervisor.processes.standing`."""
    reason: str
    """One line that tells the user how to fix it."""


class Connect(msgspec.Struct, frozen=True, tag="connect"):
    """Supervisor -> both ends of a new channel, with three file descriptors: orders pipe, commits pipe, arena.

    The front's copy also describes the engine. A worker has several channels while one front takes over from another.
    """

    generation: int
    rings: int
    ring_samples: int
    engine: EngineInfo | None = None
    slot: int = 0
    """The worker's slot: a later generation in the same slot replaces the earlier one."""


class Disconnect(msgspec.Struct, frozen=True, tag="disconnect"):
    """Supervisor -> front: the generation is dead and reaped or, if `draining`, gets no new segment."""

    generation: int
    draining: bool = False


class Distrust(msgspec.Struct, frozen=True, tag="distrust"):
    """Front -> supervisor: the generation broke this module's contract (by a wrong CRC, say) and must be ended."""

    generation: int
    reason: str


class Idle(msgspec.Struct, frozen=True, tag="idle"):
    """Front -> supervisor: the draining generation has no segment left, so it may be stopped."""

    generation: int


class WorkersNeeded(msgspec.Struct, frozen=True, tag="workers_needed"):
    """Front -> supervisor: True when a stream waits for a worker; False once no stream has been open for
    `--idle-unload`, so that the workers may rest."""

    needed: bool


class Started(msgspec.Struct, frozen=True, tag="started"):
    """Child -> supervisor: the process handles messages now. A front accepts requests after its first `Situation`."""


class Heartbeat(msgspec.Struct, frozen=True, tag="heartbeat"):
    """Supervisor -> front, player or maker of books, whose event loop sends it back at once."""


class SharedMemory(msgspec.Struct, frozen=True, tag="shared_memory"):
    """Supervisor -> front or `tls`, before its first connection, with one file descriptor: memory that outlives it."""

    holds: Literal["texts", "records", "sounds", "clients"]
    """The texts in hand, on a board of this front's own (`shm.in_flight`); what the fronts note of each connection
    (`shm.records`); the sounds that they keep (`shm.sounds`); addresses of clients (`shm.listeners`)."""


class StandBy(msgspec.Struct, frozen=True, tag="stand_by"):
    """Supervisor -> front that has started: another one serves. It prepares to take its place at once."""

    english: bool
    """True if the engine in use takes phonemes, so that English is to be loaded."""


class Fork(msgspec.Struct, frozen=True, tag="fork"):
    """Supervisor -> template, with four file descriptors: a front is to be forked. They are its ends of the control
    socket, of the channel for connections and of the lifeline, and a pipe's end that it keeps open."""


class Forked(msgspec.Struct, frozen=True, tag="forked"):
    """Template -> supervisor: the answer to `Fork`."""

    pid: int
    """Process id of the front; 0 if the system has no room for one."""


class Suspects(msgspec.Struct, frozen=True, tag="suspects"):
    """Supervisor -> front: texts that were being answered when fronts died, as digests (`shm.in_flight`)."""

    suspected: tuple[bytes, ...] = ()
    """Suspected texts: the front sends `Cleared` when one of them is answered."""
    refused: dict[bytes, float] = {}
    """Texts to reject: for each, the monotonic time until which it isn't tried again."""
    cause: DeathCause = DeathCause.UNKNOWN
    """Cause of the last front's death."""


class Cleared(msgspec.Struct, frozen=True, tag="cleared"):
    """Front -> supervisor: a suspected text was answered, and the front is still alive."""

    digest: bytes


class PlayerWanted(msgspec.Struct, frozen=True, tag="player_wanted"):
    """Front -> supervisor: there is something to play, and this front has no player."""


class PlayerLink(msgspec.Struct, frozen=True, tag="player_link"):
    """Supervisor -> front and player, with one file descriptor: an end of the channel between them
    (`shm.playing`)."""


class BooksNews(msgspec.Struct, frozen=True, tag="books_news"):
    """Front -> supervisor -> the process that makes books: the folder of jobs has changed, or another front serves."""

    url: str
    """The address at which the front answers."""
    key: str
    """The API key with which processes of the server pass the front's gate."""
    wanted: bool = True
    """True if there may be something to make or to stop."""
    number: int = 0
    """Number of the news, given by the supervisor."""


class BooksIdle(msgspec.Struct, frozen=True, tag="books_idle"):
    """The process that makes books -> supervisor, before it ends by itself: there is nothing left to make."""

    seen: int
    """Number of the last news that it took into account."""


class Drain(msgspec.Struct, frozen=True, tag="drain"):
    """Supervisor -> child: accept no new work, finish the streams, exit 0."""

    replaced: bool = False
    """True if another process has taken the child's place and goes on with its work."""
    seconds: float | None = None
    """Seconds that a front's answers have; None: `--drain-timeout`."""


_OfChildren = Started | Heartbeat | ChildProgress | BootFailure | Drain
_OfWorkers = Load | Loading | ChildReady | Placed | ProviderFailure | Recycle
_OfChannels = Connect | Disconnect | Distrust | Idle | WorkersNeeded
_OfFronts = Situation | SharedMemory | StandBy | Fork | Forked | Suspects | Cleared
_OfClients = PlayerWanted | PlayerLink | BooksNews | BooksIdle
ControlMessage = _OfChildren | _OfWorkers | _OfChannels | _OfFronts | _OfClients

encode = msgspec.msgpack.Encoder().encode
decode_order: Callable[[bytes], OrderMessage] = one_error(msgspec.msgpack.Decoder(OrderMessage).decode)
decode_commit: Callable[[bytes], CommitMessage] = one_error(msgspec.msgpack.Decoder(CommitMessage).decode)
decode_control: Callable[[bytes], ControlMessage] = one_error(msgspec.msgpack.Decoder(ControlMessage).decode)
