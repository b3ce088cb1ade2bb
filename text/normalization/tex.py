"""TeX between dollar signs or after backslashes, and in English functions in formulas: $E = mc^2$, \\(n-1\\),
\\[\\frac{1}{2}\\], f(x) = 2x + 1. A language's words are rows of `text/locales/<language>/tex.toml`; numbers stay
digits outside English, for the language's own rules.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property

from text.locales.tables import table
from text.normalization.draft import END, START, Draft
from text.normalization.number_words import fraction, number, ordinal
from text.words.language import EAST_ASIAN

_TOKEN = re.compile(
    r"\\(?:begin|end)\{[a-zA-Z]+\*?\}"
    r"|\\(?:text|textrm|operatorname|textbf|textit|mbox|label|tag)\*?\{[^{}]*\}"
    r"|\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|[a-zA-Z]|[^\s\w]|_",
    re.DOTALL,
)
_TABLE: dict[str, dict[str, str]] = table("en", "tex")
_MARKS = {command: said for command, said in _TABLE["names"].items() if said in ("", ",")}
"""Commands of layout, which are the same in all languages."""
_VULGAR = {unicodedata.normalize("NFKC", sign).replace("⁄", "/"): sign for sign in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"}
_MATRICES = frozenset(_TABLE["environments"]) & {"matrix", "pmatrix", "bmatrix", "vmatrix", "Bmatrix", "smallmatrix"}
_FUNCTIONS = frozenset("fghFGPEOpTuQRLV")
_SILENT = frozenset("{}()[]&|.")
_MOST_READ = 16
"""Most entries of a matrix that are read; a larger one is only mentioned."""


def power(exponent: str, british: bool) -> str:
    nth = ordinal(int(exponent), british) if exponent.isdecimal() else exponent
    return _TABLE["powers"].get(exponent) or f"to the {nth}"


class Formula:
    def __init__(self, math: str, language: str) -> None:
        """The first part of the language's code has a table."""
        self._tokens: list[str] = _TOKEN.findall(math)
        self._place = 0
        self._british, self._english = language == "en-gb", language.startswith("en")
        self._table: dict[str, dict[str, str]] = table(language.partition("-")[0], "tex")
        self._names, self._phrases = self._table["names"], self._table["phrases"]
        self._depth = 0

    @cached_property
    def _of(self) -> list[str]:
        return self._phrases["of"].split()

    def _number(self, digits: str) -> str:
        return number(digits, self._british) if self._english else digits

    def _power(self, exponent: str) -> str:
        if self._english:
            return power(exponent, self._british)
        return self._table["powers"].get(exponent) or self._phrases["power"].format(exponent)

    def _phrase(self, name: str, *words: list[str]) -> str:
        return self._phrases[name].format(*(" ".join(self._spoken(each)) for each in words))

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
            return argument if argument == [self._names["\\circ"]] else [self._power(" ".join(argument))]
        if token == "_":
            below = "base" if before[-1:] == [self._names["\\log"]] else "sub"
            return [self._phrases[below], *self._spoken(self._argument())]
        if token == "(" or (token == "[" and before[-1:] and before[-1] in _FUNCTIONS):
            return self._parenthesis(before, ")" if token == "(" else "]")
        if token == "|":
            return self._bar(before)
        if token in ("\\mid", ":") and self._english:
            inside = "such that" if "\\{" in self._tokens[: self._place] else "given" if self._depth else "divides"
            return [inside if token != ":" or inside == "such that" else token if "\\to" in self._tokens else "to"]
        if token in ("\\to", "\\rightarrow") and self._peek() in ("0", "\\infty"):
            return [self._phrases["goes to"]]
        if token in ("\\|", "\\Vert"):
            return [self._phrase("norm", self._nested(token))]
        if token in ("\\left", "\\right", "\\big", "\\Big", "\\bigg", "\\Bigg", "\\middle"):
            return []
        return self._word(token)

    def _parenthesis(self, before: list[str], end: str) -> list[str]:
        """A function's argument, or a factor."""
        last = before[-1] if before else ""
        previous = self._tokens[self._place - 2] if self._place > 1 else ""
        inner = self._nested(end)
        named = previous.startswith(("\\text", "\\operatorname"))
        if last in _FUNCTIONS or last == self._names["'"] or named:
            return [*self._of, *inner]
        factor = previous == "}" or previous == ")" or previous.isalnum()
        if (
            factor
            and last.split()[-1:] != self._of[-1:]
            and (len(last) == 1 or previous in "})" or previous.isdecimal())
        ):
            return [self._names["\\times"], *inner]
        return inner

    def _bar(self, before: list[str]) -> list[str]:
        """The absolute value of what stands between two bars; "given" between an event and its condition."""
        if (self._depth or "\\{" in self._tokens[: self._place]) and before and self._tokens.count("|") == 1:
            return self._read("\\mid", before) if self._english else [self._names["\\mid"]]
        if "|" not in self._tokens[self._place : self._place + 24]:
            return []
        return [self._phrase("absolute", self._nested("|"))]

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
                return [self._phrase("choose", self._argument(), self._argument())]
        if token in self._table["bounded"]:
            return self._bounded(token)
        if token in self._table["accents"]:
            return [*self._spoken(self._argument()), self._table["accents"][token]]
        if token in ("\\mathbb", "\\mathbf", "\\mathrm", "\\mathcal", "\\mathit", "\\boldsymbol", "\\bm", "\\mathsf"):
            argument = self._spoken(self._argument())
            alone = token == "\\mathbb" and self._peek() not in ("^", "_")
            name = self._table["sets"].get("".join(argument), "") if alone else ""
            joined = "".join(argument) if all(len(letter) == 1 for letter in argument) else " ".join(argument)
            return [name or joined]
        if token.startswith("\\begin{"):
            return self._environment(token[7:-1].rstrip("*"))
        if token.startswith(("\\end{", "\\label{", "\\tag")) or token in _SILENT:
            return []
        if token[0] == "\\" and token[-1] == "}" and "{" in token:
            return token[token.index("{") + 1 : -1].split()
        if (named := self._names.get(token, _MARKS.get(token))) is not None:
            return [named] if named else []
        if token[0].isdecimal():
            return [self._number(token)]
        return [token.lstrip("\\").removeprefix("var")]

    def _bounded(self, token: str) -> list[str]:
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
        name = [self._table["bounded"][token]]
        if above:
            return [self._phrase("from to", name, below, above)]
        if token == "\\lim":
            goes = [self._phrases["goes to"] if word == self._names["\\to"] else word for word in below]
            return [self._phrase("limit", name, goes)]
        if below:
            return [self._phrase("over all", name, below)]
        following = self._peek() and self._peek() not in ("}", ")", "&", ",", "=")
        return [self._phrase("all of", name) if following else self._table["alone"].get(token, name[0])]

    def _fraction(self) -> list[str]:
        above, below = self._argument(), self._argument()
        if len(above) == len(below) == 1 and above[0].isdecimal() and below[0] in ("2", "3", "4", "5", "6", "8", "10"):
            one, two = int(above[0]), int(below[0])
            if self._english:
                return [fraction(one, two, self._british)]
            if f"{one}/{two}" in _VULGAR:
                return [_VULGAR[f"{one}/{two}"]]
        return [self._phrase("over", above, below)]

    def _root(self) -> list[str]:
        degree = ""
        if self._peek() == "[":
            self._next()
            degree = " ".join(self._nested("]"))
        name = {"": "square root", "three": "cube root", "3": "cube root"}.get(degree, "root")
        return [self._phrases[name].format(" ".join(self._spoken(self._argument())), degree)]

    def _environment(self, name: str) -> list[str]:
        rows: list[list[str]] = []
        cells: list[str] = []
        in_words = False
        """True if the text says when a case holds: \\text{otherwise}."""
        while self._place < len(self._tokens):
            in_words |= bool(cells) and self._peek().startswith(("\\text", "\\mbox"))
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
            if name == "cases" and not in_words:
                joint = f" {self._phrases['if']} "
            return [" , ".join(joint.join(filter(None, row)) for row in rows)]
        width = max(map(len, rows), default=0)
        size = self._phrase("matrix", [str(len(rows))], [str(width)])
        if len(rows) * width > _MOST_READ:
            return [size]
        return [size, *(f", {' , '.join(row)}" for row in rows)]

    def _spoken(self, words: list[str]) -> list[str]:
        return [self._number(word) if word.isdecimal() else word for word in words]


