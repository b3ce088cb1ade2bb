"""`GET /status` as types: the answer's fields, and in their annotations the API's description of them.

Unmeasured values are absent.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType


class LoadedFile(msgspec.Struct):
    """A file that the engine has loaded."""

    name: str
    bytes: int
    sha256: str | UnsetType = UNSET


class Provider(msgspec.Struct):
    """One execution provider of the chain. Figures are its trial's, where it had one."""

    name: str
    state: Literal["taken", "refused", "being tried", "not tried"]
    reason: str
    compute_units: Annotated[str, Meta(description="CoreML's, in the trial.")] | UnsetType = UNSET
    right: Annotated[bool, Meta(description="Its sound is the CPU's, within the trial's limits.")] | UnsetType = UNSET
    faster: Annotated[bool, Meta(description="Enough for `auto` to use it.")] | UnsetType = UNSET
    tried_at: Annotated[str, Meta(description="UTC, ISO 8601.")] | UnsetType = UNSET
    verdict_age_seconds: int | UnsetType = UNSET
    next_trial_from: (
        Annotated[str, Meta(description="UTC: a worker that starts later has it tried again; `never` if none does.")]
        | UnsetType
    ) = UNSET
    snr_db: Annotated[float, Meta(description="Its sound against the CPU's.")] | UnsetType = UNSET
    times_as_fast_as_cpu: float | UnsetType = UNSET
    compile_seconds: Annotated[float, Meta(description="Time until its first sound.")] | UnsetType = UNSET


class Stage(msgspec.Struct):
    """One part of the model, `whole` if it isn't cut, and what it runs on."""

    name: str
    provider: str
    options: Annotated[dict[str, str], Meta(description="The provider's own.")] | UnsetType = UNSET
    window_frames: (
        Annotated[int, Meta(description="Frames of 12.5 ms: the one length that it was compiled for.")] | UnsetType
    ) = UNSET
    nodes: (
        Annotated[
            dict[str, int],
            Meta(description="Number by the provider that ran them, if a profile was taken."),
        ]
        | UnsetType
    ) = UNSET


class Scheduling(msgspec.Struct):
    """The worker's scheduling priority, as the system reports it there."""

    nice: int
    processors: Annotated[list[int], Meta(description="Those that it may use, where the system ties any.")] | (
        UnsetType
    ) = UNSET
    qos: Annotated[str, Meta(description="macOS's quality of service class.")] | UnsetType = UNSET


class SpeakingEngine(msgspec.Struct):
    """The engine in use."""

    name: Annotated[str, Meta(examples=["kokoro", "espeak-ng"])]
    provider: Annotated[str, Meta(description="onnxruntime's execution provider, or `native`.")]
    model: str
    inference_threads: Annotated[int, Meta(description="Segments made side by side.")]
    stands_in: Annotated[bool, Meta(description="It speaks only because Kokoro was wanted and can't.")] = False
    sha256: Annotated[str, Meta(description="Checksum of the model file, where there is one.")] | UnsetType = UNSET
    voices_sha256: Annotated[str, Meta(description="Checksum of all voices' values.")] | UnsetType = UNSET
    threads: Annotated[int, Meta(description="Threads of a run that is alone.")] | UnsetType = UNSET
    first_block_seconds: (
        Annotated[float, Meta(description="Audio in the first block, if made in windows.")] | UnsetType
    ) = UNSET
    scheduling: Scheduling | UnsetType = UNSET
    files: list[LoadedFile] = []
    providers: Annotated[list[Provider], Meta(description="In the order in which they are tried.")] = []
    stages: Annotated[list[Stage], Meta(description="In the order in which they run.")] = []


