"""The supervisor's own settings, and the log of all processes; settings of front and worker live in their folders."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs
from pythonjsonlogger.json import JsonFormatter

from shm.audio import SAMPLE_RATE
from shm.setting import Group, check_bounds, setting

LOOPBACK = "127.0.0.1"


def certificate_folder() -> Path:
    """The folder in which `kokoro-live tls make` keeps its files."""
    return platformdirs.user_config_path("kokoro-live", appauthor=False) / "tls"


@dataclass(frozen=True, slots=True)
class SupervisorSettings:
    """The address, the memory that streams share, the processes and their restarts, and the log.

    Raises:
        ValueError: a value that nothing could work with; the message names the setting.
    """

    host: str = setting(Group.ACCESS, "The address to listen on.", LOOPBACK)
    port: int = setting(Group.ACCESS, "The port to listen on.", 8880, low=0, high=65535)
    tls_port: int | None = setting(
        Group.ACCESS,
        "Answer over TLS (https, wss) on this port of --host; 8443 is usual. HTTP without TLS is then on 127.0.0.1 "
        "alone.",
        None,
        low=0,
        high=65535,
    )
    tls_cert: Path | None = setting(
        Group.ACCESS, "The certificate for TLS, in PEM. Without it, that of `kokoro-live tls make`.", None
    )
    tls_key: Path | None = setting(Group.ACCESS, "Its key, in PEM, if it isn't in the certificate's file.", None)
    wyoming_port: int | None = setting(
        Group.DIALECTS,
        "Answer Wyoming's clients, such as Home Assistant, on this port; 10200 is usual. Without the setting, no such "
        "port is open.",
        None,
        low=0,
        high=65535,
    )
    wyoming_host: str = setting(
        Group.DIALECTS,
        "The address for Wyoming's clients: who can reach it can use the server, without a key.",
        "127.0.0.1",
    )
    allow_unauthenticated: bool = setting(Group.ACCESS, "Listen where others can reach it, without an API key.", False)
    rings: int = setting(Group.ANSWERS, "Streams that can be made at once; others wait.", 32, low=1)
    ring_seconds: float = setting(
        Group.ANSWERS,
        "Seconds of audio that one stream may be ahead of its listener (48 kB each).",
        20.0,
        low=1,
        high=600,
    )
    standby: Literal["off", "imported", "loaded"] = setting(
        Group.MACHINE,
        "A spare worker that takes a dead one's place: with its libraries imported, or with the model loaded too.",
        "imported",
    )
    standby_front: bool = setting(
        Group.MACHINE,
        "A spare front, of some 45 MB, that takes a dead one's place at once; without one, a new front starts. On by "
        "default on Linux.",
        sys.platform == "linux",
    )
    workers: int = setting(
        Group.MACHINE,
        "Workers that speak side by side: the first on the best execution provider, the others on the CPU; without an "
        "accelerator each has its part of the cores.",
        1,
        low=1,
        high=16,
    )
    max_deaths: int = setting(
        Group.RESTARTS,
        "Deaths of a process in a row, without progress, after which the next try waits for minutes; the front's end "
        "the server. 0: each is started again at once.",
        5,
        low=0,
    )
    death_window: float = 30.0
    """Seconds that such deaths must last, unless the process has never served."""
    load_timeout: float = setting(
        Group.RESTARTS,
        "Seconds in which a worker must have loaded its engine; then it is killed, and an accelerator that it loads "
        "for is given up.",
        300.0,
        above=0,
    )
    offline: bool = setting(Group.ACCESS, "Never fetch the model in the background.", False)
    metrics_dir: Path | None = setting(
        Group.LOGS,
        "A folder for the counts of all processes, this server's alone; counts of an earlier start are removed. "
        "Without it the folder is private, and gone at the end.",
        None,
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        Group.LOGS, "The least level that is logged. Texts are logged at debug only.", "info"
    )
    log_format: LogFormat = setting(Group.LOGS, "Lines for people, or one JSON object a line for programs.", "human")

    def __post_init__(self) -> None:
        check_bounds(self)

    @property
    def plain_host(self) -> str:
        """The address on which HTTP is answered without TLS."""
        return self.host if self.tls_port is None else LOOPBACK

    @property
    def certificate(self) -> tuple[Path, Path]:
        """The files of the certificate for TLS and of its key."""
        if self.tls_cert is None:
            return certificate_folder() / "certificate.pem", certificate_folder() / "key.pem"
        return self.tls_cert, self.tls_key or self.tls_cert

    @property
    def logs(self) -> LogSettings:
        return LogSettings(self.log_level, self.log_format)

    def ring_samples(self, sample_rate: int = SAMPLE_RATE) -> int:
        """A ring's capacity in samples of an engine."""
        return int(self.ring_seconds * sample_rate)


LogFormat = Literal["human", "json"]


@dataclass(frozen=True, slots=True)
class LogSettings:
    """The log settings of a process, equal in all processes of a server."""

    level: str = "info"
    """One of debug, info, warning and error."""
    format: LogFormat = "human"


def configure_logging(settings: LogSettings, process: str, request_id: Callable[[], str] | None = None) -> None:
    """Send this process's log, and Python's warnings, to standard error.

    Each record names the process. A JSON record has `time` (UTC, ISO 8601), `level`, `process`, `pid`, `logger`,
    `message`, its caller's `extra`, `exc_info` if there is one, and `request_id` unless that is `-`.
    """
    handler = logging.StreamHandler()
    if settings.format == "json":
        handler.setFormatter(_json_formatter(process))
        if request_id is not None:
            handler.addFilter(_name_request(request_id))
    else:
        pattern = f"%(asctime)s {process}: %(levelname)s: %(message)s"
        handler.setFormatter(logging.Formatter(pattern, datefmt="%H:%M:%S"))
    logging.basicConfig(level=settings.level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)


def _json_formatter(process: str) -> logging.Formatter:
    return JsonFormatter(
        ["levelname", "name", "message"],
        rename_fields={"levelname": "level", "name": "logger"},
        static_fields={"process": process, "pid": os.getpid()},
        timestamp="time",
        json_ensure_ascii=False,
    )


def _name_request(current: Callable[[], str]) -> Callable[[logging.LogRecord], bool]:
    """Adds the request's id. A filter of the handler, because a logger's filter would miss the records of libraries."""

    def name(record: logging.LogRecord) -> bool:
        if (request := current()) != "-":
            record.request_id = request
        return True

    return name
