"""Parser of voice strings, one voice's name or a blend such as `af_heart(2)+af_bella`, into names with weights.

    blend  = term *( "+" term )            at most MAX_TERMS of them and MAX_CHARACTERS in all
    term   = name [ "(" weight ")" ]       the weight is 1 where none is given
    weight = decimal, more than 0

Spaces around any part and letter case are ignored, and the weights of a name given twice are added.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from shm.engine_info import KOKORO_BEST, VoiceInfo
from shm.messages import Voice

MAX_TERMS = 8

MAX_CHARACTERS = 512

_TERM = re.compile(r"\s*(?P<name>[^\s()+]+)\s*(?:\(\s*(?P<weight>[0-9.]*)\s*\)\s*)?")
_SHOWN = 64
"""Most characters of a term that an error message repeats."""


def preference(voice: VoiceInfo) -> tuple[int, str]:
    """A key that sorts the voices of one language and gender, the best first."""
    return (KOKORO_BEST.index(voice.name) if voice.name in KOKORO_BEST else len(KOKORO_BEST), voice.name)


class VoiceError(ValueError):
    """Error for a voice string that names no voice. Its message is meant for the client."""


class UnknownVoice(VoiceError):
    """Error for a well-formed voice string with a voice that the engine doesn't have."""

    def __init__(self, name: str, names: Iterable[str], note: str = "") -> None:
        """Args:
        names: those that there are; the similar ones are looked for only if the message is read.
        note: a sentence after the message.
        """
        super().__init__(name)
        self.name = name
        self.names = names
        self._note = note

    def __str__(self) -> str:
        return f"{_unknown(self.name, self.names)} {self._note}".rstrip()


def parse_voice(spec: str, available: Sequence[VoiceInfo]) -> Voice:
    """Names of voices from `available`, each once, in the order given, with weights that sum to 1.

    Raises:
        UnknownVoice: no voice in `available` has a name, or an alias, that is written.
        VoiceError: the string doesn't match the grammar in the module's docstring.
    """
    names = _names_of(tuple(available))
    terms = spec.split("+")
    if len(spec) > MAX_CHARACTERS:
        raise VoiceError(f"The voice has {len(spec)} characters; at most {MAX_CHARACTERS} are taken.")
    if len(terms) > MAX_TERMS:
        raise VoiceError(f"The voice blends {len(terms)} voices; at most {MAX_TERMS} can be.")
    weights: dict[str, float] = {}
    for term in terms:
        name, weight = _term(term, names)
        weights[name] = weights.get(name, 0.0) + weight
    total = sum(weights.values())
    blend = tuple((name, weight / total) for name, weight in weights.items())
    if not all(weight > 0 for _, weight in blend):
        raise VoiceError("The voice's weights are too large, or too far apart, to blend.")
    return blend


@lru_cache(maxsize=8)
def _names_of(available: tuple[VoiceInfo, ...]) -> Mapping[str, str]:
    """Each name and alias, with the name: hundreds, which every request asks for several times."""
    names = {alias: voice.name for voice in available for alias in voice.aliases}
    return names | {voice.name.casefold(): voice.name for voice in available}


def _term(term: str, names: Mapping[str, str]) -> tuple[str, float]:
    match = _TERM.fullmatch(term)
    if match is None:
        raise VoiceError(
            f"{term[:_SHOWN]!r} is no voice; write a name, or a blend such as af_heart(2)+af_bella, weights above 0."
        )
    name = names.get(match["name"].casefold())
    if name is None:
        raise UnknownVoice(match["name"][:_SHOWN], names)
    return name, _weight(name, match["weight"])


def _weight(name: str, digits: str | None) -> float:
    if digits is None:
        return 1.0
    try:
        weight = float(digits)
    except ValueError:
        weight = 0.0
    if not 0 < weight < math.inf:
        raise VoiceError(f"{name}({digits[:_SHOWN]}): a weight is a decimal number above 0, such as {name}(0.5).")
    return weight


def _unknown(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name.casefold(), list(names), n=3)
    hint = f"Near it: {', '.join(near)}." if near else "GET /v1/audio/voices lists them."
    return f"No voice is called {name!r}. {hint}"