class Process(msgspec.Struct):
    """One of the server's processes, or a role that has none at the moment."""

    role: str
    state: str
    slot: Annotated[int, Meta(description="Number of the worker among several, from 0.")] | UnsetType = UNSET
    provider: Annotated[str, Meta(description="Execution provider of a worker's engine.")] | UnsetType = UNSET
    scheduling: Scheduling | UnsetType = UNSET
    generation: int | UnsetType = UNSET
    pid: int | UnsetType = UNSET
    uptime_seconds: float | UnsetType = UNSET
    load_seconds: Annotated[float, Meta(description="Time that loading the engine took.")] | UnsetType = UNSET
    resident_memory_bytes: int | UnsetType = UNSET
    restarts: Annotated[int, Meta(description="Restarts of the role after deaths.")] | UnsetType = UNSET
    last_exit: Annotated[str, Meta(description="End of the role's last process: a signal or a status.")] | (
        UnsetType
    ) = UNSET
    last_exit_seconds_ago: float | UnsetType = UNSET
    next_start_in_seconds: (
        Annotated[float, Meta(description="Time until the next try, if it keeps dying.")] | UnsetType
    ) = UNSET


class PlannedSegment(msgspec.Struct):
    """One segment of a stream that isn't whole yet."""

    segment: Annotated[int, Meta(description="Its number in the stream, from 0.")]
    tokens: int
    seconds: Annotated[float, Meta(description="Audio that is expected of it.")]
    made: Annotated[float, Meta(description="Part of that audio that is made, 0 to 1.")]
    stage: Annotated[
        Literal["waits", "queued", "first block", "further blocks"],
        Meta(
            description="`waits`: no worker has it; `queued`: a worker has it, and makes another one; `first block`: "
            "prosody to the first window; `further blocks`: the vocoder's next windows."
        ),
    ]
    deadline_in_seconds: Annotated[float, Meta(description="Time until its first sample is needed.")] | UnsetType = (
        UNSET
    )
    worker: Annotated[int, Meta(description="Generation of the worker that has it.")] | UnsetType = UNSET
    slot: Annotated[int, Meta(description="Number of that worker among several, from 0.")] | UnsetType = UNSET


class FirstSounds(msgspec.Struct):
    """First sounds that listeners heard in one minute."""

    minutes_ago: int
    heard: int
    median_seconds: float
    worst_seconds: float


class TracedBlock(msgspec.Struct):
    """One block of audio. Times are seconds from the request's head."""

    segment: int
    samples: int
    begun: Annotated[float, Meta(description="A thread of the worker took it up.")]
    made: Annotated[float, Meta(description="The engine had made it.")]
    written: Annotated[float, Meta(description="It lay in shared memory.")]
    noticed: Annotated[float, Meta(description="The front had it.")]


class Trace(msgspec.Struct):
    """One request that somebody heard; never its text."""

    request_id: str
    seconds_ago: Annotated[float, Meta(description="Since its first speech was handed to the socket.")]
    seconds: Annotated[float, Meta(description="From its head to that.")]
    started: Annotated[float, Meta(description="Its head was whole: seconds on the machine's monotonic clock.")]
    facts: Annotated[dict[str, str | int], Meta(description="Engine, voice, language, characters.")]
    places: Annotated[
        dict[str, float],
        Meta(description="Seconds from its head until its first audio had passed each place, in their order."),
    ]
    blocks: Annotated[list[TracedBlock], Meta(description="The first blocks that workers made for it.")]


class StreamStatus(msgspec.Struct):
    """A request being answered; never its text."""

    request_id: str
    engine: str
    seconds_sent: float
    seconds_ready: Annotated[float, Meta(description="Made and not sent.")]
    waiting_segments: Annotated[int, Meta(description="Segments that no worker has yet.")]
    state: Annotated[str, Meta(description="reading, waiting, making, sounding or made.")]
    why: Annotated[str, Meta(description="What it waits for, in words.")]
    voice: str
    language: str
    waits: Annotated[
        Literal["listener", "whole", "nobody"], Meta(description="Who waits for it: `whole`, for all of it at once.")
    ]
    age_seconds: float
    planned: Annotated[list[PlannedSegment], Meta(description="Its next six segments that aren't whole.")] = []
    first_sound_in_seconds: Annotated[float, Meta(description="Predicted, while it is silent.")] | UnsetType = UNSET
    first_sound_seconds: (
        Annotated[float, Meta(description="Time from the request to its first block, once that was made.")] | UnsetType
    ) = UNSET
    real_time_factor: Annotated[float, Meta(description="Predicted, beside the streams that are open.")] | UnsetType = (
        UNSET
    )
    seconds_ahead: Annotated[float, Meta(description="Time until its buffer would run dry.")] | UnsetType = UNSET
    due_in_seconds: Annotated[float, Meta(description="Seconds until the next segment for a worker must be there.")] | (
        UnsetType
    ) = UNSET


