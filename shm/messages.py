"""The messages between processes, and their form in bytes.

Three conversations, each on a channel of its own:

* **orders**, front -> worker: `SegmentOrder`, `Release`, `Forget`
* **commits**, worker -> front: `Began`, `Marks`, `Commit`, `Done`, `Failed`, `Quit`. Each fits `MAX_COMMIT_BYTES`, so
  that one `write` puts it into the pipe whole (POSIX: writes up to PIPE_BUF, at least 512 bytes, are atomic) and a
  killed worker can't leave half of one.
* **control**, supervisor <-> child: everything about lifecycles (`ControlMessage`).

Samples are counted at `shm.audio.SAMPLE_RATE`; times are seconds on the monotonic clock, which all processes of
one machine share.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from shm.engine_info import EngineInfo, Priority

MAX_COMMIT_BYTES = 512
"""The longest record on the commits channel, frame header included: POSIX's smallest PIPE_BUF."""

Voice = tuple[tuple[str, float], ...]
"""A blend: names of voices with weights that sum to 1. A single voice is a blend of one."""


class SegmentOrder(msgspec.Struct, frozen=True, kw_only=True, tag="order"):
    """Make one segment's PCM, from `from_sample` on, into a ring."""

    generation: int
    stream: int
    """The number under which this worker knows the stream; unique within a front's life. A stream that takes another
    ring takes another number with it."""
    segment: int
    """Place in the stream, from 0; a stream's segments are dispatched in order, and written in order."""
    ring: int
    """Index of the ring in the arena. The stream's number owns it until `Forget` (`shm.ring` has the layout)."""
    script: str
    language: str
    """Language code as espeak names it: en-us, en-gb, es, fr-fr, hi, it, ja, pt-br, cmn."""
    voice: Voice
    speed: float
    seed: int
    """The noise seed: the same order gives the same samples, where the engine can. A model without random nodes, as the
    published ones are, gives the same samples for every seed."""
    from_sample: int = 0
    """The first sample wanted; those before it were sealed by a generation that died."""
    first_deadline: float
    """Monotonic seconds at which the segment's sample 0 must be there."""
    marks: bool = False
    """Marks are wanted, if the engine has them: when each part of the script sounds."""


class Release(msgspec.Struct, frozen=True, tag="release"):
    """The front has read everything before `position` in the stream's ring: that room is free again (a credit)."""

    stream: int
    position: int
    """Samples since the stream took the ring."""


class Forget(msgspec.Struct, frozen=True, tag="forget"):
    """The stream has ended or its listener left: once the worker reads this, it writes nothing for the stream, and the
    ring is free."""

    stream: int


OrderMessage = SegmentOrder | Release | Forget


class Began(msgspec.Struct, frozen=True, tag="began"):
    """An inference thread has taken up the segment's next block: the heartbeat that tells a hang from a long queue."""

    generation: int
    stream: int
    segment: int


class Commit(msgspec.Struct, frozen=True, tag="commit"):
    """A whole block is in the ring. The front checks generation and CRC before it believes that."""

    generation: int
    stream: int
    segment: int
    offset: int
    """The block's first sample within its segment."""
    position: int
    """The block's first sample within the ring: samples since the stream took it."""
    samples: int
    crc32: int
    """zlib.crc32 of the block's bytes."""


class Marks(msgspec.Struct, frozen=True, tag="marks"):
    """When parts of the script sound. Sent in order, each before the commit of the first sample that it speaks of.

    A segment has as many of these records as it needs.
    """

    generation: int
    stream: int
    segment: int
    packed: bytes
    """Pairs of (place in the script, in characters; sample of the segment at which that place begins to sound), both
    rising, as `pack_marks` writes them. The last pair of a segment has the script's length and the end of its sound."""


class Done(msgspec.Struct, frozen=True, tag="done"):
    """The segment's last block was committed."""

    generation: int
    stream: int
    segment: int
    samples: int
    """The segment's whole length, counted from its sample 0."""
    seconds: float
    """Time spent in the engine."""
    prosody_seconds: float = 0.0
    """The part of `seconds` before the first sample could be vocoded; 0 from an engine that doesn't tell."""


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The engine can't make this segment; the worker itself continues."""

    generation: int
    stream: int
    segment: int
    reason: str


class Quit(msgspec.Struct, frozen=True, tag="quit"):
    """The worker ends for a reason of its own: no segment that it had is to blame."""

    generation: int


