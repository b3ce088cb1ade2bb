"""A failure of the server's own code while it read a text: what is logged of it, without a word of the text."""

from __future__ import annotations

import logging
import traceback
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mishap:
    """An exception as plain values, which pass from process to process."""

    kind: str
    """Name of the exception's class."""
    message: str
    """The exception's message, which may quote the text: only for logs at debug level."""
    trace: str
    """The traceback's places, without messages."""
    place: int
    """Character of the text at which the sentence begins."""

    @classmethod
    def of(cls, error: BaseException, place: int = 0) -> Mishap:
        """The exception that is being handled."""
        traces = []
        each: BaseException | None = error
        while each is not None:
            places = "".join(traceback.format_tb(each.__traceback__)).rstrip()
            traces.append("\n".join((places, type(each).__name__, *getattr(each, "__notes__", ()))))
            each = each.__cause__
        return cls(type(error).__name__, str(error), "\ncaused by\n".join(traces), place)

    def log(self, log: logging.Logger, said: str) -> None:
        """One entry at error level, which begins with `said`; the message itself at debug level."""
        log.error("%s: %s\n%s", said, self.kind, self.trace)
        log.debug("%s: %s: %s", said, self.kind, self.message)
