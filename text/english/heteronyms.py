"""Rules for heteronyms, words with one spelling and several pronunciations, that general part-of-speech tagging gets
wrong.

A rule returns the tag under which misaki's dictionaries hold the pronunciation: `use` is a noun with an s sound,
`close` an adjective with an s sound, `read` with a short e is VBD, VBN or JJ. A present tense is always VB, never VBP:
the dictionaries' entries for VBP are past tenses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from text.locales.tables import table, word_list

_CLASSES = {name: word_list(words) for name, words in table("en", "word_classes").items()}

SUBJECTS = _CLASSES["subjects"]
PRONOUNS = SUBJECTS | _CLASSES["pronouns"]
POSSESSIVES = _CLASSES["possessives"]
DETERMINERS = _CLASSES["determiners"]
MODALS = _CLASSES["modals"]
DO = _CLASSES["do"]
BE = _CLASSES["be"]
HAVE = _CLASSES["have"]
SEEM = _CLASSES["seem"]
CONJUNCTIONS = _CLASSES["conjunctions"]
ADVERBS = _CLASSES["adverbs"]
ADJECTIVES = _CLASSES["adjectives"]
PAST_VERBS = _CLASSES["past_verbs"]
BASE_VERBS = _CLASSES["base_verbs"]
PLURALS = _CLASSES["plurals"]
BEFORE_CLAUSES = _CLASSES["before_clauses"]
POINTED = _CLASSES["pointed"]
STATES = _CLASSES["states"]


@dataclass(frozen=True, slots=True)
class WordContext:
    """Context of a word, in lower case; empty strings beyond the sentence's edges and beyond punctuation."""

    second_before: str
    before: str
    after: str
    second_after: str
    tag_before: str
    tag: str
    """Penn tag of the word by the general rules."""
    text: frozenset[str]
    """Set of all the sentence's words."""


_TINY_THINGS = word_list(
    "detail details amount amounts quantity quantities trace traces particle particles difference differences "
    "fraction fractions change changes fragment fragments portion portions dose doses variation variations adjustment"
)
_SCHOLARS = word_list("man men woman professor scholar scholars judge friend society colleague journal journals people")
_MUSIC = word_list(
    "guitar guitars drum drums line lines player players clef solo solos note notes tone tones voice boost singer "
    "music song songs band speaker speakers string strings jazz sound play plays played playing sings singing deep"
)
_INTO = word_list("into in under off down deep from headfirst right straight back overboard beneath behind")
_LINGERING = word_list("to by enough together behind up at in")


def _read(c: WordContext) -> str:
    if c.before in BE | HAVE or (c.second_before in HAVE and c.before in SUBJECTS):
        return "VBN" if c.tag.startswith("VB") else c.tag
    if c.tag == "VB" and c.text & _PAST_MARKS and c.before not in MODALS | DO | {"to", "please"}:
        return "VBD"
    return c.tag


def _wound(c: WordContext) -> str:
    plain = c.before in MODALS | DO | {"to"}
    return "VBD" if c.tag.startswith("VB") and not plain else c.tag


def _live(c: WordContext) -> str:
    if c.tag.startswith("VB") and not (c.tag_before in ("NN", "NNP") and not c.after):
        return c.tag
    return "RB" if c.tag_before.startswith("N") else "JJ"


def _close(c: WordContext) -> str:
    if c.tag.startswith("VB"):
        return "JJ" if c.after in _LINGERING or c.before in BE | SEEM else c.tag
    if c.before in ("the", "a") and c.after == "of":
        return "NN"
    if not c.after and c.tag_before.startswith("N") and c.text & (DO | MODALS):
        return "VB"
    return "JJ"


def _content(c: WordContext) -> str:
    if c.before in BE | SEEM or c.after in ("with", "to"):
        return "JJ"
    return "NN"


def _minute(c: WordContext) -> str:
    tiny = c.after in _TINY_THINGS and c.tag_before != "CD" and c.before not in ("last", "one")
    return "JJ" if tiny or c.before in ("very", "extremely") else "NN"


def _bass(c: WordContext) -> str:
    return "JJ" if c.text & _MUSIC else "NN"


def _dove(c: WordContext) -> str:
    return "VBD" if c.after in _INTO and c.before not in DETERMINERS else "NN"


