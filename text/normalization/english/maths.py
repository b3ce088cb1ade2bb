"""Rules for formulas and signs: 3 + 4 = 7, 10^6, x², ≥, ->, &, C++, and/or."""

from __future__ import annotations

import re

from text.normalization.draft.draft import END, MASK, NUMBER, START, Draft
from text.normalization.draft.words import cardinal, number, ordinal
from text.words.spoken_signs import SIGNS

_LETTERS_RAISED = {"ⁿ": "n", "ᵗ": "t", "ᵏ": "k"}
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
EXPONENT = (
    r"(?:(?:\^|\*\*)(?P<open>[({])?(?P<exponent>[-−]?\d{1,6}|[a-z])(?(open)[)}])"
    r"|(?P<raised>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,6}))"
)
_POWER = re.compile(rf"{START}(?<!\d[.,])(?P<base>{NUMBER}|[a-zA-Z]){EXPONENT}{END}")
_LANGUAGE = re.compile(rf"{START}(?:(?P<plus>[CG])\+\+|(?P<sharp>[CFJ])#)(?!\w)")
_OPERATIONS = {
    "+": "plus",
    "-": "minus",
    "−": "minus",
    "–": "minus",
    "*": "times",
    "×": "times",
    "·": "times",
    "x": "times",
    "÷": "divided by",
    "/": "divided by",
    "=": "equals",
    "==": "equals",
    "!=": "does not equal",
    "<": "is less than",
    ">": "is greater than",
    "<=": "is less than or equal to",
    ">=": "is greater than or equal to",
    "≤": "is less than or equal to",
    "≥": "is greater than or equal to",
    "≠": "does not equal",
    "≈": "is about",
    "±": "plus or minus",
    "%": "mod",
}
_OPERATORS = frozenset(_OPERATIONS)
_RAISED = re.compile(rf"{START}(?P<base>[a-zA-Z\d])(?P<raised>[ⁿᵗᵏ]){END}")
_SPACED = re.compile(
    rf"(?P<before>(?<=[\d)\]²³{MASK}]) |(?<=(?<!\w)\w) |(?<=\w) (?=[=≠≈!×÷±]))"
    rf"(?P<sign>==|!=|<=|>=|[+−–*×·÷/=<>≤≥≠≈±%-]|x(?= ))(?= [\d(\[√πa-zA-Z$£€.−{MASK}-]|$)"
)
_TIGHT = re.compile(
    rf"(?<=[\d)])(?P<sign>==|!=|<=|>=|[+*×÷=<>≤≥≠≈±−])(?=[\d(−{MASK}-])"
    rf"|(?<=[\w){MASK}])(?P<relation>[=≤≥≠≈±]|==|!=|<=|>=)(?=[-−\d{MASK}])"
)
_BEFORE_NUMBER = {
    "~": "about ",
    "≈": "about ",
    "∼": "about ",
    "<": "less than ",
    ">": "more than ",
    "≤": "at most ",
    "≥": "at least ",
    "<=": "at most ",
    ">=": "at least ",
    "±": "plus or minus ",
    "+": "plus ",
    "=": "equals ",
    "√": "the square root of ",
    "×": "times ",
}
_PREFIX = re.compile(rf"(?<![\w{MASK})])(?P<sign><=|>=|[~≈∼<>≤≥±+=√×]) ?(?=[-−]?[.$£€]?\d|{MASK}|(?<=√)\(?\w)")
_PLUS = re.compile(rf"(?<=[\d{MASK}])\+(?!\w|\+)")
_AND = re.compile(r" ?& ?")
_ARROW = re.compile(r" ?(?:-{1,2}>|=>|[→⇒➜⟶]) ?")
_EITHER = re.compile(r"\b(?P<one>he|him|his|she|her|hers)/(?P<other>she|her|hers|he|him|his)\b", re.IGNORECASE)
_FACTORIAL = re.compile(r"(?<=\d)!(?= ?[=+*/<>-])")
_SLASH = re.compile(r"(?<=[^\W\d])/(?=[^\W\d])(?<!\bw/)")
_WITH = re.compile(rf"{START}[wW]/(?!w\b|[a-z]{{1,2}}[²³])(?P<out>o{END})? ?(?=\S|$)")
_SIGN_NAMES = {sign: name for sign, name in SIGNS.items() if sign not in "#=\\"} | {
    "™": "",
    "®": "",
    "√": "square root of",
    "π": "pi",
    "∑": "sum of",
    "∫": "integral of",
    "∈": "in",
    "∀": "for all",
    "∃": "there exists",
    "∴": "therefore",
    "¬": "not",
    "∧": "and",
    "∨": "or",
    "∪": "union",
    "∩": "intersection",
}
_SIGNS = "".join(_SIGN_NAMES)
NEEDED = re.compile(rf"[^\w\s.,;:!?'\"’“”()—]|[²³¹⁰⁴-⁹ⁿᵗᵏ{''.join(filter(str.isalnum, _SIGNS))}]| x ")
"""Signs, or letters that are read as signs, of which a sentence has one if a rule applies."""
_SIGN = re.compile(rf"(?P<before> ?)(?P<sign>[{re.escape(_SIGNS)}])(?P<after> ?)")


