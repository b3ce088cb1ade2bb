"""The manner in which a client wants its texts spoken, Speech Dispatcher's SET, and the voice that it gets."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from shm.engine_info import VoiceInfo
from text.words.voice_spec import preference
from worker.voices.kokoro_voices import KOKORO_VOICES

_NUMBERS = {"rate", "pitch", "pitch_range", "volume"}
_CHOICES = {
    "punctuation_mode": ("none", "some", "most", "all"),
    "spelling_mode": ("off", "on"),
    "cap_let_recogn": ("none", "spell", "icon"),
}
_NAMES = {"voice": "voice_type", "synthesis_voice": "voice", "language": "language"}

_WORDS_PER_MINUTE = 175
_SLOWEST, _FASTEST = 80, 900
"""Words per minute that espeak-ng speaks."""


@dataclass(frozen=True, slots=True)
class Manner:
    """Values as Speech Dispatcher sends them; its numbers go from -100 to 100."""

    rate: int = 0
    pitch: int = 0
    pitch_range: int = 0
    volume: int = 100
    voice_type: str = "male1"
    voice: str = ""
    """A voice's name; empty if the client chose none."""
    language: str = ""
    punctuation_mode: str = "none"
    spelling_mode: str = "off"
    cap_let_recogn: str = "none"

    def with_value(self, name: str, value: str) -> Manner:
        """The manner with one more parameter.

        Raises:
            ValueError: there is no such parameter, or no such value.
        """
        value = "" if value == "NULL" else value
        changed: dict[str, Any]
        if name in _NUMBERS:
            if not -100 <= int(value) <= 100:
                raise ValueError(value)
            changed = {name: int(value)}
        elif name in _CHOICES:
            if value not in _CHOICES[name]:
                raise ValueError(value)
            changed = {name: value}
        elif name in _NAMES:
            changed = {_NAMES[name]: value.strip() if name != "voice" else value.strip().lower()}
        else:
            raise ValueError(name)
        return replace(self, **changed)

    @property
    def speed(self) -> float:
        """Speed of the speech as a factor: doubled by 50 steps of the rate, so 0.25 to 4."""
        return math.exp2(self.rate / 50)

    @property
    def semitones(self) -> float:
        """Shift of the pitch: half an octave down or up at the most."""
        return 6 * self.pitch / 100

    @property
    def range_factor(self) -> float:
        """Factor on the pitch's range, 0.5 to 2."""
        return math.exp2(self.pitch_range / 100)

    @property
    def loudness(self) -> float:
        return (self.volume + 100) / 200

    @property
    def words_per_minute(self) -> int:
        return min(max(round(_WORDS_PER_MINUTE * self.speed), _SLOWEST), _FASTEST)

    @property
    def espeak_pitch(self) -> int:
        """espeak-ng's pitch, 0 to 99."""
        return min(max(50 + self.pitch // 2, 0), 99)


_TAGS = {"en-us": "en-US", "en-gb": "en-GB", "fr-fr": "fr", "pt-br": "pt-BR", "cmn": "zh"}
"""Language tags where Speech Dispatcher's differ from ours."""

_TYPE = re.compile(r"(?P<child>child_)?(?P<gender>male|female)(?P<number>\d)?")
_NO_LANGUAGE = {"", "c", "posix"}
"""Languages that Speech Dispatcher sends where nobody has chosen one."""


class VoiceList:
    """The voices of the server, or Kokoro's where it can't be asked."""

    def __init__(self, voices: Sequence[VoiceInfo] = KOKORO_VOICES, preferred: str = "") -> None:
        self._voices = tuple(voices) or KOKORO_VOICES
        self._preferred = preferred

    def listed(self) -> list[tuple[str, str]]:
        return [(voice.name, _tag(voice)) for voice in self._voices]

    def language(self, voice: str) -> str:
        """Language tag of a voice; a blend's is that of its first voice."""
        first = re.split(r"[(+]", voice, maxsplit=1)[0].strip()
        return dict(self.listed()).get(first, "en-US")

    def chosen(self, manner: Manner) -> str | None:
        """The voice that fits best; None if no voice speaks the language."""
        if named := {voice.name.lower(): voice.name for voice in self._voices}.get(manner.voice.lower()):
            return named
        language = self._spoken("en-US" if manner.language.lower() in _NO_LANGUAGE else manner.language)
        if language is None:
            return None
        if manner.voice_type in ("", "male1") and self._preferred and self.language(self._preferred) == language:
            return self._preferred
        own = sorted((voice for voice in self._voices if _tag(voice) == language), key=preference)
        kind = _TYPE.fullmatch(manner.voice_type)
        gender = kind["gender"] if kind else "male"
        fitting = [voice.name for voice in own if voice.gender == gender]
        number = int(kind["number"] or 1) if kind else 1
        return fitting[min(number, len(fitting)) - 1] if fitting else own[0].name

    def _spoken(self, language: str) -> str | None:
        """The tag of the voices' language that is nearest; None if no voice speaks it."""
        wanted = language.replace("_", "-").lower()
        primary = _TAGS.get(wanted.partition("-")[0], wanted.partition("-")[0])
        tags = {tag.lower(): tag for _, tag in self.listed()}
        same = [tag for tag in tags.values() if tag.partition("-")[0] == primary]
        return tags.get(wanted) or ("en-US" if "en-US" in same else next(iter(same), None))


def _tag(voice: VoiceInfo) -> str:
    return _TAGS.get(voice.language, voice.language)
