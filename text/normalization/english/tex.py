"""Rules for TeX between dollar signs or after backslashes, and for functions in formulas: $E = mc^2$, \\(n-1\\),
\\[\\frac{1}{2}\\], f(x) = 2x + 1.
"""

from __future__ import annotations

import re
import unicodedata

from text.locales.tables import table
from text.normalization.draft import END, START, Draft
from text.normalization.number_words import cardinal, fraction, number, ordinal

_TOKEN = re.compile(
    r"\\(?:begin|end)\{[a-zA-Z]+\*?\}"
    r"|\\(?:text|textrm|operatorname|textbf|textit|mbox|label|tag)\*?\{[^{}]*\}"
    r"|\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|[a-zA-Z]|[^\s\w]|_",
    re.DOTALL,
)
_TABLE: dict[str, dict[str, str]] = table("en", "tex")
_NAMES = _TABLE["names"]
_ACCENTS = _TABLE["accents"]
_SETS = _TABLE["sets"]
_BOUNDED = _TABLE["bounded"]
_MATRICES = frozenset(_TABLE["environments"]) & {"matrix", "pmatrix", "bmatrix", "vmatrix", "Bmatrix", "smallmatrix"}
_FUNCTIONS = frozenset("fghFGPEOpTuQRLV")
_SILENT = frozenset("{}()[]&|.")
_MOST_READ = 16
"""Most entries of a matrix that are read; a larger one is only mentioned."""


def power(exponent: str, british: bool) -> str:
    nth = ordinal(int(exponent), british) if exponent.isdecimal() else exponent
    return _TABLE["powers"].get(exponent) or f"to the {nth}"


class Formula:
    def __init__(self, math: str, british: bool) -> None:
        self._tokens: list[str] = _TOKEN.findall(math)
        self._place = 0
        self._british = british
        self._depth = 0

    def words(self, *ends: str) -> list[str]:
        """Words up to one of the closing tokens, or to the end."""
        said: list[str] = []
        while self._place < len(self._tokens):
            token = self._next()
            if token in ends or ("&" in ends and token.startswith("\\end{")):
                break
            said += self._read(token, said)
        return said

    def _read(self, token: str, before: list[str]) -> list[str]:
        if token == "^":
            argument = self._argument()
            return argument if argument == ["degrees"] else [power(" ".join(argument), self._british)]
        if token == "_":
            return ["base" if before[-1:] == ["log"] else "sub", *self._spoken(self._argument())]
        if token == "(" or (token == "[" and before[-1:] and before[-1] in _FUNCTIONS):
            return self._parenthesis(before, ")" if token == "(" else "]")
        if token == "|":
            return self._bar(before)
        if token in ("\\|", "\\Vert"):
            return ["the norm of", *self._nested(token)]
        if token in ("\\left", "\\right", "\\big", "\\Big", "\\bigg", "\\Bigg", "\\middle"):
            return []
        return self._word(token)

    def _parenthesis(self, before: list[str], end: str) -> list[str]:
        """A function's argument, or a factor."""
        last = before[-1] if before else ""
        previous = self._tokens[self._place - 2] if self._place > 1 else ""
        inner = self._nested(end)
        named = previous.startswith(("\\text", "\\operatorname"))
        if last in _FUNCTIONS or last == "prime" or named:
            return ["of", *inner]
        factor = previous == "}" or previous == ")" or previous.isalnum()
        if factor and last != "of" and (len(last) == 1 or previous in "})" or previous.isdecimal()):
            return ["times", *inner]
        return inner

    def _bar(self, before: list[str]) -> list[str]:
        """The absolute value of what stands between two bars; "given" between an event and its condition."""
        if self._depth and before:
            return ["given"]
        if "|" not in self._tokens[self._place : self._place + 24]:
            return []
        return ["the absolute value of", *self._nested("|")]

    def _nested(self, *ends: str) -> list[str]:
        if self._depth > 20:
            return []
        self._depth += 1
        said = self.words(*ends)
        self._depth -= 1
        return said

    def _next(self) -> str:
        token = self._tokens[self._place]
        self._place += 1
        return token

    def _peek(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _argument(self) -> list[str]:
        """Words of a group in braces, or of one token. Digits stay digits, so that a power can be recognised."""
        if self._place == len(self._tokens):
            return []
        token = self._next()
        if token == "{":
            if self._peek().isdecimal() and self._tokens[self._place + 1 : self._place + 2] == ["}"]:
                digits = self._next()
                self._next()
                return [digits]
            return self._group()
        return [token] if token.isdecimal() else self._word(token)

    def _group(self) -> list[str]:
        depth, self._depth = self._depth, 0
        said = self.words("}") if depth < 20 else []
        self._depth = depth
        return said

    def _word(self, token: str) -> list[str]:
        match token:
            case "{":
                return self._group()
            case "\\frac" | "\\dfrac" | "\\tfrac":
                return self._fraction()
            case "\\sqrt":
                return self._root()
            case "\\binom" | "\\tbinom" | "\\dbinom":
                return [*self._spoken(self._argument()), "choose", *self._spoken(self._argument())]
        if token in _BOUNDED:
            return self._bounded(_BOUNDED[token])
        if token in _ACCENTS:
            return [*self._spoken(self._argument()), _ACCENTS[token]]
        if token in ("\\mathbb", "\\mathbf", "\\mathrm", "\\mathcal", "\\mathit", "\\boldsymbol", "\\bm", "\\mathsf"):
            argument = self._spoken(self._argument())
            name = _SETS.get("".join(argument), "") if token == "\\mathbb" else ""
            joined = "".join(argument) if all(len(letter) == 1 for letter in argument) else " ".join(argument)
            return [name or joined]
        if token.startswith("\\begin{"):
            return self._environment(token[7:-1].rstrip("*"))
        if token.startswith(("\\end{", "\\label{", "\\tag")) or token in _SILENT:
            return []
        if token[0] == "\\" and token[-1] == "}" and "{" in token:
            return token[token.index("{") + 1 : -1].split()
        if token in _NAMES:
            return _NAMES[token].split()
        if token[0].isdecimal():
            return [number(token, self._british)]
        return [token.lstrip("\\").removeprefix("var")]

    def _bounded(self, name: str) -> list[str]:
        """A sum, an integral or a limit with what stands below and above it."""
        below: list[str] = []
        above: list[str] = []
        for _ in range(2):
            if self._peek() == "\\limits":
                self._next()
            if self._peek() == "_":
                self._next()
                below = self._spoken(self._argument())
            elif self._peek() == "^":
                self._next()
                above = self._spoken(self._argument())
        if above:
            return [name, "from", *below, "to", *above, "of"]
        if name == "the limit":
            return [name, "as", *("goes to" if word == "to" else word for word in below), "of"]
        return [name, "over", *below, "of"] if below else [name, "of"]

    def _fraction(self) -> list[str]:
        above, below = self._argument(), self._argument()
        if len(above) == len(below) == 1 and above[0].isdecimal() and below[0] in ("2", "3", "4", "5", "6", "8", "10"):
            return [fraction(int(above[0]), int(below[0]), self._british)]
        return [*self._spoken(above), "over", *self._spoken(below)]

    def _root(self) -> list[str]:
        degree = ""
        if self._peek() == "[":
            self._next()
            degree = " ".join(self._nested("]"))
        names = {"": "the square root of", "three": "the cube root of"}
        return [names.get(degree, f"the {degree} root of"), *self._spoken(self._argument())]

    def _environment(self, name: str) -> list[str]:
        rows: list[list[str]] = []
        cells: list[str] = []
        while self._place < len(self._tokens):
            cells.append(" ".join(self.words("&", "\\\\")))
            ended = self._tokens[self._place - 1]
            if ended != "&":
                if any(cells):
                    rows.append(cells)
                cells = []
            if ended.startswith("\\end{"):
                break
        if name not in _MATRICES:
            joint = " , " if name in ("cases", "array") else " "
            return [" , ".join(joint.join(filter(None, row)) for row in rows)]
        width = max(map(len, rows), default=0)
        size = f"the {cardinal(len(rows), self._british)} by {cardinal(width, self._british)} matrix"
        if len(rows) * width > _MOST_READ:
            return [size]
        return [size, *(f", {' , '.join(row)}" for row in rows)]

    def _spoken(self, words: list[str]) -> list[str]:
        return [number(word, self._british) if word.isdecimal() else word for word in words]


_ENVIRONMENTS = "|".join(_TABLE["environments"])
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
    rf"{START}(?<!\d\.)(?<![$£€])(?P<number>\d{{1,6}})(?P<letter>[xyznk])(?=$|[ +=)^²³,.−-]){END}(?P<power>\^\d|[²³])?"
)
_RAISED = re.compile(rf"{START}(?P<base>[a-zA-Z\d]{{1,4}})\^[({{](?P<exponent>[^(){{}}^]{{1,24}})[)}}]")
_GREEK = re.compile("[Α-ΡΣ-Ωα-ω]")
_EQUATION = re.compile(r"[=<>≤≥]")


