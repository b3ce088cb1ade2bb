"""A performer: the voice, language and pace with which a part of a text is spoken; the cast finds one by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shm.engine_info import VoiceInfo
from shm.messages import Voice
from text.words.language import language_of
from text.words.voice_spec import UnknownVoice, parse_voice


@dataclass(frozen=True, slots=True)
class Performer:
    """A voice, the language that it speaks, and its own pace."""

    voice: Voice
    language: str
    """A language code as espeak-ng has it: en-us, en-gb, es, fr-fr, hi, it, ja, pt-br, cmn, or the voice's own."""
    rate: float = 1.0
    """The performer's pace, times the request's speed."""

    @property
    def name(self) -> str:
        """The voice as requests write it: `af_heart`, or a blend such as `af_heart(0.75)+af_bella(0.25)`."""
        if len(self.voice) == 1:
            return self.voice[0][0]
        return "+".join(f"{name}({weight:.4g})" for name, weight in self.voice)


@dataclass(frozen=True, slots=True)
class DialogueTurn:
    """One performer's part of a dialogue."""

    text: str
    performer: Performer
    pause: float = 0.0
    """Seconds of silence after it; 0: as long as after any sentence."""


class Cast:
    """Finds performers by name: a request's aliases first, then the engine's voices and their blends."""

    def __init__(
        self,
        voices: Sequence[VoiceInfo] = (),
        aliases: Mapping[str, Performer] | None = None,
        language: str | None = None,
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
        return Performer(voice, language_of(voice, self._voices, self._language))
