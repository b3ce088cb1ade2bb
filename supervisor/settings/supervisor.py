"""The supervisor's own settings; those of the front and the worker live in their folders."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from shm.audio import SAMPLE_RATE
from supervisor.settings.logs import LogFormat, LogSettings


@dataclass(frozen=True, slots=True)
class SupervisorSettings:
    """The address, the memory that streams share, the processes and their restarts, and the log.

    Raises:
        ValueError: a value that nothing could work with; the message names the setting.
    """

    host: str = field(default="127.0.0.1", metadata={"help": "The address to listen on."})
    port: int = field(default=8880, metadata={"help": "The port to listen on."})
    wyoming_port: int | None = field(
        default=None,
        metadata={
            "help": "Answer Wyoming's clients, such as Home Assistant, on this port; 10200 is usual. Without the "
            "setting, no such port is open."
        },
    )
    wyoming_host: str = field(
        default="127.0.0.1",
        metadata={"help": "The address for Wyoming's clients: who can reach it can use the server, without a key."},
    )
    allow_unauthenticated: bool = field(
        default=False, metadata={"help": "Listen where others can reach it, without an API key."}
    )
    rings: int = field(default=32, metadata={"help": "Streams that can be made at once; others wait."})
    ring_seconds: float = field(
        default=20.0, metadata={"help": "Seconds of audio that one stream may be ahead of its listener (48 kB each)."}
    )
    standby: Literal["off", "imported", "loaded"] = field(
        default="imported",
        metadata={
            "help": "A spare worker that takes a dead one's place: with its libraries imported, "
            "or with the model loaded too."
        },
    )
    workers: int = field(
        default=1,
        metadata={
            "help": "Workers that speak side by side: the first on the best execution provider, the others on the "
            "CPU; without an accelerator each has its part of the cores."
        },
    )
    max_deaths: int = field(
        default=5,
        metadata={
            "help": "Deaths of a process in a row, without progress, after which the next try waits for "
            "minutes; the front's end the server."
        },
    )
    death_window: float = field(
        default=30.0, metadata={"help": "Seconds that such deaths must last, unless the process has never served."}
    )
    load_timeout: float = field(
        default=300.0,
        metadata={
            "help": "Seconds in which a worker must have loaded its engine; then it is killed, and an accelerator that "
            "it loads for is given up."
        },
    )
    offline: bool = field(default=False, metadata={"help": "Never fetch the model in the background."})
    metrics_dir: Path | None = field(
        default=None,
        metadata={
            "help": "A folder for the counts of all processes, this server's alone; counts of an earlier start are "
            "removed. Without it the folder is private, and gone at the end."
        },
    )
    log_level: Literal["debug", "info", "warning", "error"] = field(
        default="info", metadata={"help": "The least level that is logged. Texts are logged at debug only."}
    )
    log_format: LogFormat = field(
        default="human", metadata={"help": "Lines for people, or one JSON object a line for programs."}
    )

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise ValueError(f"port must be 0 to 65535, not {self.port}")
        if self.wyoming_port is not None and not 0 <= self.wyoming_port <= 65535:
            raise ValueError(f"wyoming_port must be 0 to 65535, not {self.wyoming_port}")
        if self.rings < 1:
            raise ValueError(f"rings must be at least 1, not {self.rings}")
        if not 1 <= self.ring_seconds <= 600:
            raise ValueError(f"ring_seconds must be 1 to 600, not {self.ring_seconds:g}")
        if not 1 <= self.workers <= 16:
            raise ValueError(f"workers must be 1 to 16, not {self.workers}")
        if self.max_deaths < 1:
            raise ValueError(f"max_deaths must be at least 1, not {self.max_deaths}")
        if self.load_timeout <= 0:
            raise ValueError(f"load_timeout must be more than 0 seconds, not {self.load_timeout:g}")
        if self.death_window <= 0:
            raise ValueError(f"death_window must be more than 0 seconds, not {self.death_window:g}")

    @property
    def logs(self) -> LogSettings:
        """The log settings of each process of the server."""
        return LogSettings(self.log_level, self.log_format)

    @property
    def ring_samples(self) -> int:
        """A ring's capacity in samples."""
        return int(self.ring_seconds * SAMPLE_RATE)