def apply(draft: Draft) -> None:
    british = draft.british
    if draft.has("+#"):
        draft.replace(
            _LANGUAGE, lambda match: f"{match['plus']} plus plus" if match["plus"] else f"{match['sharp']} sharp"
        )
    if draft.has("!"):
        draft.replace(_FACTORIAL, lambda match: " factorial")
    if draft.has("^*⁰¹²³⁴⁵⁶⁷⁸⁹"):
        draft.replace(_POWER, lambda match: power(match, british))
    if draft.has("ⁿᵗᵏ"):
        draft.replace(_RAISED, lambda match: f"{match['base']} to the {_LETTERS_RAISED[match['raised']]}")
    if draft.has(">→⇒➜⟶"):
        draft.replace(_ARROW, lambda match: " to ")
    if not _OPERATORS.isdisjoint(draft.sentence.split(" ")):
        draft.replace(_SPACED, lambda match: f" {_OPERATIONS[match['sign']]}")
    if draft.has("+*×÷=<>≤≥≠≈±−"):
        draft.replace(_TIGHT, lambda match: f" {_OPERATIONS[match['sign'] or match['relation']]} ")
    if draft.has("~≈∼<>≤≥±+=√×"):
        draft.replace(_PREFIX, lambda match: _BEFORE_NUMBER[match["sign"]])
    if draft.has("+"):
        draft.replace(_PLUS, lambda match: " plus")
    if draft.has("&"):
        draft.replace(_AND, lambda match: " and ")
    if draft.has("/"):
        draft.replace(_WITH, lambda match: ("without" if match["out"] else "with") + " ")
        draft.replace(_EITHER, lambda match: f"{match['one']} or {match['other']}")
        draft.replace(_SLASH, lambda match: " ")
    if draft.has(_SIGNS):
        draft.replace(_SIGN, _sign)


def power(match: re.Match[str], british: bool) -> str | None:
    """Words for a base and its `EXPONENT`; None for a footnote's number."""
    exponent = (match["exponent"] or match["raised"].translate(_SUPERSCRIPTS)).replace("−", "-")
    if match["raised"] and exponent == "1":
        return None  # a footnote's number
    base = match["base"] if match["base"].isalpha() else number(match["base"], british)
    if exponent in ("2", "3"):
        return f"{base} {'squared' if exponent == '2' else 'cubed'}"
    if exponent.isalpha():
        return f"{base} to the power of {exponent}"
    if exponent[0] == "-":
        return f"{base} to the minus {cardinal(int(exponent[1:]), british)}"
    return f"{base} to the {ordinal(int(exponent), british)}"


def _sign(match: re.Match[str]) -> str:
    name = _SIGN_NAMES[match["sign"]]
    following = match.string[match.end() : match.end() + 1]
    return (
        f" {name}{' ' if match['after'] or following.isalnum() else ''}" if name else match["before"] or match["after"]
    )
