"""The timeline of a text: how long its sentences are, as far as that is known, and how long it will be."""

from __future__ import annotations

_SECONDS_PER_CHARACTER = 1 / 15
"""Pace of speech at speed 1, until a sentence of the text was measured."""


class Timeline:
    """Lengths of sentences. They are kept at speed 1, so that they survive a change of speed."""

    def __init__(self, characters: int) -> None:
        """`characters`: length of the text."""
        self._characters = characters
        self._seconds: dict[int, float] = {}
        self._lengths: dict[int, int] = {}
        self.last: int | None = None
        """Number of the text's last sentence, once it is known."""

    def note(self, number: int, text: str, seconds: float, speed: float) -> None:
        """Note a whole sentence's length at that speed."""
        self._seconds[number] = seconds * speed
        self._lengths[number] = len(text) + 1

    def before(self, number: int, speed: float) -> float:
        """Seconds of the sentences before that one; an unknown sentence counts as an average one."""
        average = self._average
        return sum(self._seconds.get(each, average) for each in range(number)) / speed

    def total(self, speed: float) -> float:
        """Expected seconds of the text."""
        known = sum(self._seconds.values())
        if self.last is not None and len(self._seconds) > self.last:
            return known / speed
        unknown = max(self._characters - sum(self._lengths.values()), 0)
        return (known + unknown * self._pace) / speed

    def number_at(self, seconds: float, speed: float) -> int | None:
        """Number of the sentence that sounds at that time; None if the text is expected to have ended before."""
        if seconds >= self.total(speed):
            return None
        number, passed, average = 0, 0.0, self._average
        while self.last is None or number < self.last:
            passed += self._seconds.get(number, average) / speed
            if passed > seconds:
                break
            number += 1
        return number

    @property
    def _pace(self) -> float:
        """Seconds per character."""
        heard = sum(self._lengths.values())
        return sum(self._seconds.values()) / heard if heard else _SECONDS_PER_CHARACTER

    @property
    def _average(self) -> float:
        known = len(self._seconds)
        return sum(self._seconds.values()) / known if known else 60 * _SECONDS_PER_CHARACTER
