"""Words whose sound hangs on more than noun or verb: each has a rule of its own, after general tagging.

Tags are what misaki's dictionaries look for: `use` is a noun with an s, `close` an adjective with an s, `read` with a
short e as VBD, VBN or JJ. A present tense is always VB, never VBP: their entries for VBP are those of the past.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from frontend.text import word_classes as known


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


@dataclass(frozen=True, slots=True)
class Context:
    """A word's surroundings, lower case; empty strings at the sentence's edges and beyond punctuation."""

    second_before: str
    before: str
    after: str
    second_after: str
    tag_before: str
    tag: str
    """What the word is by general rules."""
    text: frozenset[str]
    """All words of the sentence."""
    past: bool
    """Whether what was said before is in the past tense."""


_TINY_THINGS = _words(
    "detail details amount amounts quantity quantities trace traces particle particles difference differences "
    "fraction fractions change changes fragment fragments portion portions dose doses variation variations adjustment"
)
_SCHOLARS = _words("man men woman professor scholar scholars judge friend society colleague journal journals people")
_MUSIC = _words(
    "guitar guitars drum drums line lines player players clef solo solos note notes tone tones voice boost singer "
    "music song songs band speaker speakers string strings jazz sound play plays played playing sings singing deep"
)
_INTO = _words("into in under off down deep from headfirst right straight back overboard beneath behind")
_LINGERING = _words("to by enough together behind up at in")


def _read(c: Context) -> str:
    if c.tag in ("VB", "VBD", "VBN") and c.before in known.BE | known.HAVE:
        return "VBN"
    if c.tag_before in ("RB",) and c.tag == "VBN":
        return "VBN"
    return c.tag


def _live(c: Context) -> str:
    if c.tag.startswith("VB"):
        return c.tag
    return "RB" if c.tag_before.startswith("N") else "JJ"


def _close(c: Context) -> str:
    if c.tag.startswith("VB"):
        return "JJ" if c.after in _LINGERING or c.before in known.BE | known.SEEM else c.tag
    if c.before in ("the", "a") and c.after == "of":
        return "NN"
    return "JJ"


def _content(c: Context) -> str:
    if c.before in known.BE | known.SEEM or c.after in ("with", "to"):
        return "JJ"
    return "NN"


def _minute(c: Context) -> str:
    tiny = c.after in _TINY_THINGS and c.tag_before != "CD" and c.before not in ("last", "one")
    return "JJ" if tiny or c.before in ("very", "extremely") else "NN"


def _bass(c: Context) -> str:
    return "JJ" if c.text & _MUSIC else "NN"


def _dove(c: Context) -> str:
    return "VBD" if c.after in _INTO and c.before not in known.DETERMINERS else "NN"


def _used(c: Context) -> str:
    if c.after != "to":
        return "JJ" if c.tag_before == "DT" else "VBN"
    if c.before in known.BE:
        # "is used to cut" is passive; "are used to noise", "to cutting" is a habit.
        habitual = (
            c.second_before in known.PRONOUNS | known.PLURALS
            or c.before not in ("is", "are", "was", "were", "be", "been", "being")
            or c.second_after.endswith("ing")
            or c.second_after in known.DETERMINERS | known.POSSESSIVES | known.PRONOUNS | known.ADJECTIVES
        )
        return "JJ" if habitual else "VBN"
    return "VBN" if c.tag_before.startswith("N") and c.past else "VBD"


def _learned(c: Context) -> str:
    return "JJ" if c.after in _SCHOLARS and c.before in known.DETERMINERS else "VBN"


def _invalid(c: Context) -> str:
    return "NN" if c.before in ("a", "an", "the") and not c.after else "JJ"


def _that(c: Context) -> str:
    """Stressed where it points at something, not where it begins a clause."""
    if not c.after or c.after in known.MODALS | known.BE:
        return "DT" if c.tag_before not in ("NN", "NNS") else "WDT"
    opening = c.after in known.SUBJECTS | known.DETERMINERS | known.POSSESSIVES
    return "IN" if opening or c.tag_before in ("NN", "NNS", "VBD", "VB", "VBZ", "JJ") else "DT"


def _adjective_or_verb(c: Context) -> str:
    return c.tag if c.tag.startswith("VB") and c.before not in known.BE | known.SEEM else "JJ"


_ADJECTIVES_OR_VERBS = _words(
    "separate present perfect absent appropriate approximate frequent moderate intimate subordinate legitimate "
    "elaborate deliberate diffuse degenerate articulate compact overweight upset covert alternate desolate animate"
)

RULES: dict[str, Callable[[Context], str]] = {
    "read": _read,
    "live": _live,
    "close": _close,
    "content": _content,
    "minute": _minute,
    "bass": _bass,
    "dove": _dove,
    "used": _used,
    "learned": _learned,
    "invalid": _invalid,
    "that": _that,
    **dict.fromkeys(_ADJECTIVES_OR_VERBS, _adjective_or_verb),
}
