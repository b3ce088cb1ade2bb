"""The failures of one text's reading: logged, counted once for each sentence, and answered by the next simpler way."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from shm import request_id
from text.errors import TextError
from text.isolation.mishap import Mishap

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
