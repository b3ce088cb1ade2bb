"""The log of all processes, on standard error: lines for people, or one JSON object a line."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pythonjsonlogger.json import JsonFormatter

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
