"""Texts that a regular expression matches, drawn at random from its parts."""

import random
import re
from re import _parser  # type: ignore[attr-defined]
from typing import Any

_WORDS, _DIGITS, _SPACES = "azbqEIVXM", "0123456789", " "
_CATEGORIES = {"CATEGORY_WORD": _WORDS + _DIGITS, "CATEGORY_DIGIT": _DIGITS, "CATEGORY_SPACE": _SPACES}
_CATEGORIES |= {"CATEGORY_NOT_SPACE": _WORDS, "CATEGORY_NOT_WORD": " ", "CATEGORY_NOT_DIGIT": _WORDS}
_MOST = 3
"""Most repetitions over the least, of what may be repeated."""


def sample(pattern: re.Pattern[str], drawn: random.Random) -> str | None:
    """Text in which the pattern is found, with what its look-ahead asks for; None if twenty draws find none."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE.value)
    drafts = (_text(tree, drawn, {}) for _ in range(20))
    return next((text for text in drafts if pattern.search(text)), None)


def _text(tree: Any, drawn: random.Random, groups: dict[int, str]) -> str:
    return "".join(_part(str(kind), value, drawn, groups) for kind, value in tree)


def _part(kind: str, value: Any, drawn: random.Random, groups: dict[int, str]) -> str:
    match kind:
        case "LITERAL":
            return chr(value)
        case "IN":
            return _one(value, drawn)
        case "NOT_LITERAL" | "ANY":
            return "q"
        case "BRANCH":
            return _text(drawn.choice(value[1]), drawn, groups)
        case "SUBPATTERN":
            text = _text(value[-1], drawn, groups)
            groups[value[0]] = text
            return text
        case "ATOMIC_GROUP":
            return _text(value, drawn, groups)
        case "ASSERT":
            return _text(value[1], drawn, groups)
        case "GROUPREF":
            return groups.get(value, "")
        case "GROUPREF_EXISTS":
            chosen = value[1] if groups.get(value[0]) else value[2]
            return _text(chosen, drawn, groups) if chosen else ""
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, repeated = value
            return "".join(
                _text(repeated, drawn, groups) for _ in range(drawn.randint(least, min(int(most), least + _MOST)))
            )
        case _:
            return ""


def _one(members: Any, drawn: random.Random) -> str:
    if str(members[0][0]) == "NEGATE":
        left_out = _all(members[1:])
        return next(sign for sign in (*drawn.sample("q5 ;£", 5), "ж") if sign not in left_out)
    kind, value = drawn.choice(members)
    if str(kind) == "RANGE":
        return chr(drawn.randint(*value))
    return drawn.choice(_CATEGORIES[str(value)]) if str(kind) == "CATEGORY" else chr(value)


def _all(members: Any) -> str:
    """The characters of a set, as far as a negated one must leave them out."""
    said = {"CATEGORY": lambda value: _CATEGORIES[str(value)], "LITERAL": chr}
    return "".join(said.get(str(kind), lambda _: "")(value) for kind, value in members)