class Cache(msgspec.Struct):
    """Segments spoken before. Counts are this front's."""

    segments: int
    bytes: int
    hits: int
    misses: int
    capacity_bytes: int
    disk: Annotated[bool, Meta(description="Some are kept on a disk too.")]


class RecentError(msgspec.Struct):
    """A request that went wrong on the server's side."""

    at: Annotated[str, Meta(description="UTC, ISO 8601.")]
    request_id: str
    kind: Annotated[str, Meta(description="The error's code, or the status; `cut: ` before it where audio had left.")]


class Drift(msgspec.Struct):
    """The real-time factor of late against what it was."""

    baseline: Annotated[float, Meta(description="The median that is stored, whenever that was.")] | UnsetType = UNSET
    recent: Annotated[float, Meta(description="The median of the last 20 segments made alone.")] | UnsetType = UNSET
    ratio: Annotated[float, Meta(description="recent / baseline; above 1.2 it is reported.")] | UnsetType = UNSET
    stream_ratio: (
        Annotated[float, Meta(description="The ratio within the last long stream: its last segments by its first.")]
        | UnsetType
    ) = UNSET


class SelfCheck(msgspec.Struct):
    """The last self-check, compared with earlier ones."""

    at: Annotated[str, Meta(description="UTC, ISO 8601.")]
    real_time_factor: float
    first_audio_seconds: float
    checks: Annotated[int, Meta(description="Checks of this engine that the history keeps.")]
    ratio: Annotated[float, Meta(description="Its factor divided by the median of earlier ones.")] | UnsetType = UNSET


class Totals(msgspec.Struct):
    """Counts since the server's start, all processes together, as `/metrics` has them."""

    requests: int
    refused: Annotated[int, Meta(description="There was no room to speak them in time.")]
    underruns: Annotated[int, Meta(description="Gaps that listeners heard.")]
    streams_cut: int
    segments_resubmitted: int
    spoken: Annotated[int, Meta(description="Requests, and texts of sockets, of which something was heard.")]


class Work(msgspec.Struct):
    """The cost of a second of speech in one kind of process, or in one stage of its work, since this front began."""

    process: str
    processor_seconds: float
    stage: Annotated[str, Meta(description="prosody or vocoder, of a worker that tells them apart.")] | UnsetType = (
        UNSET
    )
    joules: Annotated[float, Meta(description="Its share of the processors' energy, where the machine tells it.")] | (
        UnsetType
    ) = UNSET


def work(process: str, stage: str, processor_seconds: float, joules: float) -> Work:
    """A row; 0 joules are unknown."""
    return Work(process, round(processor_seconds, 4), stage or UNSET, round(joules, 3) if joules else UNSET)


class Strain(msgspec.Struct):
    """Strain of the machine: signs from the system that it runs slower than it can."""

    signs: Annotated[list[str], Meta(description="On battery, hot, held back; empty: none.")]
    reserve: Annotated[float, Meta(description="Factor on the costs from which new texts' plans are made.")]


class Memory(msgspec.Struct):
    """The machine's memory."""

    total_bytes: int
    available_bytes: int


class Tuning(msgspec.Struct):
    """The profile that `kokoro-live tune` keeps."""

    in_use: bool
    reason: Annotated[str, Meta(description="Reason for which none is in use.")] | UnsetType = UNSET
    chosen: Annotated[dict[str, str], Meta(description="Its settings; none: the defaults.")] | UnsetType = UNSET
    verdict: Annotated[str, Meta(description="Figures in favour of the settings.")] | UnsetType = UNSET
    made_at: Annotated[str, Meta(description="UTC, ISO 8601.")] | UnsetType = UNSET
    age_seconds: float | UnsetType = UNSET


