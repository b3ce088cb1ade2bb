"""The front's own settings; the supervisor makes a flag, a variable and a TOML key of each."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FrontSettings:
    """What the HTTP side can be told.

    Raises:
        ValueError: a value that nothing could work with; the message names the setting.
    """

    max_body_bytes: int = field(
        default=2 * 1024 * 1024,
        metadata={"help": "The longest request body, in bytes; a longer one is answered with 413."},
    )
    max_input_characters: int = field(
        default=100_000,
        metadata={"help": "The longest text of one request, in characters; a longer one is answered with 400."},
    )
    chunk_ms: int = field(
        default=100,
        metadata={"help": "The most audio in one HTTP chunk, in milliseconds."},
    )
    max_clip_seconds: int = field(
        default=1800,
        metadata={"help": "The longest audio of a request with stream: false, which is kept whole, in seconds."},
    )
    max_streams: int = field(
        default=64,
        metadata={"help": "Requests spoken at the same time; one more is answered with 503."},
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
    hang_patience: float = field(
        default=5.0,
        metadata={"help": "Seconds beyond ten times the expected work after which a silent worker is replaced."},
    )
    quarantine_seconds: float = field(
        default=600.0,
        metadata={"help": "Seconds for which a piece of text that killed two workers isn't tried again."},
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
        if self.drain_timeout < 0:
            raise ValueError(f"drain_timeout must be 0 or more seconds, not {self.drain_timeout:g}")
        if self.hang_patience <= 0:
            raise ValueError(f"hang_patience must be more than 0 seconds, not {self.hang_patience:g}")
        if self.quarantine_seconds < 0:
            raise ValueError(f"quarantine_seconds must be 0 or more, not {self.quarantine_seconds:g}")