_ENVIRONMENTS = "|".join(_TABLE["environments"])
MATH = re.compile(
    r"\$(?P<inline>(?![\s$])[^$\n]{0,199}(?<![\s\\]))\$(?![\d$])"
    r"|\$\$(?P<shown>[^$]{1,400})\$\$"
    r"|\\\((?P<round>(?>(?:[^\\\n]|\\(?!\))[^\n]){1,400}))\\\)"
    r"|\\\[(?P<square>(?>(?:[^\\]|\\(?!\])[^\n]){1,400}))\\\]"
    rf"|(?P<bare>\\begin\{{(?P<environment>{_ENVIRONMENTS})\*?\}}[^$]{{1,600}}?\\end\{{(?P=environment)\*?\}})"
)
_TERM = r"(?:[a-zA-Z](?![a-zA-Z])|(?>\d++(?:\.\d++)?))"
_IS_MATH = re.compile(rf"[=^_\\<>+]|\{{,\}}|^\s*+[(\[|]?{_TERM}(?>(?:[ ,!'’()|*/−-]{{0,4}}{_TERM})*)[)\]|!'’]*+\s*+$")
_IN_COMMAND = re.compile(r"\\[a-zA-Z]+\{[^{}]{0,80}\}")
_SHELL = re.compile(r"[\"“”#;@`]|(?<![\\a-zA-Z{])(?:[a-z]{4}|[A-Z]{5}|[a-zA-Z]{2,}_[a-zA-Z]{2})|[(\[]$")
"""Sign or name that a formula has outside commands only where the dollars are a program's: "$HOME/bin:$PATH"."""
_ARGUMENT = r"[-−]?(?:[a-z]|\d{1,3}(?:\.\d{1,3})?)(?:, ?[a-z0-9])?|[fgh]\([a-z]\)"
_FUNCTION = re.compile(rf"{START}(?P<name>[fghFGP])\((?P<of>{_ARGUMENT})\)(?= ?[=<>≤≥≈+−-]|,|\.| (?:is|at|and)\b)")
_NAMED = re.compile(
    rf"{START}(?<!\.)(?P<name>{'|'.join(_TABLE['functions'])})(?:(?=\((?!\)))|(?<=[₂₀]) ?(?=[\d(a-zα-ω]))"
)
_BOUNDS = re.compile(r"(∑|∫|∏)([₀-₉ₐ-ₜᵢ-ᵥⱼ₋₌₊]{1,8})\^?([⁻⁺⁰¹²³⁴-⁹ⁿᵏ]{1,4}|[∞nNT](?!\w))? ?")
_COEFFICIENT = re.compile(
    rf"{START}(?<!\d\.)(?<![$£€])(?P<number>\d{{1,6}})(?P<letter>[xyznk])(?=$|[ +=)^²³,.−-]){END}(?P<power>\^\d|[²³])?"
)
_RAISED = re.compile(rf"{START}(?P<base>[a-zA-Z\d]{{1,4}})\^[({{](?P<exponent>[^(){{}}^]{{1,24}})[)}}]")
_SPACE = re.compile(r"(?<![a-zA-Z\d]) | (?![a-zA-Z\d])")
_GREEK = re.compile("[Α-ΡΣ-Ωα-ω]")
_EQUATION = re.compile(r"[=<>≤≥]")


