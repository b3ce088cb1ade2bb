"""Choice of a voice: by its name, or by language and type, as Speech Dispatcher's clients ask for one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shm.engine_info import VoiceInfo
from supervisor.speechd.manner import Manner
from worker.voices.kokoro_voices import KOKORO_VOICES

_TAGS = {"en-us": "en-US", "en-gb": "en-GB", "fr-fr": "fr", "pt-br": "pt-BR", "cmn": "zh"}
"""Language tags where Speech Dispatcher's differ from ours."""

_FIRST = (
    *("af_heart", "af_bella", "af_nicole", "am_michael", "am_fenrir", "am_puck"),
    *("bf_emma", "bf_isabella", "bm_george", "bm_fable", "jf_alpha", "hf_alpha", "zf_xiaobei"),
)
"""Voices that come before others of their language and gender, by the grades that Kokoro's authors gave."""

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
        own = sorted((voice for voice in self._voices if _tag(voice) == language), key=_rank)
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


def _rank(voice: VoiceInfo) -> tuple[int, str]:
    return (_FIRST.index(voice.name) if voice.name in _FIRST else len(_FIRST), voice.name)
