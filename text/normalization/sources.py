"""Files that people paste as they are: LaTeX's prose, whose formulas stay for `tex`, and rows of CSV."""

from __future__ import annotations

import re
import unicodedata

from text.locales.tables import table
from text.normalization.draft import Replacement
from text.normalization.layout import FILLER
from text.normalization.tex import MATH

_TABLE = table("all", "latex")
_ACCENTS, _SHOWN = _TABLE["accents"], _TABLE["shown"]
_SILENT, _ATTRIBUTED, _HEADINGS, _CERTAIN = (
    "|".join(_TABLE[name].split()) for name in ("silent", "attributed", "headings", "certain")
)
_SIGNS = "|".join(re.escape(sign) + r"(?![a-zA-Z])(?:\{\})?" * sign[-1].isalpha() for sign in _SHOWN)
_GROUP = r"\{(?>(?:[^{}]|\{(?>(?:[^{}]|\{[^{}]{0,200}\}){0,400})\}){0,1000})\}"
_LATEX = re.compile(
    rf"(?P<kept>```.{{0,4000}}?```|(?<!`)`[^`'\n]{{1,200}}`|\\[%$&#_{{}}]|{MATH.pattern})"
    rf"|(?<![^\s}}])(?<!\d )%[^\n]*+|[ ~]?\\(?:{_SILENT})\b\*?(?>(?:\[[^\]\n]{{0,200}}\]|{_GROUP}){{0,4}})"
    r"""|\\(?P<accent>[`'^"~=.](?=\{?\\?[a-zA-Z])|[vcHkru](?=\{[a-zA-Z]\}))\{?\\?(?P<letter>[a-zA-Z])\}?"""
    rf"|(?:{_SIGNS})|\\(?P<block>footnote|(?:{_HEADINGS})\*?)(?:\[[^\]\n]{{0,200}}\])?(?P<inner>{_GROUP})"
    rf"|\\(?:{_ATTRIBUTED})\b{_GROUP}|\\[a-zA-Z]++\*?(?:\[[^\]\n]{{0,80}}\]| )?|[{{}}]",
    re.DOTALL,
)
_MEANT = re.compile(rf"\\(?:{_CERTAIN})\b\*?[ \n\[{{]|\\begin\{{(?:document|itemize|enumerate|figure|quote)\}}")

_FIELD = re.compile(r'(?:^|(?<=[,;]))(?:"[^"\n]*+"|[^\s,;"][^,;"\n]*+|)(?=[,;]|$)')
_HEADING = re.compile(r'"?[^\W\d][^\d,;"]{0,30}"?')
_COLUMN = re.compile(r"\W{0,2}\d[\d.,:/ TZ+-]*+\W?|\".*\"")


def prose(text: str) -> str:
    """A text of the same length without the commands of LaTeX's prose, if it has any."""
    return _LATEX.sub(_plain, text) if "\\" in text and _MEANT.search(MATH.sub("", text)) else text


def _plain(match: re.Match[str]) -> str:
    written = match[0]
    if match["kept"]:
        return written
    following = match.string[match.end() : match.end() + 1]
    silent = " " if written[0] in " ~" and following not in " .,;:!?)\n" else ""
    said: str = _SHOWN.get(written.removesuffix("{}"), silent)
    if match["letter"]:
        said = unicodedata.normalize("NFC", match["letter"] + _ACCENTS[match["accent"]])
    if match["inner"]:
        before, after = (" (", ")") if match["block"] == "footnote" else ("\n\n", "\n")
        inner = _LATEX.sub(_plain, match["inner"][1:-1])
        said = before.ljust(len(written) - len(inner) - 1, FILLER) + inner + after
    return said.ljust(len(written), FILLER if said or following not in ("", "\n") else " ")


def rows(text: str) -> list[Replacement] | None:
    """Pieces of rows of CSV, in which a value follows its heading as in a table; None if lines have other numbers of
    fields, or neither a column of numbers nor quotes.
    """
    lines = [list(_FIELD.finditer(line)) for line in text.split("\n")] if text.count("\n") > 1 else [[]]
    names, *others = [[field[0] for field in line] for line in lines]
    if len(names) < 2 or {*map(len, others)} != {len(names)} or not all(map(_HEADING.fullmatch, names)):
        return None
    if not any(all(map(_COLUMN.fullmatch, column)) for column in zip(*others, strict=True)):
        return None
    headings = [f", {name.strip(chr(34))}: " for name in names]
    pieces: list[Replacement] = []
    start = 0
    for line in lines:
        joints = [", "] * len(names) if line is lines[0] else headings if len(names) > 2 else [": ", ": "]
        for field, joint in zip(line, ["", *joints[1:]], strict=True):
            begin, end = (start + place for place in field.span())
            quoted = field[0].startswith('"')
            pieces.append(Replacement(begin, begin, joint * bool(field[0])))
            pieces.append(Replacement.kept(text, begin + quoted, end - quoted))
        pieces.append(Replacement(end, end, "\n\n"))
        start += len(line[-1].string) + 1
    return pieces
