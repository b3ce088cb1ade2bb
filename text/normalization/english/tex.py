"""Rules for TeX between dollar signs or after backslashes, and for functions in formulas: $E = mc^2$, \\(n-1\\),
\\[\\frac{1}{2}\\], f(x) = 2x + 1.
"""

from __future__ import annotations

import re

from text.locales.tables import table
from text.normalization.draft import END, START, Draft
from text.normalization.english.formulas import Formula, power
from text.normalization.number_words import number

_NAMES: dict[str, dict[str, str]] = table("en", "tex")
_ENVIRONMENTS = "|".join(_NAMES["environments"])
_MATH = re.compile(
    r"\$(?P<inline>(?![\s$])[^$\n]{0,199}(?<![\s\\]))\$(?![\d$])"
    r"|\$\$(?P<shown>[^$]{1,400})\$\$"
    r"|\\\((?P<round>(?>(?:[^\\\n]|\\(?!\))[^\n]){1,400}))\\\)"
    r"|\\\[(?P<square>(?>(?:[^\\]|\\(?!\])[^\n]){1,400}))\\\]"
    rf"|(?P<bare>\\begin\{{(?P<environment>{_ENVIRONMENTS})\*?\}}[^$]{{1,600}}?\\end\{{(?P=environment)\*?\}})"
)
_TERM = r"(?:[a-zA-Z](?![a-zA-Z])|(?>\d++(?:\.\d++)?))"
_IS_MATH = re.compile(rf"[=^_\\<>+]|^\s*+[(|]?{_TERM}(?>(?:[ ,!'’()|*/−-]{{0,4}}{_TERM})*)[)|!'’]*+\s*+$")
_FUNCTION = re.compile(
    rf"{START}(?P<name>[fghFGP])\((?P<of>[a-z0-9](?:, ?[a-z0-9])?)\)(?= ?[=<>≤≥≈+−-]|,|\.| (?:is|at|and)\b)"
)
_COEFFICIENT = re.compile(
    rf"{START}(?<!\d\.)(?P<number>\d{{1,6}})(?P<letter>[xyznk])(?=$|[ +=)^²³,.−-]){END}(?P<power>\^\d|[²³])?"
)
_EQUATION = re.compile(r"[=<>≤≥]")


def formula(text: str, start: int, end: int) -> str:
    """Formula in TeX that begins at a place of a text, with its delimiters; empty if there is none."""
    match = _MATH.match(text, start, end)
    return match[0] if match and _IS_MATH.search(_inside(match)) else ""


def tex(draft: Draft) -> None:
    british = draft.british
    if draft.has("$\\"):
        draft.replace(_MATH, lambda match: said(_inside(match), british))
    if draft.has("("):
        draft.replace(_FUNCTION, lambda match: f"{match['name']} of {match['of']}")
    if _EQUATION.search(draft.sentence):
        draft.replace(_COEFFICIENT, lambda match: _coefficient(match, british))


def said(math: str, british: bool) -> str | None:
    """Words of a formula without its delimiters; None if it is none."""
    if not _IS_MATH.search(math):
        return None
    return " ".join(" ".join(Formula(math, british).words()).replace(" ,", ",").split())


def _inside(match: re.Match[str]) -> str:
    return next(match[name] for name in ("inline", "shown", "round", "square", "bare") if match[name] is not None)


def _coefficient(match: re.Match[str], british: bool) -> str:
    spoken = f"{number(match['number'], british)} {match['letter']}"
    return spoken if match["power"] is None else f"{spoken} {power(match['power'].lstrip('^'), british)}"
