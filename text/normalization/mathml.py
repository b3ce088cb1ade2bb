"""MathML in a text as TeX of the same length, which the rule for TeX reads; in other languages its characters stay."""

from __future__ import annotations

import re
from html import unescape
from xml.etree import ElementTree

_MATH = re.compile(r"<math\b[^<>]{0,300}>(?:[^<]|<(?!/?math\b)){1,4000}</math>")
_TAG = re.compile(r"<[^<>]{0,300}>")
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)#?\w{2,32};")
_TEX = {
    "frac": r"\frac{{{}}}{{{}}}",
    "sup": "{}^{{{}}}",
    "sub": "{}_{{{}}}",
    "subsup": "{}_{{{}}}^{{{}}}",
    "under": "{}_{{{}}}",
    "over": "{}^{{{}}}",
    "underover": "{}_{{{}}}^{{{}}}",
    "root": r"\sqrt[{1}]{{{0}}}",
    "sqrt": r"\sqrt{{{}}}",
}
_SIGNS = {"×": r"\times ", "⋅": r"\cdot ", "∑": r"\sum", "∫": r"\int", "∏": r"\prod", "≤": r"\le ", "≥": r"\ge "} | {
    "→": r"\to ",
    "∞": r"\infty ",
    "π": r"\pi ",
    "α": r"\alpha ",
    "β": r"\beta ",
    "θ": r"\theta ",
    "λ": r"\lambda ",
    "−": "-",
    "\u2062": "",
    "\u2061": "",
}
_TAKES_ONE = ("sqrt",)


def as_tex(text: str, filler: str, with_tex: bool) -> str:
    """A text of the same length, in which each formula is TeX between dollar signs and `filler`."""
    return _MATH.sub(lambda match: _fitted(match[0], filler, with_tex), text)


def _fitted(math: str, filler: str, with_tex: bool) -> str:
    tex = _tex_of(math) if with_tex else ""
    if not tex or len(tex) + 2 > len(math):
        return _TAG.sub(lambda tag: filler * len(tag[0]), math)
    return f"${tex}$".ljust(len(math), filler)


def _tex_of(math: str) -> str:
    """TeX of a formula; "" if it is no XML."""
    try:
        root = ElementTree.fromstring(_ENTITY.sub(lambda entity: unescape(entity[0]), math))
    except ElementTree.ParseError:
        return ""
    for element in root.iter():
        if _name(element) == "annotation" and "tex" in element.get("encoding", ""):
            return " ".join((element.text or "").split())
    return " ".join(_said(root).split())


def _said(element: ElementTree.Element) -> str:
    parts = [_said(child) for child in element if _name(child) not in ("annotation", "annotation-xml")]
    name = _name(element).removeprefix("m")
    if name in _TAKES_ONE:
        parts = ["".join(parts)]
    form = _TEX.get(name)
    if form and len(parts) == max(form.count("{}"), 1 + ("{1}" in form)):
        return form.format(*parts)
    if name == "fenced":
        return f"({','.join(parts)})"
    text = "".join(_SIGNS.get(sign, sign) for sign in (element.text or "").strip())
    return text + "".join(parts)


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]