def formula(text: str, start: int, end: int) -> str:
    """Formula in TeX that begins at a place of a text, with its delimiters; empty if there is none."""
    match = _MATH.match(text, start, end)
    return match[0] if match and _IS_MATH.search(match[match.lastgroup or 0]) else ""


def tex(draft: Draft) -> None:
    british = draft.british
    if draft.has("\\") or draft.sentence.count("$") > 1:
        draft.replace(_MATH, lambda match: said(match[match.lastgroup or 0], british))
    draft.replace(_RAISED, lambda match: said(_as_tex(match), british), "^")
    draft.replace(_FUNCTION, lambda match: f"{match['name']} of {match['of']}", "(")
    if _EQUATION.search(draft.sentence):
        draft.replace(_COEFFICIENT, lambda match: _coefficient(match, british))


def _as_tex(match: re.Match[str]) -> str:
    """Power with its Greek letters as TeX writes them."""
    exponent = _GREEK.sub(lambda letter: f"\\{unicodedata.name(letter[0]).split()[-1].lower()} ", match["exponent"])
    return f"{match['base']}^{{{exponent.replace('lamda', 'lambda')}}}"


def said(math: str, british: bool) -> str | None:
    """Words of a formula without its delimiters; None if it is none."""
    if not _IS_MATH.search(math):
        return None
    return " ".join(" ".join(Formula(math, british).words()).replace(" ,", ",").split())


def _coefficient(match: re.Match[str], british: bool) -> str:
    spoken = f"{number(match['number'], british)} {match['letter']}"
    return spoken if match["power"] is None else f"{spoken} {power(match['power'].lstrip('^'), british)}"