class Recommendation(msgspec.Struct):
    """Something to change, and the figure that says so."""

    code: Annotated[str, Meta(description="The same reason for programs; it doesn't change.")]
    message: str


class Player(msgspec.Struct):
    """The player of `/v1/play`. A missing sound card is noticed once something was to be played."""

    state: Literal["idle", "buffering", "playing", "paused"]
    waiting: Annotated[int, Meta(description="Texts in the queue.")]
    output: Annotated[str, Meta(description="The output in use, as last found; empty: there is no sound card.")] | (
        UnsetType
    ) = UNSET
    reason: Annotated[str, Meta(description="Reason for which there is no output.")] | UnsetType = UNSET


class Jobs(msgspec.Struct):
    """Books that `/v1/jobs` makes, as they were when the folder was read last."""

    queued: int
    making: int
    done: int
    failed: int
    job: Annotated[str, Meta(description="The job that is being made.")] | UnsetType = UNSET
    progress: Annotated[float, Meta(description="Spoken part of its text, 0 to 1.")] | UnsetType = UNSET
    seconds_left: Annotated[float, Meta(description="Seconds of work that are left.")] | UnsetType = UNSET
    waiting: Annotated[str, Meta(description="Reason for which the job is not being made now.")] | UnsetType = UNSET
    reason: Annotated[str, Meta(description="Reason for which no job can be made or kept.")] | UnsetType = UNSET


class Status(msgspec.Struct):
    """The server's state. Unmeasured values are absent; more fields may come."""

    ready: bool
    worker: Annotated[str, Meta(description="The state of the worker.")]
    restarts: Annotated[dict[str, int], Meta(description="Restarts so far, by role of the process.")]
    provider_failures: Annotated[dict[str, str], Meta(description="Execution providers given up, and why.")]
    active_streams: int
    sockets: Annotated[dict[str, int], Meta(description="Open connections that send text piece by piece, by protocol.")]
    contexts: Annotated[int, Meta(description="Texts that are being written on the sockets, spoken or not yet.")]
    queue_depth: Annotated[int, Meta(description="Segments that no worker has yet.")]
    quarantined_segments: int
    cache: Cache
    english_tagger: Annotated[
        str, Meta(description="Tagger of English words: `perceptron`, or spaCy's model with its version.")
    ]
    words_by_source: Annotated[
        dict[str, int], Meta(description="Words pronounced, by source; `rules`: in a language without a lexicon.")
    ]
    costs: Annotated[dict[str, dict[str, Any]], Meta(description="Costs fitted to measurements, by engine.")]
    settings: Annotated[dict[str, Any], Meta(description="Some of this front's settings, as they are in force.")]
    totals: Totals
    work: Annotated[list[Work], Meta(description="Per second of speech that was made; empty before the first second.")]
    memory: Memory
    front_uptime_seconds: float
    reason: Annotated[str, Meta(description="Reason for which nothing can speak.")] | UnsetType = UNSET
    engine: SpeakingEngine | UnsetType = UNSET
    tuning: Tuning | UnsetType = UNSET
    drift: Drift | UnsetType = UNSET
    strain: Annotated[Strain, Meta(description="Absent with `--no-adapt-plans`.")] | UnsetType = UNSET
    selfcheck: SelfCheck | UnsetType = UNSET
    player: Player | UnsetType = UNSET
    jobs: Jobs | UnsetType = UNSET
    streams: list[StreamStatus] = []
    processes: list[Process] = []
    errors: Annotated[list[RecentError], Meta(description="The last 20 of this front, the newest first.")] = []
    off: Annotated[dict[str, str], Meta(description="Safeguards that are off unless they are set, and why.")] = {}
    errors_by_cause: Annotated[dict[str, int], Meta(description="All errors of this front, by their kind.")] = {}
    first_sounds: Annotated[
        list[FirstSounds], Meta(description="Of the last hour, as far as this front served: minutes with any.")
    ] = []
    slowest_requests: Annotated[list[Trace], Meta(description="Five of the last hour, the slowest first.")] = []
    latest_requests: Annotated[list[Trace], Meta(description="The last three, the newest first.")] = []
    recommendations: list[Recommendation] = []
