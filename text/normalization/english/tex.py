"""Rules for TeX between dollar signs or after backslashes, and for functions in formulas: $E = mc^2$, \\(n-1\\),
\\[\\frac{1}{2}\\], f(x) = 2x + 1.
"""

from __future__ import annotations

import re

from text.locales.tables import table
from text.normalization.draft import END, START, Draft
from text.normalization.number_words import number, ordinal

_MATH = re.compile(
    r"\$(?P<inline>(?![\s$])[^$\n]{0,199}(?<![\s\\]))\$(?![\d$])"
    r"|\$\$(?P<shown>[^$]{1,400})\$\$"
    r"|\\\((?P<round>(?>(?:[^\\\n]|\\(?!\))[^\n]){1,400}))\\\)"
    r"|\\\[(?P<square>(?>(?:[^\\]|\\(?!\])[^\n]){1,400}))\\\]"
)
_TERM = r"(?:[a-zA-Z](?![a-zA-Z])|(?>\d++(?:\.\d++)?))"
_IS_MATH = re.compile(rf"[=^_\\<>+]|^\s*+[(|]?{_TERM}(?>(?:[ ,!'’()|*/−-]{{0,4}}{_TERM})*)[)|!'’]*+\s*+$")
_TOKEN = re.compile(
    r"\\(?:text|mathrm|mathbf|mathit|operatorname|textbf|textit)\{[^{}]*\}|\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|[a-zA-Z]|[^\s\w]|_"
)
_NAMES: dict[str, str] = table("en", "tex")["names"] | {"|": "", "&": ""}
_LAYOUT = frozenset(
    ("\\left", "\\right", "\\mathrm", "\\mathbf", "\\text", "\\quad", "\\displaystyle", "\\,", "\\;", "\\!", "\\\\")
)
_FUNCTION = re.compile(
    rf"{START}(?P<name>[fghFGP])\((?P<of>[a-z0-9](?:, ?[a-z0-9])?)\)(?= ?[=<>≤≥≈+−-]|,|\.| (?:is|at|and)\b)"
)
_COEFFICIENT = re.compile(
    rf"{START}(?P<number>\d{{1,6}})(?P<letter>[xyznk])(?=$|[ +=)^²³,.−-]){END}(?P<power>\^\d|[²³])?"
)
_EQUATION = re.compile(r"[=<>≤≥]")


def formula(text: str, start: int, end: int) -> str:
    """Formula in TeX that begins at a place of a text, with its delimiters; empty if there is none."""
    match = _MATH.match(text, start, end)
    return match[0] if match and _IS_MATH.search(match[match.lastgroup or 0]) else ""


def tex(draft: Draft) -> None:
    british = draft.british
    if draft.has("$\\"):
        draft.replace(_MATH, lambda match: _said(match[match.lastgroup or 0], british))
    if draft.has("("):
        draft.replace(_FUNCTION, lambda match: f"{match['name']} of {match['of']}")
    if _EQUATION.search(draft.sentence):
        draft.replace(_COEFFICIENT, lambda match: _coefficient(match, british))


def _coefficient(match: re.Match[str], british: bool) -> str:
    said = f"{number(match['number'], british)} {match['letter']}"
    return said if match["power"] is None else f"{said} {_power(match['power'].lstrip('^'), british)}"


def _power(exponent: str, british: bool) -> str:
    if exponent in ("2", "²"):
        return "squared"
    if exponent in ("3", "³"):
        return "cubed"
    return f"to the {ordinal(int(exponent), british) if exponent.isdecimal() else exponent}"


def _said(math: str, british: bool) -> str | None:
    if not _IS_MATH.search(math):
        return None
    return " ".join(" ".join(_Formula(_TOKEN.findall(math), british).all()).replace(" ,", ",").split())


class _Formula:
    """Parser of a formula's tokens, from left to right."""

    def __init__(self, tokens: list[str], british: bool) -> None:
        self._tokens = tokens
        self._place = 0
        self._british = british

    def all(self, end: str = "") -> list[str]:
        """Words up to a closing token, or to the end."""
        said: list[str] = []
        while self._place < len(self._tokens):
            token = self._next()
            if token == end:
                break
            if token == "^":
                said.append(_power(" ".join(self._argument()), self._british))
            elif token == "_":
                said.append(f"sub {' '.join(self._argument())}")
            else:
                said += self._word(token)
        return said

    def _next(self) -> str:
        token = self._tokens[self._place]
        self._place += 1
        return token

    def _argument(self) -> list[str]:
        """Words of a group in braces, or of one token. Digits stay digits, so that a power can be recognised."""
        if self._place == len(self._tokens):
            return []
        token = self._next()
        if token == "{":
            return self.all("}")
        return [token] if token.isdecimal() else self._word(token)

    def _word(self, token: str) -> list[str]:
        if token in ("\\frac", "\\dfrac", "\\tfrac"):
            above, below = self._spoken(self._argument()), self._spoken(self._argument())
            return [*above, "over", *below]
        if token == "\\sqrt":
            return ["the square root of", *self._spoken(self._argument())]
        if token in _LAYOUT or token in "{}()[]":
            return []
        if token[0] == "\\" and token[-1] == "}":
            return token[token.index("{") + 1 : -1].split()
        if token in _NAMES:
            return [_NAMES[token]]
        if token[0].isdecimal():
            return [number(token, self._british)]
        return [token.lstrip("\\")]

    def _spoken(self, words: list[str]) -> list[str]:
        return [number(word, self._british) if word.isdecimal() else word for word in words]
