"""The front's own settings; the supervisor makes each into a flag, a variable and a TOML key."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from frontend.audio.formats import FORMATS, listed
from frontend.settings.access import BadKey, Hosts, Origins, checked
from shm.audio import FASTEST, SLOWEST
from shm.folders import state_folder
from shm.setting import Group, check_bounds, setting

Begins = Literal["sentence", "clause", "now"]
"""The part of a growing text that must be there before speech begins."""


@dataclass(frozen=True, slots=True)
class FrontSettings:
    """Settings of the front process.

    Raises:
        ValueError: a value that nothing could work with; the message names the setting.
    """

    max_body_bytes: int = setting(
        Group.LIMITS,
        "The longest request body, in bytes; a longer one is answered with 413.",
        2 * 1024 * 1024,
        low=1,
    )
    api_keys: tuple[str, ...] = setting(
        Group.ACCESS,
        "The keys that clients need one of, with commas between them. None: no client needs one.",
        (),
        separator=",",
        secret=True,
    )
    api_key_file: Path | None = setting(Group.ACCESS, "More keys, one a line; read again when it has changed.", None)
    requests_per_minute: int = setting(
        Group.ACCESS,
        "Requests of one key, or of one address without a key; more are answered with 429. 0: no limit.",
        0,
        low=0,
    )
    cors_origins: tuple[str, ...] = setting(
        Group.ACCESS,
        "Origins whose pages may use the server, besides localhost's: https://example.com, null; *: all.",
        (),
        separator=",",
    )
    allowed_hosts: tuple[str, ...] = setting(
        Group.ACCESS,
        "Host names of the server besides localhost: those that a proxy passes on.",
        (),
        separator=",",
    )
    max_input_characters: int = setting(
        Group.LIMITS,
        "The longest text of one request, in characters; a longer one is answered with 400.",
        100_000,
        low=1,
    )
    default_voice: str = setting(
        Group.ANSWERS,
        "The voice, or blend, of requests that name none; the engine's own where it lacks that one.  "
        "[default: the engine's own]",
        "",
    )
    default_speed: float = setting(
        Group.ANSWERS, "The pace of requests that name none, 0.25 to 5.", 1.0, low=SLOWEST, high=FASTEST
    )
    default_format: str = setting(
        Group.ANSWERS,
        f"The audio format of requests over HTTP that name none: {listed(FORMATS)}.  [default: each service's own]",
        "",
    )
    web_pages: bool = setting(
        Group.ACCESS,
        "Fetch web pages that clients name by their addresses (POST /v1/documents, the page); only public addresses.",
        False,
    )
    dialects: tuple[str, ...] = setting(
        Group.DIALECTS,
        "The services whose clients are answered, with commas between (docs/clients.md has their names). "
        "all: all of them; empty: none.",
        ("all",),
        separator=",",
    )
    wyoming_blends: tuple[str, ...] = setting(
        Group.DIALECTS,
        "Blends that Wyoming's clients are told of besides the voices: af_heart(2)+af_bella.",
        (),
        separator=",",
    )
    wyoming_zeroconf: bool = setting(
        Group.DIALECTS,
        "Announce the Wyoming port to the local network, for Home Assistant to find (extra zeroconf).",
        False,
    )
    prime_silence: float = setting(
        Group.ANSWERS,
        "Seconds of silence that a streamed answer of /v1/audio and /dev begins with, before the speech is there; "
        "labelled X-Primed-Silence.",
        0.0,
        low=0,
    )
    adapt_plans: bool = setting(
        Group.TEXT, "Cut texts by the engine's measured costs; without it the cuts are the same on any day.", True
    )
    growing_text: Begins = setting(
        Group.TEXT,
        "When a text that comes in pieces is spoken: by whole sentence, from the end of a sentence's first clause on "
        "(clause), or from its first settled words on (now); on a machine without speed to spare, by whole sentence.",
        "now",
    )
    cache_bytes: int = setting(
        Group.CACHE,
        "Bytes of spoken segments kept in memory, in case they are requested again; 0: none.",
        256 * 1024 * 1024,
        low=0,
    )
    disk_cache: Path | None = setting(
        Group.CACHE, "A folder in which spoken segments are kept too, for 30 days and for later starts.", None
    )
    disk_cache_bytes: int = setting(
        Group.CACHE, "The most that the folder may hold, in bytes.", 1024 * 1024 * 1024, low=0
    )
    prewarm: tuple[str, ...] = setting(
        Group.CACHE,
        "Phrases, with | between them, made while nobody listens, so that they are in the cache.",
        (),
        separator="|",
    )
    max_clip_seconds: int = setting(
        Group.ANSWERS,
        "The longest audio of a request with stream: false, which is kept whole, in seconds.",
        1800,
        low=1,
    )
    max_streams: int = setting(
        Group.LIMITS, "Requests spoken at the same time; one more is answered with 429.", 64, low=1
    )
    agent_reserve: float = setting(
        Group.LIMITS,
        "The share of the machine, and of --max-streams, that only voice agents' turns may take (texts that come in "
        "pieces over a socket), so that none is rejected for others.",
        0.1,
        low=0,
        high=0.9,
    )
    max_connections: int = setting(
        Group.LIMITS,
        "Connections open at the same time, or fewer where ulimit -n wants that; for one more, the one that has been "
        "idle longest is closed.",
        1000,
        low=1,
    )
    header_timeout: float = setting(
        Group.LIMITS,
        "Seconds in which a request's header must arrive; then the connection is closed.",
        10.0,
        above=0,
    )
    keepalive_timeout: float = setting(
        Group.LIMITS,
        "Seconds after which a connection without a request is closed; more than a proxy's own.",
        75.0,
        above=0,
    )
    write_timeout: float = setting(
        Group.LIMITS,
        "Seconds for which a listener may read nothing (a paused player); then its stream is cut.",
        600.0,
        above=0,
    )
    selfcheck_hours: float = setting(
        Group.LOGS,
        "Hours between self-checks: a short text spoken to nobody and timed; 0: none.",
        0.0,
        low=0,
    )
    idle_unload: float = setting(
        Group.MACHINE,
        "The time without a request for speech after which the engine's process is stopped, and its memory free, such "
        "as 15m; the next request starts it. 0: never.",
        0.0,
        low=0,
        duration=True,
    )
    hang_patience: float = setting(
        Group.RESTARTS,
        "Seconds beyond ten times the expected work after which a silent, idle worker is replaced.",
        5.0,
        above=0,
    )
    drain_timeout: float = setting(
        Group.RESTARTS,
        "Seconds that streams have to finish after SIGTERM or SIGINT; then they are cut.",
        30.0,
        low=0,
    )
    body_timeout: float = 30.0
    """Seconds in which a request's body must arrive; then it is answered with 408."""
    max_bodies_bytes: int = 32 * 1024 * 1024
    """Bytes of all bodies and Wyoming events being read, or `max_body_bytes` if that is more; one more is answered with
    503."""
    chunk_ms: int = 100
    """The most audio in one HTTP chunk, in milliseconds."""
    quarantine_seconds: float = 600.0
    """Seconds for which a piece of text that killed three workers isn't tried again."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.default_format and self.default_format not in FORMATS:
            raise ValueError(f"default_format must be {listed(FORMATS)}, not {self.default_format}")
        try:
            checked(self.api_keys)
        except BadKey as error:
            raise ValueError(f"api_keys: {error}") from error
        if self.wyoming_zeroconf and find_spec("zeroconf") is None:
            from kokoro_live.installation import this_installation

            raise ValueError(f"wyoming_zeroconf needs the extra zeroconf: {this_installation().add('zeroconf')}")
        Hosts(self.allowed_hosts)
        Origins(self.cors_origins)

    def answers_dialect(self, name: str) -> bool:
        return "all" in self.dialects or name in self.dialects


LONGEST_FILE = 100 * 1024 * 1024
"""Bytes of the longest file that is read as a book (`books.reading.open.MOST_BYTES`)."""


@dataclass(frozen=True, slots=True)
class JobSettings:
    """The folder of jobs, and its limits.

    Raises:
        ValueError: a value that nothing could work with; the message names the setting.
    """

    jobs_dir: Path | None = setting(
        Group.BOOKS, "The folder of the books that /v1/jobs makes.  [default: jobs in the user's state folder]", None
    )
    jobs_between: str = setting(
        Group.BOOKS, "Hours of the day in which books are made, as in 01:00-07:00; a job may name its own.", ""
    )
    max_jobs: int = setting(
        Group.BOOKS,
        "Jobs that are kept, finished ones too; one more is answered with 409. 0: none.",
        50,
        low=0,
    )
    max_job_bytes: int = LONGEST_FILE
    """The longest file that a book is made of, in bytes; a longer one is answered with 413."""
    max_jobs_bytes: int = 20 * 1024**3
    """The most that the folder of jobs may hold, in bytes; books wait when it is full."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.jobs_between:
            from shm.book_jobs import Hours  # with msgspec, which a command without such hours doesn't need

            try:
                Hours(self.jobs_between)
            except ValueError as error:
                raise ValueError(f"jobs_between: {error}") from error

    @property
    def folder(self) -> Path:
        """The folder of jobs; it may not exist yet."""
        return self.jobs_dir or state_folder() / "jobs"