def formula(text: str, start: int, end: int) -> str:
    """Formula in TeX that begins at a place of a text, with its delimiters; empty if there is none."""
    match = MATH.match(text, start, end)
    return match[0] if match and _is_math(match) else ""


def has_formula(text: str) -> bool:
    return "$" in text and any(map(_is_math, MATH.finditer(text)))


def tex(draft: Draft) -> None:
    british = draft.british
    language = "en-gb" if british else "en-us"
    if draft.has("\\") or draft.sentence.count("$") > 1:
        draft.replace(MATH, lambda match: said(match, language))
    draft.replace(_RAISED, lambda match: words(_as_tex(match), language), "^")
    draft.replace(_FUNCTION, _of_argument, "(")
    draft.replace(_NAMED, lambda match: f"{_TABLE['functions'][match['name']]} ", "(₂₀")
    draft.replace(_BOUNDS, lambda match: words(_bounds(*match.groups()), language) + " ", "∫∑∏")
    if _EQUATION.search(draft.sentence):
        draft.replace(_COEFFICIENT, lambda match: _coefficient(match, british))


def _of_argument(match: re.Match[str]) -> str:
    argument = match["of"].replace("(", " of ").strip(")")
    return f"{match['name']} of {re.sub('[-−]', 'minus ', argument)}"


