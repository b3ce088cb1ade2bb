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


_LEAD_THINGS = word_list(
    "acid batteries battery bullet bullets crystal exposure foil glass levels lined mine mines ore oxide paint "
    "pencil pencils pipe pipes plumbing poisoning shot solder weight weights content"
)
_METALS = word_list(
    "arsenic atomic bullet bullets cadmium contain contained contains copper heavy iron leaded made melt melted "
    "mercury metal metals molten paint pipe pipes poisoned silver soil solder tin toxic zinc"
)
_ROWED_OVER = word_list("about over between broke erupted erupts blew")
_LATE = word_list("at early late on down soon today tomorrow tonight when if and in their its")
_TURNING = word_list("around round between through along past across up down into over its his her their tightly")
_SHOWN = word_list(
    "watch watched watching broadcast broadcasts stream streamed streaming aired perform performed performing shown "
    "televised"
)
_PLACES_TO_LIVE = word_list("in on at with near here there alone by")
_TOWARDS = word_list("at near toward towards to before until by after since")
_CONTENT_ONES = word_list("baby child children man woman smile cat dog sigh customer customers employee employees")
_BEFORE_INFINITIVES = word_list(
    "hard easy difficult possible impossible want wants wanted try tries tried trying need needs needed able how order "
    "have has had going decided failed began hope helps important necessary better likely"
)
_TINY_THINGS = word_list(
    "detail details amount amounts quantity quantities trace traces particle particles difference differences "
    "fraction fractions change changes fragment fragments portion portions dose doses variation variations adjustment"
)
_SCHOLARS = word_list("man men woman professor scholar scholars judge friend society colleague journal journals people")
_MUSIC = word_list(
    "instrument instruments orchestra choir treble amp amplifier turn turned subwoofer clarinet drum drummer riff "
    "riffs guitar guitars drum drums line lines player players clef solo solos note notes tone tones voice boost "
    "singer music song songs band speaker speakers string strings jazz sound play plays played playing sings singing "
    "deep"
)
_INTO = word_list("into in under off down deep from headfirst right straight back overboard beneath behind")
_LINGERING = word_list("to by enough together behind up at in")


def _read(c: WordContext) -> str:
    if c.before in BE | HAVE or (c.second_before in HAVE and c.before in SUBJECTS):
        return "VBN" if c.tag.startswith("VB") else c.tag
    if c.tag == "VB" and c.text & _PAST_MARKS and c.before not in MODALS | DO | {"to", "please"}:
        return "VBD"
    if c.tag == "VB" and c.before == "i" and c.after in ("somewhere", "recently", "once", "about", "that"):
        return "VBD"
    return c.tag


def _lead(c: WordContext) -> str:
    if c.tag.startswith("VB") and c.before in PRONOUNS | MODALS | DO | {"to", "please", "not"}:
        return c.tag
    metal = (
        c.after in _LEAD_THINGS
        or c.before in ("of", "from", "containing")
        or (c.before not in DETERMINERS | POSSESSIVES and c.text & _METALS)
    )
    return "FW" if metal and not (c.tag.startswith("VB") and c.after in DETERMINERS) else c.tag


def _row(c: WordContext) -> str:
    quarrel = c.after in _ROWED_OVER and c.before not in ("front", "back", "in", "to", "middle", "top", "bottom")
    return "FW" if quarrel and not c.tag.startswith("VB") else c.tag


def _tear(c: WordContext) -> str:
    rent = c.after == "in" and c.second_after in DETERMINERS | POSSESSIVES and c.before != "single"
    worn = c.before in ("and", "muscle", "ligament") and c.text & {"wear", "muscle", "ligament"}
    return "VB" if rent or worn else c.tag


def _desert(c: WordContext) -> str:
    deserts = c.before in {"who", "to", "not", "never"} | MODALS | DO or c.after in {"him", "her", "them", "me", "us"}
    return "VB" if deserts and c.after not in ("sand", "sun", "wind", "air") else c.tag


def _graduate(c: WordContext) -> str:
    return "JJ" if c.after in ("student", "students", "school", "schools", "degree", "degrees", "program") else c.tag


def _wound(c: WordContext) -> str:
    plain = c.before in MODALS | DO | {"to"}
    if c.after in _TURNING and c.before not in DETERMINERS | POSSESSIVES | ADJECTIVES and not plain:
        return "VBD"
    return "VBD" if c.tag.startswith("VB") and not plain else c.tag