CommitMessage = Began | Marks | Commit | Done | Failed | Quit

Mark = tuple[int, int]
"""A place in a script, in characters, and the sample of its segment at which it begins to sound."""

_MARK = struct.Struct("<HI")

MAX_MARKS = 64
"""Marks in one record, so that it stays below `MAX_COMMIT_BYTES`."""


def pack_marks(marks: Sequence[Mark]) -> bytes:
    """Put at most `MAX_MARKS` marks into bytes, as `Marks.packed` has them."""
    return b"".join(_MARK.pack(*mark) for mark in marks)


def unpack_marks(packed: bytes) -> list[Mark]:
    """The inverse of `pack_marks`.

    Raises:
        ValueError: the bytes aren't whole marks.
    """
    try:
        return list(_MARK.iter_unpack(packed))
    except struct.error as error:
        raise ValueError(f"{len(packed)} bytes are no marks") from error


_MAX_REASON_BYTES = 400


def clipped(reason: str) -> str:
    """The beginning of `reason` that fits into a record of `MAX_COMMIT_BYTES`, with `?` for lone surrogates."""
    return reason.encode(errors="replace")[:_MAX_REASON_BYTES].decode(errors="ignore")


class Load(msgspec.Struct, frozen=True, tag="load"):
    """Supervisor -> worker: load the engine. Until then a worker only imports, and waits as a standby."""

    without: tuple[str, ...] = ()
    """Execution providers that don't work here."""
    standby: bool = False
    """The worker isn't needed yet: it stays a standby, with its model loaded."""
    slot: int = 0
    """The worker's slot, from 0. A worker that has loaded gets a second `Load` when it takes another slot, or another
    part of the cores."""
    slots: int = 1
    """How many workers share the machine."""
    accelerated: bool = False
    """The first worker runs on an accelerator: it leaves the cores to the others."""


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """Worker -> supervisor: the engine is loaded and warmed up. The worker waits for a channel (`Connect`)."""

    engine: EngineInfo
    load_seconds: float


class Loading(msgspec.Struct, frozen=True, tag="loading"):
    """Worker -> supervisor: the worker loads for that execution provider from now until `Ready`."""

    provider: str


class Progress(msgspec.Struct, frozen=True, tag="progress"):
    """Child -> supervisor, once: I have done some of my work. A worker has sealed a block, a front has begun an answer.
    Its death from now on is no part of a crash loop."""


class Placed(msgspec.Struct, frozen=True, tag="placed"):
    """Worker -> supervisor: a second `Load` was followed; the system schedules the worker like this since."""

    priority: Priority


class ProviderFailure(msgspec.Struct, frozen=True, tag="provider_failure"):
    """Worker -> supervisor: that execution provider doesn't work here, and this process ends. The next one is due."""

    provider: str
    reason: str


class Recycle(msgspec.Struct, frozen=True, tag="recycle"):
    """Worker -> supervisor: the worker has grown too large or too old; it is replaced when another one is ready."""

    reason: str


class BootFailure(msgspec.Struct, frozen=True, tag="boot_failure"):
    """Child -> supervisor: the process can't start, and starting it again would not help."""

    kind: str
    """A name of `supervisor.processes.exit_codes`."""
    reason: str
    """One line that says what to do."""


class Connect(msgspec.Struct, frozen=True, tag="connect"):
    """Supervisor -> both ends of a new channel, with three file descriptors: orders pipe, commits pipe, arena.

    To the front it also names the engine. A worker has several channels while one front takes over from another.
    """

    generation: int
    rings: int
    ring_samples: int
    engine: EngineInfo | None = None
    slot: int = 0
    """The worker's slot: a later generation in the same slot takes the place of an earlier one."""


class Disconnect(msgspec.Struct, frozen=True, tag="disconnect"):
    """Supervisor -> front: that generation is dead and reaped, or gets no new segment (`draining`)."""

    generation: int
    draining: bool = False


class Distrust(msgspec.Struct, frozen=True, tag="distrust"):
    """Front -> supervisor: that generation broke a contract of this module (a wrong CRC, say) and is to be ended."""

    generation: int
    reason: str


class Idle(msgspec.Struct, frozen=True, tag="idle"):
    """Front -> supervisor: the draining generation has no segment left; it may be stopped."""

    generation: int


