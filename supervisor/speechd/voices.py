"""Choice of a voice: by its name, or by language and type, as Speech Dispatcher's clients ask for one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from supervisor.speechd.manner import Manner
from worker.voices.kokoro_voices import KOKORO_VOICES

_LANGUAGES = {
    "a": "en-US",
    "b": "en-GB",
    "e": "es",
    "f": "fr",
    "h": "hi",
    "i": "it",
    "j": "ja",
    "p": "pt-BR",
    "z": "zh",
}
"""Language tags by the first letter of Kokoro's voice names."""

_PRIMARY = {tag.partition("-")[0]: letter for letter, tag in _LANGUAGES.items()} | {"en": "a", "cmn": "z"}

_FIRST = (
    *("af_heart", "af_bella", "af_nicole", "am_michael", "am_fenrir", "am_puck"),
    *("bf_emma", "bf_isabella", "bm_george", "bm_fable", "jf_alpha", "hf_alpha", "zf_xiaobei"),
)
"""Voices that come before others of their language and gender, by the grades that Kokoro's authors gave."""

_TYPE = re.compile(r"(?P<child>child_)?(?P<gender>male|female)(?P<number>\d)?")
_NAME = re.compile(f"[{''.join(_LANGUAGES)}](?P<gender>[fm])_")
_NO_LANGUAGE = {"", "c", "posix"}
"""Languages that Speech Dispatcher sends where nobody has chosen one."""


class VoiceList:
    """The voices of the server, or Kokoro's where it can't be asked."""

    def __init__(self, names: Sequence[str] = KOKORO_VOICES, preferred: str = "") -> None:
        self.names = tuple(names) or KOKORO_VOICES
        self._preferred = preferred

    def listed(self) -> list[tuple[str, str]]:
        return [(name, tag(name)) for name in self.names]

    def chosen(self, manner: Manner) -> str | None:
        """The voice that fits best; None if no voice speaks the language."""
        if named := {name.lower(): name for name in self.names}.get(manner.voice.lower()):
            return named
        letter = "a"
        if manner.language.lower() not in _NO_LANGUAGE:
            found = _letter(manner.language)
            if found is None:
                return None
            letter = found
        if manner.voice_type in ("", "male1") and self._preferred and self._preferred[0] == letter:
            return self._preferred
        own = [name for name in self.names if _NAME.match(name) and name[0] == letter]
        kind = _TYPE.fullmatch(manner.voice_type)
        gender = "f" if kind and kind["gender"] == "female" else "m"
        fitting = sorted((name for name in own if name[1] == gender), key=_rank)
        number = int(kind["number"] or 1) if kind else 1
        return fitting[min(number, len(fitting)) - 1] if fitting else next(iter(sorted(own, key=_rank)), None)


def tag(voice: str) -> str:
    """Language tag of a voice, by its name; a blend's is that of its first voice."""
    return _LANGUAGES.get(voice[:1], "en-US") if _NAME.match(voice) else "en-US"


def _rank(voice: str) -> tuple[int, str]:
    return (_FIRST.index(voice) if voice in _FIRST else len(_FIRST), voice)


def _letter(language: str) -> str | None:
    """First letter of the names of a language's voices; None if there are none."""
    wanted = language.replace("_", "-").lower()
    exact = {each.lower(): letter for letter, each in _LANGUAGES.items()}
    return exact.get(wanted) or _PRIMARY.get(wanted.partition("-")[0])
