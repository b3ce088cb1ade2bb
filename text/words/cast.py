"""The cast of a text: the voices that its markup may name, and the performer that each name stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from text.words.language import language_of
from text.words.performer import Performer
from text.words.voice_spec import UnknownVoice, parse_voice


class Cast:
    """Finds performers by name: a request's aliases first, then the engine's voices and their blends."""

    def __init__(
        self, voices: Sequence[str] = (), aliases: Mapping[str, Performer] | None = None, language: str | None = None
    ) -> None:
        """Args:
        voices: the engine's voices.
        language: the language that all voices speak, as a request names it; None: each speaks its own.
        """
        self._voices = voices
        self._aliases = dict(aliases or {})
        self._folded = {name.casefold(): performer for name, performer in self._aliases.items()}
        self._language = language

    def find(self, name: str) -> Performer:
        """The performer of that name. Letter case matters only between two aliases that differ in nothing else.

        Raises:
            VoiceError: neither an alias nor a voice has that name.
            UnknownLanguage: the cast's language is unknown.
        """
        name = name.strip()
        performer = self._aliases.get(name) or self._folded.get(name.casefold())
        if performer is not None:
            return performer
        try:
            voice = parse_voice(name, self._voices)
        except UnknownVoice as error:
            names = ", ".join(list(self._aliases)[:8])
            note = f"The request's aliases are {names}." if names else ""
            raise UnknownVoice(error.name, error.names, note) from error
        return Performer(voice, language_of(voice, self._language))