class Started(msgspec.Struct, frozen=True, tag="started"):
    """Front -> supervisor: the front follows messages; it accepts requests once it has read the first `Situation`."""


class ProcessReport(msgspec.Struct, frozen=True, kw_only=True):
    """One process, or one role that has none at the moment, as the supervisor sees it."""

    role: str
    """front, worker, standby, fetcher, trial; `worker` and `front` also for those that finish their streams
    (`draining`)."""
    state: str
    """A `supervisor.processes.role.RoleState`; `draining`; of a standby `imported` or `loaded`."""
    generation: int | None = None
    pid: int | None = None
    """None while the role has no process."""
    started: float | None = None
    """Monotonic seconds."""
    load_seconds: float | None = None
    """Seconds in which a worker loaded its engine."""
    restarts: int | None = None
    """Restarts of the role so far."""
    last_exit: str = ""
    """How the role's last process to die ended: `SIGKILL`, `status 1`; empty if none has died."""
    last_exit_at: float | None = None
    """Monotonic seconds."""
    slot: int | None = None
    """The worker's slot, from 0; None where there is one worker."""
    provider: str = ""
    """The execution provider of a worker's engine; empty while none is loaded."""
    priority: Priority | None = None
    """How the system schedules a worker that has loaded."""


class Tuning(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the profile that `kokoro-live tune` keeps."""

    reason: str = ""
    """The reason for which no profile is in use; empty if one is."""
    created: float | None = None
    """Seconds since 1970."""
    chosen: dict[str, str] = {}
    """The profile's values for settings that nobody gave, as text for people."""
    verdict: str = ""
    """One sentence on the choice and its reason."""


class Situation(msgspec.Struct, frozen=True, tag="situation"):
    """Supervisor -> front: how the processes stand, and why nothing can speak if so (`/ready`, 503s, `/metrics`)."""

    worker_state: str
    """The state of the worker; among several, of the one that stands best."""
    reason: str
    restarts: dict[str, int]
    """Restarts so far by process role: front, worker."""
    provider_failures: dict[str, str] = {}
    """Execution providers that were given up, with the reason."""
    processes: tuple[ProcessReport, ...] = ()
    tuning: Tuning | None = None


class TextBoard(msgspec.Struct, frozen=True, tag="text_board"):
    """Supervisor -> front, first of all, with one file descriptor: record your texts there (`shm.in_flight`)."""


class Suspects(msgspec.Struct, frozen=True, tag="suspects"):
    """Supervisor -> front: texts that were in the works when fronts died, by the digests of `shm.in_flight`."""

    suspected: tuple[bytes, ...] = ()
    """Say so (`Cleared`) when one of them is answered."""
    refused: dict[bytes, float] = {}
    """Until when on the monotonic clock each isn't to be tried again."""


class Cleared(msgspec.Struct, frozen=True, tag="cleared"):
    """Front -> supervisor: that suspected text was answered, and this process lives."""

    digest: bytes


class Drain(msgspec.Struct, frozen=True, tag="drain"):
    """Supervisor -> child: accept nothing new, finish the streams, exit 0."""


ControlMessage = (
    Load
    | Loading
    | Ready
    | Placed
    | Progress
    | ProviderFailure
    | Recycle
    | BootFailure
    | Connect
    | Disconnect
    | Distrust
    | Idle
    | Started
    | Situation
    | TextBoard
    | Suspects
    | Cleared
    | Drain
)

_Message = TypeVar("_Message")


def _decoder(decode: Callable[[bytes], _Message]) -> Callable[[bytes], _Message]:
    """Make `decode` raise one kind of error for everything that isn't a message.

    msgspec lets invalid UTF-8 and too deep nesting through as Python's own errors.
    """

    def decode_or_refuse(payload: bytes) -> _Message:
        try:
            return decode(payload)
        except (UnicodeDecodeError, RecursionError) as error:
            raise msgspec.DecodeError(str(error)) from error

    return decode_or_refuse


encode = msgspec.msgpack.Encoder().encode
decode_order: Callable[[bytes], OrderMessage] = _decoder(msgspec.msgpack.Decoder(OrderMessage).decode)
decode_commit: Callable[[bytes], CommitMessage] = _decoder(msgspec.msgpack.Decoder(CommitMessage).decode)
decode_control: Callable[[bytes], ControlMessage] = _decoder(msgspec.msgpack.Decoder(ControlMessage).decode)
