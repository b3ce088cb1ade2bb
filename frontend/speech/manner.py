"""Manners of speaking in plain words, as OpenAI's `instructions` and Cartesia's `emotion` have them, as inflections.

The table is all that is understood; every other word is named, so that nobody waits for its effect. Kokoro can't
whisper, cry or put on an accent, and the table doesn't pretend so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from shm.engine_info import EngineInfo
from shm.inflection import PLAIN, Inflection


class MannerOfSpeaking(NamedTuple):
    """The pace and inflection that words ask for."""

    speed: float = 1.0
    """Factor on the pace."""
    inflection: Inflection = PLAIN

    def times(self, degree: float) -> MannerOfSpeaking:
        """The same to another degree: 0 is nothing, 1 the manner itself."""
        return MannerOfSpeaking(self.speed**degree, self.inflection.times(degree))


PLAIN_MANNER = MannerOfSpeaking()


def _manner(speed: float = 1.0, pitch: float = 0.0, reach: float = 1.0, volume: float = 0.0) -> MannerOfSpeaking:
    return MannerOfSpeaking(speed, Inflection(pitch=pitch, range=reach, volume=volume))


_TABLE = {
    "slow slower slowly unhurried": _manner(0.85),
    "fast faster quick quicker quickly rapid rapidly hurried": _manner(1.2),
    "high higher": _manner(pitch=2.0),
    "low lower deep deeper deeply": _manner(pitch=-2.0),
    "loud louder loudly": _manner(volume=3.0),
    "quiet quieter quietly soft softer softly": _manner(volume=-6.0),
    "expressive expressively dramatic dramatically lively animated": _manner(reach=1.35),
    "monotone monotonous flat robotic": _manner(reach=0.3),
    "excited excitedly excitement enthusiastic enthusiastically energetic": _manner(1.08, 1.5, 1.35),
    "happy happily cheerful cheerfully joyful positivity": _manner(1.04, 1.0, 1.25),
    "surprised surprise": _manner(1.0, 1.5, 1.4),
    "calm calmly relaxed soothing gentle gently peaceful": _manner(0.92, -0.5, 0.8),
    "sad sadly sadness melancholy": _manner(0.88, -1.0, 0.7, -2.0),
    "serious seriously solemn": _manner(0.95, -0.7, 0.85),
    "angry angrily anger": _manner(1.06, 0.5, 1.3, 2.0),
    "neutral normal normally natural naturally": _manner(),
}
MANNERS: Mapping[str, MannerOfSpeaking] = {word: manner for words, manner in _TABLE.items() for word in words.split()}

DEGREES: Mapping[str, float] = {
    **dict.fromkeys(["slightly", "bit", "little", "somewhat"], 0.5),
    **dict.fromkeys(["very", "much", "really", "extremely", "highly", "highest", "high"], 1.5),
    **dict.fromkeys(["low", "lowest"], 0.5),
}
"""Degrees of the manner that follows them, or that stands before them and a colon (Cartesia's `sadness:low`)."""

_FILLING_WORDS = """
a an and as at be in it of on or so the to too this that with your you please speak speaks speaking say talk talking
read reading sound sounding use voice voices tone tones manner way style pace speed pitch volume volumes rate
more than usual keep make like emotion emotional mood delivery affect
"""
_FILLING = frozenset(_FILLING_WORDS.split())
"""Words without a meaning of their own here."""

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NOT = frozenset(["not", "no", "never", "don't", "don’t", "without", "less"])
_GRADED = re.compile(r"(?<!\w)(?P<manner>\w++):(?P<degree>\w++)")


def manner_of(text: str) -> tuple[MannerOfSpeaking, list[str]]:
    """The manner that words ask for, and the words that aren't understood, each once.

    >>> manner_of("Speak slowly, like a pirate.")[1]
    ['pirate']
    """
    speed, inflection = 1.0, PLAIN
    unknown: dict[str, None] = {}
    for word, manner in _manners(_GRADED.sub(r"\g<degree> \g<manner>", text.lower())):
        if manner is None:
            unknown[word] = None
        else:
            speed *= manner.speed
            inflection = manner.inflection.within(inflection)
    return MannerOfSpeaking(speed, inflection), list(unknown)


def followed_manner(
    words: object, field: str, engine: EngineInfo, volume: float | None = None
) -> tuple[MannerOfSpeaking, list[str]]:
    """The manner that the engine follows of what a request's field asks for, and the names of what has no effect.

    Args:
        words: a text, or several; anything else has no effect.
        volume: a factor on the level, of the field `volume` beside that one.
    """
    if volume is not None:
        found, dead = followed_manner(words, field, engine)
        if not engine.inflects:
            return found, [*dead, f"{field.rpartition('.')[0]}.volume"]
        louder = Inflection(volume=20 * math.log10(min(max(volume, 1e-3), 4.0)))
        return MannerOfSpeaking(found.speed, louder.within(found.inflection)), dead
    texts: list[object] = words if isinstance(words, list) else [words]
    told = [text for text in texts if isinstance(text, str)]
    if len(told) < len(texts):
        return MannerOfSpeaking(), [field] if words is not None else []
    found, unknown = manner_of(" ".join(told))
    dead = [f"{field}.{word}" for word in unknown]
    if not engine.inflects and found.inflection != PLAIN:
        return MannerOfSpeaking(found.speed), [field, *dead]
    return found, [field] if unknown and found == MannerOfSpeaking() else dead


def _manners(text: str) -> Iterator[tuple[str, MannerOfSpeaking | None]]:
    """Each word that means something, with its manner; None if it isn't understood."""
    words = _WORD.findall(text)
    degree, negated = 1.0, ""
    for word, following in pairwise([*words, ""]):
        if word in _NOT:
            negated = word
        elif word in DEGREES and (word not in MANNERS or following in MANNERS):
            degree = DEGREES[word]
        elif word in MANNERS:
            yield (f"{negated}-{word}", None) if negated else (word, MANNERS[word].times(degree))
            degree, negated = 1.0, ""
        elif word not in _FILLING:
            yield word, None
            degree, negated = 1.0, ""
