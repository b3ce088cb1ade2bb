"""The front's own settings; the supervisor makes each into a flag, a variable and a TOML key."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from frontend.planning.minimum import MIN_FIRST_TOKENS, SHORTEST_FIRST_TOKENS
from frontend.planning.stored import read_profiles
from frontend.settings.hosts import Hosts
from frontend.settings.keys import BadKey, checked
from frontend.settings.origins import Origins


@dataclass(frozen=True, slots=True)
class FrontSettings:
    """Settings of the front process.

    Raises:
        ValueError: a value that nothing could work with; the message names the setting.
    """

    max_body_bytes: int = field(
        default=2 * 1024 * 1024,
        metadata={"help": "The longest request body, in bytes; a longer one is answered with 413."},
    )
    max_bodies_bytes: int = field(
        default=32 * 1024 * 1024,
        metadata={
            "help": "The length of all bodies and Wyoming events being read, in bytes; one more is answered with 503."
        },
    )
    api_keys: tuple[str, ...] = field(
        default=(),
        repr=False,
        metadata={
            "help": "The keys that clients need one of, with commas between them. None: no client needs one.",
            "separator": ",",
        },
    )
    api_key_file: Path | None = field(
        default=None, metadata={"help": "More keys, one a line; read again when it has changed."}
    )
    requests_per_minute: int = field(
        default=0,
        metadata={
            "help": "Requests of one key, or of one address without a key; more are answered with 429. 0: no limit."
        },
    )
    cors_origins: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Origins whose pages may use the server, besides localhost's: https://example.com, null; *: all.",
            "separator": ",",
        },
    )
    allowed_hosts: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Host names of the server besides localhost: those that a proxy passes on.",
            "separator": ",",
        },
    )
    max_input_characters: int = field(
        default=100_000,
        metadata={"help": "The longest text of one request, in characters; a longer one is answered with 400."},
    )
    elevenlabs: bool = field(
        default=True, metadata={"help": "Answer clients of ElevenLabs: /v1/text-to-speech, by WebSocket and by POST."}
    )
    cartesia: bool = field(
        default=True, metadata={"help": "Answer clients of Cartesia: /tts/websocket and /tts/bytes."}
    )
    deepgram: bool = field(
        default=True, metadata={"help": "Answer clients of Deepgram: /v1/speak, by WebSocket and POST."}
    )
    wyoming_blends: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Blends that Wyoming's clients are told of besides the voices: af_heart(2)+af_bella.",
            "separator": ",",
        },
    )
    wyoming_zeroconf: bool = field(
        default=False,
        metadata={
            "help": "Announce the Wyoming port to the local network, for Home Assistant to find (extra zeroconf)."
        },
    )
    chunk_ms: int = field(
        default=100,
        metadata={"help": "The most audio in one HTTP chunk, in milliseconds."},
    )
    prime_silence: float = field(
        default=0.0,
        metadata={
            "help": "Seconds of silence that a streamed answer of /v1/audio and /dev begins with, before the speech is "
            "there; labelled X-Primed-Silence."
        },
    )
    adapt_plans: bool = field(
        default=True,
        metadata={"help": "Cut texts by the engine's measured costs; without it the cuts are the same on any day."},
    )
    cost_profiles: Path | None = field(
        default=None,
        metadata={"help": "A JSON file of engines' costs, as /status shows them, that plans begin with."},
    )
    min_first_tokens: int = field(
        default=MIN_FIRST_TOKENS,
        metadata={
            "help": "The least number of phonemes in a segment, where possible. Fewer start sooner, and sound cut off: "
            "a piece of a few words has a melody of its own. Not under 10."
        },
    )
    cache_bytes: int = field(
        default=256 * 1024 * 1024,
        metadata={"help": "Bytes of spoken segments kept in memory, in case they are requested again; 0: none."},
    )
    disk_cache: Path | None = field(
        default=None,
        metadata={"help": "A folder in which spoken segments are kept too, also for later starts."},
    )
    disk_cache_bytes: int = field(
        default=1024 * 1024 * 1024,
        metadata={"help": "The most that the folder may hold, in bytes."},
    )
    disk_cache_ttl: float = field(
        default=30 * 86_400.0,
        metadata={"help": "Seconds after which a segment of the folder is made again."},
    )
    prewarm: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Phrases, with | between them, made while nobody listens, so that they are in the cache.",
            "separator": "|",
        },
    )
    max_clip_seconds: int = field(
        default=1800,
        metadata={"help": "The longest audio of a request with stream: false, which is kept whole, in seconds."},
    )
    max_streams: int = field(
        default=64,
        metadata={"help": "Requests spoken at the same time; one more is answered with 429."},
    )
    max_connections: int = field(
        default=1000,
        metadata={
            "help": "Connections open at the same time, or fewer where ulimit -n wants that; for one more, the one "
            "that has been idle longest is closed."
        },
    )
    header_timeout: float = field(
        default=10.0,
        metadata={"help": "Seconds in which a request's header must arrive; then the connection is closed."},
    )
    body_timeout: float = field(
        default=30.0,
        metadata={"help": "Seconds in which a request's body must arrive; then it is answered with 408."},
    )
    keepalive_timeout: float = field(
        default=75.0,
        metadata={"help": "Seconds after which a connection without a request is closed; more than a proxy's own."},
    )
    write_timeout: float = field(
        default=600.0,
        metadata={"help": "Seconds for which a listener may read nothing (a paused player); then its stream is cut."},
    )
    selfcheck_hours: float = field(
        default=0.0,
        metadata={"help": "Hours between self-checks: a short text spoken to nobody and timed; 0: none."},
    )
    idle_unload: float = field(
        default=0.0,
        metadata={
            "help": "The time without a request for speech after which the engine's process is stopped, and its memory "
            "free, such as 15m; the next request starts it. 0: never.",
            "duration": True,
        },
    )
    hang_patience: float = field(
        default=5.0,
        metadata={"help": "Seconds beyond ten times the expected work after which a silent, idle worker is replaced."},
    )
    quarantine_seconds: float = field(
        default=600.0,
        metadata={"help": "Seconds for which a piece of text that killed three workers isn't tried again."},
    )
    drain_timeout: float = field(
        default=30.0,
        metadata={"help": "Seconds that streams have to finish after SIGTERM or SIGINT; then they are cut."},
    )

    def __post_init__(self) -> None:
        for name in (
            "max_body_bytes",
            "max_input_characters",
            "chunk_ms",
            "max_clip_seconds",
            "max_streams",
            "max_connections",
        ):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("header_timeout", "body_timeout", "keepalive_timeout", "write_timeout"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be more than 0 seconds, not {getattr(self, name):g}")
        if self.min_first_tokens < SHORTEST_FIRST_TOKENS:
            raise ValueError(f"min_first_tokens must be at least {SHORTEST_FIRST_TOKENS}, not {self.min_first_tokens}")
        if self.max_bodies_bytes < self.max_body_bytes:
            raise ValueError(f"max_bodies_bytes must be at least max_body_bytes, not {self.max_bodies_bytes}")
        if self.requests_per_minute < 0:
            raise ValueError(f"requests_per_minute must be 0 or more, not {self.requests_per_minute}")
        try:
            checked(self.api_keys)
        except BadKey as error:
            raise ValueError(f"api_keys: {error}") from error
        if self.wyoming_zeroconf and find_spec("zeroconf") is None:
            from kokoro_live.installation import this_installation

            raise ValueError(f"wyoming_zeroconf needs the extra zeroconf: {this_installation().add('zeroconf')}")
        Hosts(self.allowed_hosts)
        Origins(self.cors_origins)
        if self.cost_profiles:
            try:
                read_profiles(self.cost_profiles)
            except ValueError as error:
                raise ValueError(f"cost_profiles: {error}") from error
        for name in ("cache_bytes", "disk_cache_bytes", "prime_silence", "selfcheck_hours", "idle_unload"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be 0 or more, not {getattr(self, name):g}")
        if self.disk_cache_ttl <= 0:
            raise ValueError(f"disk_cache_ttl must be more than 0 seconds, not {self.disk_cache_ttl:g}")
        if self.drain_timeout < 0:
            raise ValueError(f"drain_timeout must be 0 or more seconds, not {self.drain_timeout:g}")
        if self.hang_patience <= 0:
            raise ValueError(f"hang_patience must be more than 0 seconds, not {self.hang_patience:g}")
        if self.quarantine_seconds < 0:
            raise ValueError(f"quarantine_seconds must be 0 or more, not {self.quarantine_seconds:g}")