def _wind(c: WordContext) -> str:
    return "VB" if c.tag_before == "NNS" and c.after in _TURNING else c.tag


def _live(c: WordContext) -> str:
    shown = (c.tag_before.startswith("N") and c.text & _SHOWN) or c.before in _SHOWN | {
        "play",
        "played",
        "sang",
        "sing",
    }
    held = c.before in HAVE | POSSESSIVES | {"a", "the", "with"} and c.after and c.after not in _PLACES_TO_LIVE
    if c.tag.startswith("VB") and not (c.tag_before in ("NN", "NNP") and not c.after) and not shown and not held:
        return c.tag
    return "RB" if c.tag_before.startswith("N") else "JJ"


def _close(c: WordContext) -> str:
    if c.tag.startswith("VB"):
        lingers = c.after in _LINGERING and not (c.tag_before == "NNS" and c.after in _LATE)
        return "JJ" if lingers or c.before in BE | SEEM else c.tag
    if c.before in ("the", "a") and (c.after == "of" or (not c.after and c.second_before in _TOWARDS)):
        return "NN"
    if not c.after and c.tag_before.startswith("N") and c.text & (DO | MODALS):
        return "VB"
    plural = c.tag_before == "NNS" and c.after in _LATE and not c.text & BE
    return "VB" if plural or (not c.before and c.after in DETERMINERS | POSSESSIVES | {"all"}) else "JJ"


def _content(c: WordContext) -> str:
    return "JJ" if c.before in BE | SEEM or c.after in ("with", "to") or c.after in _CONTENT_ONES else "NN"


def _minute(c: WordContext) -> str:
    tiny = c.after in _TINY_THINGS and c.tag_before != "CD" and c.before not in ("last", "one")
    size = c.before in ("are", "were", "is", "was") and not c.after
    return "JJ" if tiny or size or c.before in ("very", "extremely") else "NN"


def _bass(c: WordContext) -> str:
    return "JJ" if c.text & _MUSIC or c.before == "double" else "NN"


def _dove(c: WordContext) -> str:
    return "VBD" if c.after in _INTO and c.before not in DETERMINERS else "NN"


def _used(c: WordContext) -> str:
    if c.after != "to":
        return "JJ" if c.tag_before == "DT" else "VBN"
    if c.before in BE:
        # "is used to cut" is passive; "are used to noise" and "are used to cutting" are habits.
        habitual = (
            c.second_before in PRONOUNS - {"it"} | PLURALS
            or c.before not in ("is", "are", "was", "were", "be", "been", "being")
            or c.second_after.endswith("ing")
            or c.second_after in DETERMINERS | POSSESSIVES | PRONOUNS | ADJECTIVES
        )
        return "JJ" if habitual else "VBN"
    return "VBD" if c.text.isdisjoint(BE | HAVE | MODALS | DO) else c.tag


def _learned(c: WordContext) -> str:
    return "JJ" if c.after in _SCHOLARS and c.before in DETERMINERS else "VBN"


def _invalid(c: WordContext) -> str:
    person = not c.after or c.after in BE | HAVE | MODALS | PAST_VERBS | {"lay", "lies", "sat", "who", "and"}
    return "NN" if c.before in ("a", "an", "the") and person else "JJ"


def _moped(c: WordContext) -> str:
    return "VBD" if c.before in SUBJECTS or c.after in _MOPING else "NN"


def _upset(c: WordContext) -> str:
    if c.after == "of" and c.before in POSSESSIVES:
        return "NN"
    if c.before in ("an", "major", "stomach", "big", "huge", "biggest", "stunning", "the", "this", "shock"):
        return "JJ" if c.after in _UPSET_ONES else "NN"
    return "JJ" if c.before in BE | SEEM | ADVERBS else "VBD"


def _bow(c: WordContext) -> str:
    if c.before == "a" and c.second_before in ("take", "took", "takes", "taking"):
        return "VB"
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
    if c.before in MODALS | {"please"} or (c.before == "to" and not c.after):
        return "VB"
    if c.before == "to" and c.second_before in _BEFORE_INFINITIVES and c.after:
        return "VB"
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
    "wind": _wind,
    "moped": _moped,
    "upset": _upset,
    "lead": _lead,
    "row": _row,
    "tear": _tear,
    "desert": _desert,
    "graduate": _graduate,
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
