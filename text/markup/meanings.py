"""Limits of markup, the notation of durations and rates, and the error of markup that can't be read."""

from __future__ import annotations

import re

from shm.audio import FASTEST, SLOWEST
from text.errors import TextError
from text.espeak.ipa import UnknownSymbols, from_ipa
from text.markup.say_as import said_as
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.words.language import UnknownLanguage, language_code
from text.words.performer import Cast, Performer
from text.words.sanitize import sanitize
from text.words.segment import Notation

MAX_DEPTH = 32
"""Most SSML elements nested in each other."""

_RATE = re.compile(r"(?P<number>\d{1,6}(?:\.\d{0,6})?|\.\d{1,6})\s?(?P<percent>%)?")

_TIME = re.compile(r"\+?(?P<number>\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})\s?(?P<unit>ms|s)")


def seconds_of(written: str) -> float | None:
    """Seconds of a duration such as `1.5s`, `300ms` or `+1s`; None if the text is no duration."""
    match = _TIME.fullmatch(written.strip())
    if match is None:
        return None
    return float(match["number"]) / (1000 if match["unit"] == "ms" else 1)


def rate_of(written: str) -> float | None:
    """Speaking rate of a number such as `0.8` or `80%`; None if the text is no number above 0."""
    match = _RATE.fullmatch(written.strip())
    rate = float(match["number"]) / (100 if match["percent"] else 1) if match else 0.0
    return rate or None


def clamped_rate(rate: float) -> float:
    return min(max(rate, SLOWEST), FASTEST)


MAX_PAUSE_SECONDS = 60.0
"""The most silence that the markup of one request may ask for."""


def over_limit(seconds: float, limit: float) -> str | None:
    """Error message if the pauses so far, in seconds, exceed the limit; None if they don't."""
    if seconds <= limit:
        return None
    return (
        f"the pauses up to here last {seconds:g} seconds; at most {limit:g} seconds of a request may be "
        "pauses. Shorten them, or split the text over requests."
    )


class MarkupError(TextError):
    """Error 400 for markup that can't be read, with its line and column."""

    def __init__(
        self, reason: str, line: int, column: int, code: str = "invalid_markup", *, param: str = "input"
    ) -> None:
        """Args:
        line, column: position of the invalid markup, both counted from 1.
        param: the field that holds the text.
        """
        super().__init__(f"`{param}`, line {line}, column {column}: {reason}", param=param, code=code)
        self.line = line
        self.column = column
        self._reason = reason

    @classmethod
    def at(cls, reason: str, text: str, place: int, code: str = "invalid_markup") -> MarkupError:
        """Error at a place of a text, given as the index of a character."""
        column = place - (text.rfind("\n", 0, place) + 1) + 1
        return cls(reason, text.count("\n", 0, place) + 1, column, code)

    def within(self, param: str) -> MarkupError:
        """This error for a text that stands in another field than `input`."""
        return MarkupError(self._reason, self.line, self.column, self.code or "", param=param)


class Meanings:
    """The meanings of markup's values to the engine that speaks. A performer of None is the one who speaks all text
    that names no voice.

    An engine that takes text pronounces words as they are written, whatever IPA markup gives: espeak-ng's own notation,
    `[[...]]`, differs for each of its voices, and espeak-ng silently drops symbols that it doesn't know there, such as
    IPA.
    """

    max_pause_seconds = MAX_PAUSE_SECONDS

    def __init__(self, cast: Cast, language: str, notation: Notation) -> None:
        """Args:
        language: the language of all text that names no voice.
        notation: the input that the engine accepts.
        """
        self._cast = cast
        self._language = language
        self._notation = notation

    def phonemes(self, ipa: str, performer: Performer | None) -> str:
        """Phonemes of the engine's vocabulary; none for an engine that takes text.

        Raises:
            UnknownSymbols: the IPA has symbols that can't be spoken, or no sound.
        """
        if self._notation.speaks == "text":
            return ""
        phonemes = from_ipa(ipa, performer.language if performer else self._language)
        if missing := sorted(set(phonemes) - self._notation.vocabulary - {" "}):
            raise UnknownSymbols(ipa, "".join(missing))
        return phonemes

    def language(self, named: str, performer: Performer | None) -> str:
        """Code of a language that an element names; empty for one that no reader knows, or that is the performer's."""
        if not named or self._notation.speaks == "text":
            return ""
        try:
            code = language_code(named)
        except UnknownLanguage:
            return ""
        own = performer.language if performer else self._language
        return "" if code.partition("-")[0] == own.partition("-")[0] else code

    def normalized(self, text: str, language: str) -> str:
        return normalize(sanitize(text), language, Normalization()).replace("\n", " ")

    def said_as(self, text: str, interpret_as: str, form: str, performer: Performer | None) -> str:
        return said_as(text, interpret_as, form, performer.language if performer else self._language)

    def performer(self, name: str) -> Performer:
        """
        Raises:
            VoiceError: no voice has that name.
        """
        return self._cast.find(name)