def _bounds(sign: str, below: str, above: str | None) -> str:
    """TeX of a sum's or an integral's small signs."""
    ends = [unicodedata.normalize("NFKC", end).replace("∞", "\\infty ") for end in (below, above or "")]
    return f"{_TABLE['mathml_signs'][sign]}_{{{ends[0]}}}" + f"^{{{ends[1]}}}" * bool(ends[1])


_GROUPED = re.compile(r"(?<=\d)\{,\}(?=\d{3})")
"""Thousands as TeX writes them: 1{,}200."""


def _as_tex(match: re.Match[str]) -> str:
    """Power with its Greek letters as TeX writes them."""
    exponent = _GREEK.sub(lambda letter: f"\\{unicodedata.name(letter[0]).split()[-1].lower()} ", match["exponent"])
    return f"{match['base']}^{{{exponent.replace('lamda', 'lambda')}}}"


_OPENING = re.compile(
    rf"(?i)(?:(?:^|\W)(?:(?P<let>let)|{_TABLE['openings']['words']})(?: (?!which|that|whom)[a-z]{{3,12}})?"
    rf"(?: (?:[a-zα-ω]\w?|{_TABLE['openings']['letters']})(?: sub \w{{1,5}})?,?(?: and)?){{1,4}}|[∀∃] ?\w) ?$"
)
"""Text up to a term whose relation is no clause: for all n, let x, y."""
_RELATED = re.compile(r"\bis (?=[a-z])|\b(?:does not equal|equals)\b")


def related(text: str, end: int, name: str) -> str:
    """Name of a relation after a text's part: greater than zero, rather than a clause, after "for all n"."""
    opening = _OPENING.search(text, max(0, end - 60), end)
    for written, phrase in _TABLE["let" if opening["let"] else "phrased"].items() if opening else ():
        if name.startswith(written):
            name = phrase + name.removeprefix(written)
    return name


def said(match: re.Match[str], language: str) -> str | None:
    """Words of a formula between its delimiters; None if it is none."""
    if not _is_math(match):
        return None
    before = match.string[max(match.start() - 60, 0) : match.start()].rstrip()
    text = f"{before} {(spoken := words(match[match.lastgroup or 0], language))}"
    return _RELATED.sub(lambda found: related(text, len(before) + 1 + found.start(), found[0]), spoken)


def said_between(formula: str, language: str) -> str:
    """Words of a formula with its delimiters, as `formula` finds it."""
    match = MATH.match(formula)
    return (match and said(match, language)) or formula


def words(math: str, language: str) -> str:
    found = " ".join(" ".join(Formula(_GROUPED.sub("", math), language).words()).replace(" ,", ",").split())
    return _SPACE.sub("", found) if language in EAST_ASIAN else found


def _is_math(match: re.Match[str]) -> bool:
    math = match[match.lastgroup or 0]
    dollars = match.lastgroup in ("inline", "shown")
    if dollars and (math.count("{") != math.count("}") or _SHELL.search(_IN_COMMAND.sub("", math))):
        return False
    return _IS_MATH.search(math) is not None


def _coefficient(match: re.Match[str], british: bool) -> str:
    spoken = f"{number(match['number'], british)} {match['letter']}"
    return spoken if match["power"] is None else f"{spoken} {power(match['power'].lstrip('^'), british)}"
