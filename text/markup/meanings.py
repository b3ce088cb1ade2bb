"""Meanings of markup's values for one request: phonemes for IPA, words for `say-as`, performers for voices' names."""

from __future__ import annotations

from typing import Protocol

from text.espeak.ipa import UnknownSymbols, from_ipa
from text.markup.say_as import said_as
from text.words.performer import Cast, Performer
from text.words.segment import Notation


class Meanings(Protocol):
    """Callbacks of the parsers. A performer of None is the one who speaks all text that names no voice."""

    max_pause_seconds: float
    """Most seconds of pauses in one text."""

    def phonemes(self, ipa: str, performer: Performer | None) -> str:
        """Phonemes for IPA.

        Raises:
            UnknownSymbols: the IPA has symbols that can't be spoken, or no sound.
        """
        ...

    def said_as(self, text: str, interpret_as: str, form: str, performer: Performer | None) -> str:
        """Words for the text of SSML's `say-as`."""
        ...

    def performer(self, name: str) -> Performer:
        """Performer for a voice's name.

        Raises:
            VoiceError: no voice has that name.
        """
        ...


class SpokenMeanings:
    """Meanings for an engine that is to speak the text.

    An engine that takes text pronounces words as they are written, whatever IPA markup gives: espeak-ng's own notation,
    `[[...]]`, differs for each of its voices, and espeak-ng silently drops symbols that it doesn't know there, such as
    IPA.
    """

    def __init__(self, cast: Cast, language: str, notation: Notation, max_pause_seconds: float) -> None:
        """Args:
        language: the language of all text that names no voice.
        notation: the input that the engine accepts.
        """
        self.max_pause_seconds = max_pause_seconds
        self._cast = cast
        self._language = language
        self._notation = notation

    def phonemes(self, ipa: str, performer: Performer | None) -> str:
        """Phonemes of the engine's vocabulary; none for an engine that takes text."""
        if self._notation.speaks == "text":
            return ""
        phonemes = from_ipa(ipa, performer.language if performer else self._language)
        if missing := sorted(set(phonemes) - self._notation.vocabulary - {" "}):
            raise UnknownSymbols(ipa, "".join(missing))
        return phonemes

    def said_as(self, text: str, interpret_as: str, form: str, performer: Performer | None) -> str:
        return said_as(text, interpret_as, form, performer.language if performer else self._language)

    def performer(self, name: str) -> Performer:
        return self._cast.find(name)
