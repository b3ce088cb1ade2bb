"""Rules for chemical formulas and ions: H2O, C₆H₁₂O₆, Ca²⁺, NaCl. Letters are said one by one, as chemists do."""

from __future__ import annotations

import re

from text.normalization.draft.draft import MASK, START, Draft
from text.normalization.draft.words import cardinal

_ELEMENTS = (
    "Ac|Ag|Al|Am|Ar|As|At|Au|Ba|Be|Bi|Br|Ca|Cd|Ce|Cl|Co|Cr|Cs|Cu|Fe|Ga|Ge|He|Hg|In|Ir|Kr|La|Li|Mg|Mn|Mo|Na|Nb|Ne|Ni|"
    "Os|Pb|Pd|Pt|Pu|Ra|Rb|Rn|Sb|Sc|Se|Si|Sn|Sr|Ta|Ti|Tl|Xe|Zn|Zr|B|C|F|H|I|K|N|O|P|S|U|V|W|Y"
)
_PART = re.compile(rf"(?P<element>{_ELEMENTS})(?P<count>\d+|[₀-₉]+)?|(?P<sign>[()])")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "01234567890123456789")
_ION = r"(?P<charge>[⁰¹²³⁴⁵⁶⁷⁸⁹]?[⁺⁻]|[+](?![\w+]))?"
_FORMULA = re.compile(
    rf"{START}(?P<formula>(?:\(?(?:{_ELEMENTS})(?:\d{{1,3}}|[₀-₉]{{1,3}})?\)?[₀-₉]?){{1,12}}){_ION}(?![\w{MASK}/])"
)
_MEANT = re.compile(r"H(?:[2-9]|1\d)|O[2-9]|[NFI]2$|Cl[2-4]|Br2|[₀-₉]")
_NOT_MEANT = re.compile(r"[A-Z]1(?!\d)|\d\d\d")
_WITHOUT_NUMBERS = frozenset(
    ("NaCl", "KCl", "HCl", "NaOH", "KOH", "HBr", "AgCl", "CaO", "MgO", "ZnO", "NaF", "HCN", "KBr")
)
_SINGLE = frozenset(("O2", "O3", "N2", "H2", "F2", "Cl2", "Br2", "I2"))


def apply(draft: Draft) -> None:
    draft.replace(_FORMULA, lambda match: _said(match, draft.british))


def _said(match: re.Match[str], british: bool) -> str | None:
    written, charge = match["formula"], match["charge"]
    raised = charge is not None and charge != "+"
    elements = [part["element"] for part in _PART.finditer(written) if part["element"]]
    if not (raised or written in _WITHOUT_NUMBERS or written in _SINGLE):
        if not _MEANT.search(written) or _NOT_MEANT.search(written) or len(elements) < 2:
            return None
        if len(set(elements)) < 2 and not re.search("[₀-₉]", written):
            return None
    said: list[str] = []
    letters = ""
    for part in _PART.finditer(written):
        if part["sign"]:
            continue
        letters += part["element"].upper()
        if part["count"]:
            said += [".".join(letters), cardinal(int(part["count"].translate(_SUBSCRIPTS)), british)]
            letters = ""
    if letters:
        said.append(".".join(letters))
    if charge:
        if charge[0] not in "+⁺⁻":
            said.append(cardinal(int(charge[0].translate(_SUBSCRIPTS)), british))
        said.append("minus" if charge[-1] == "⁻" else "plus")
    return " ".join(said)
