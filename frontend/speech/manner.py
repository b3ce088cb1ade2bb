"""Manners of speaking in plain words, as OpenAI's `instructions` and Cartesia's `emotion` have them, as inflections.

The table (`text/locales/en/manners.toml`) is all that is understood; every other word is named, so that nobody waits
for its effect. Kokoro can't whisper, cry or put on an accent, and the table doesn't pretend so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from shm.engine_info import EngineInfo
from shm.inflection import PLAIN, Inflection
from text.locales.tables import table, word_lists


class MannerOfSpeaking(NamedTuple):
    """The pace and inflection that words ask for."""

    speed: float = 1.0
    """Factor on the pace."""
    inflection: Inflection = PLAIN

    def times(self, degree: float) -> MannerOfSpeaking:
        """The same to another degree: 0 is nothing, 1 the manner itself."""
        return MannerOfSpeaking(self.speed**degree, self.inflection.times(degree))


PLAIN_MANNER = MannerOfSpeaking()

_TABLE = table("en", "manners")
_LISTS = word_lists(_TABLE["lists"])


def _manner(words: str, speed: float = 1.0, **inflection: Any) -> dict[str, MannerOfSpeaking]:
    return dict.fromkeys(words.split(), MannerOfSpeaking(speed, Inflection(**inflection)))


MANNERS: Mapping[str, MannerOfSpeaking] = {word: it for row in _TABLE["manners"] for word, it in _manner(**row).items()}
DEGREES: Mapping[str, float] = {word: row["degree"] for row in _TABLE["degrees"] for word in row["words"].split()}

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
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
        if word in _LISTS["not"]:
            negated = word
        elif word in DEGREES and (word not in MANNERS or following in MANNERS):
            degree = DEGREES[word]
        elif word in MANNERS:
            yield (f"{negated}-{word}", None) if negated else (word, MANNERS[word].times(degree))
            degree, negated = 1.0, ""
        elif word not in _LISTS["filling"]:
            yield word, None
            degree, negated = 1.0, ""