def _used(c: WordContext) -> str:
    if c.after != "to":
        return "JJ" if c.tag_before == "DT" else "VBN"
    if c.before in BE:
        # "is used to cut" is passive; "are used to noise" and "are used to cutting" are habits.
        habitual = (
            c.second_before in PRONOUNS | PLURALS
            or c.before not in ("is", "are", "was", "were", "be", "been", "being")
            or c.second_after.endswith("ing")
            or c.second_after in DETERMINERS | POSSESSIVES | PRONOUNS | ADJECTIVES
        )
        return "JJ" if habitual else "VBN"
    return c.tag


def _learned(c: WordContext) -> str:
    return "JJ" if c.after in _SCHOLARS and c.before in DETERMINERS else "VBN"


def _invalid(c: WordContext) -> str:
    return "NN" if c.before in ("a", "an", "the") and not c.after else "JJ"


def _moped(c: WordContext) -> str:
    return "VBD" if c.before in SUBJECTS or c.after in _MOPING else "NN"


def _upset(c: WordContext) -> str:
    if c.after == "of" and c.before in POSSESSIVES:
        return "NN"
    if c.before in ("an", "major", "stomach", "big", "huge", "biggest", "stunning", "the", "this", "shock"):
        return "JJ" if c.after in _UPSET_ONES else "NN"
    return "JJ" if c.before in BE | SEEM | ADVERBS else "VBD"


def _bow(c: WordContext) -> str:
    if c.text & _ARCHERY or c.after in ("tie", "ties", "window"):
        return "NN"
    if c.after in _BOWING or c.before in ("to", "and", "ship's", "take", "took", "takes") or c.text & _SHIPS:
        return "VB"
    return "VB" if c.tag.startswith("VB") else "NN"


def _attribute(c: WordContext) -> str:
    if c.before in DETERMINERS | POSSESSIVES | {"of"} or c.tag_before in ("JJ", "NN"):
        return "NN"
    return "VB" if c.after in _COMPLEMENTS or c.tag.startswith("VB") else "NN"


def _combine(c: WordContext) -> str:
    noun = c.before in DETERMINERS | POSSESSIVES or c.after in ("harvester", "harvesters")
    return "NN" if noun and c.after not in _COMPLEMENTS else "VB"


def _reject(c: WordContext) -> str:
    noun = c.before in DETERMINERS | POSSESSIVES | ADJECTIVES or c.after in ("pile", "bin", "rate")
    return "NN" if noun and c.after not in _COMPLEMENTS else "VB"


def _adjective_or_verb(c: WordContext) -> str:
    last = not c.after and c.tag_before.startswith("N")
    return c.tag if c.tag.startswith("VB") and c.before not in BE | SEEM and not last else "JJ"


_ADJECTIVES_OR_VERBS = word_list(
    "separate present perfect absent appropriate approximate frequent moderate intimate subordinate legitimate "
    "elaborate deliberate diffuse degenerate articulate compact overweight covert alternate desolate animate"
)

_PAST_MARKS = frozenset(("yesterday", "ago", "last", "earlier", "once"))
_MOPING = word_list("around about for all over in through")
_UPSET_ONES = word_list("man woman child children people parents customers customer fans mother father stomach look")
_ARCHERY = word_list(
    "arrow arrows archer archers archery quiver violin cello fiddle ribbon ribbons hair gift knot tie tied"
)
_BOWING = word_list("to down before low deeply out politely in slightly and of")
_SHIPS = word_list("ship stern boat deck vessel wave waves audience curtain curtsy hull sailor sailors")
_COMPLEMENTS = DETERMINERS | POSSESSIVES | PRONOUNS | {"to", "with"}

RULES: dict[str, Callable[[WordContext], str]] = {
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
    "wound": _wound,
    "moped": _moped,
    "upset": _upset,
    "bow": _bow,
    "bows": _bow,
    "attribute": _attribute,
    "attributes": _attribute,
    "combine": _combine,
    "reject": _reject,
    "consist": lambda _: "VB",
    "consists": lambda _: "VBZ",
    **dict.fromkeys(_ADJECTIVES_OR_VERBS, _adjective_or_verb),
}
