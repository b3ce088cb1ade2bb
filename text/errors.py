"""The error of a text that can't be read as it was asked for."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from shm import request_id


class TextError(Exception):
    """A refusal of a client's request on purpose. The message is meant for the client and says what to do."""

    status = 400
    """The status of an answer over HTTP."""
    headers: Mapping[str, str] | None = None

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        """The field that is wrong: `input`, `voice.id`; None where no single one is."""
        self.code = code


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


_log = logging.getLogger(__name__)

_TOLD = 5
"""Most failures of one text that are logged whole."""

_Result = TypeVar("_Result")


class Mishaps:
    """Notes the failures of one text."""

    def __init__(self, misread: Callable[[], None] = lambda: None) -> None:
        """`misread`: callback for each sentence with a failure."""
        self._misread = misread
        self._told = 0
        self._place = -1

    def note(self, mishap: Mishap) -> None:
        """Log and count a failure; further ones at the same place aren't counted again."""
        if mishap.place != self._place:
            self._misread()
        self._place = mishap.place
        said = f"{request_id.current.get()}: simpler rules read the text at character {mishap.place}"
        self._told += 1
        if self._told <= _TOLD:
            mishap.log(_log, said)
        else:
            _log.debug("%s: %s: %s", said, mishap.kind, mishap.message)

    def first_of(self, ways: Iterable[Callable[[], _Result]], place: int) -> _Result:
        """The result of the first way that doesn't fail; there must be one way at least.

        Raises:
            TextError: a way refuses the text on purpose.
            Exception: the last way's, if all fail.
        """
        last: Exception | None = None
        for way in ways:
            try:
                return way()
            except TextError:
                raise
            except Exception as error:
                self.note(Mishap.of(error, place))
                last = error
        assert last is not None
        last.add_note(f"at character {place} of the text")
        raise last
