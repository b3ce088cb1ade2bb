"""The log of aiohttp's own protocol, in which anybody who sends nonsense could otherwise write pages."""

from __future__ import annotations

import logging

from aiohttp.http_exceptions import HttpProcessingError

PROTOCOL_LOG = logging.getLogger("aiohttp.server")
"""The logger that aiohttp's server uses."""


class _MalformedRequests(logging.Filter):
    """Makes one line at debug level of each malformed request: a traceback at error level would tell nothing more, and
    a port scanner would fill the disk."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if not isinstance(error, HttpProcessingError):
            return True
        if not PROTOCOL_LOG.isEnabledFor(logging.DEBUG):
            return False
        record.levelno, record.levelname = logging.DEBUG, "DEBUG"
        record.msg, record.args = "a malformed request: %a", (" ".join(error.message.split())[:100],)
        record.exc_info = record.exc_text = None
        return True


def quieten() -> None:
    """Let malformed requests cost one line at debug level. Idempotent."""
    if not any(isinstance(each, _MalformedRequests) for each in PROTOCOL_LOG.filters):
        PROTOCOL_LOG.addFilter(_MalformedRequests())
