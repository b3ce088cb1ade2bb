"""Rules for numbers that engines misread: -5, .5, 007, 10k, 1e6, #5, twenty digits, and for ordinals: 22nd."""

from __future__ import annotations

import re

from text.normalization.draft.draft import DASH, END, MASK, MINUS, NUMBER, NUMBER_END, NUMBER_START, START, Draft
from text.normalization.draft.words import cardinal, digits, number, ordinal

_LARGE = {"k": "thousand", "K": "thousand", "M": "million", "bn": "billion", "B": "billion", "T": "trillion"}

_NAMED_K = frozenset(("1", "2", "4", "5", "8", "10"))
"""Numbers before k that name a screen or a run (4K, 10K)."""

_SCIENTIFIC = re.compile(
    rf"{NUMBER_START}(?P<minus>{MINUS})?(?P<number>\d{{1,15}}(?:\.\d{{1,15}})?)[eE](?P<exponent>[-+−]?\d{{1,4}}){NUMBER_END}"
)
_HASH = re.compile(rf"(?<![\w&#/{MASK}])#(?P<number>\d{{1,9}}){END}")
_MAGNITUDE = re.compile(
    rf"{NUMBER_START}(?P<minus>{MINUS})?(?P<number>{NUMBER})(?:[-–](?P<last>{NUMBER}))?(?P<large>k|K|M|bn|B|T)(?P<plus>\+(?!\w))?{END}(?!-?\d)"
)
_LONG = re.compile(rf"{NUMBER_START}\d{{16,}}+{END}(?![.,]\d)")
_ZEROS = re.compile(rf"{NUMBER_START}(?P<number>0\d{{1,14}}){NUMBER_END}")
_POINT = re.compile(rf"(?<![\w.{MASK}])(?P<minus>[-−])?(?P<number>\.\d{{1,15}}){END}(?!\.\d)")
_GROUPED = re.compile(
    rf"{NUMBER_START}(?<!\d )(?P<number>\d{{1,3}}(?:( )\d{{3}})(?:\2\d{{3}}){{1,3}}(?:\.\d{{1,6}})?){NUMBER_END}(?! \d)"
)
_OTHER_GROUPS = re.compile(
    rf"{NUMBER_START}(?P<number>\d{{1,3}}(?:['’]\d{{3}}){{1,4}}|\d{{1,2}}(?:,\d{{2}}){{1,5}},\d{{3}}){NUMBER_END}"
)
_POINT_ZERO = re.compile(rf"{NUMBER_START}(?P<number>\d{{1,6}}\.(?:0{{1,3}}|\d{{1,2}}0)){NUMBER_END}")
_NEGATIVE = re.compile(rf"{NUMBER_START}{MINUS}(?P<number>{NUMBER}){NUMBER_END}")


def apply(draft: Draft) -> None:
    british = draft.british
    draft.replace_numbers(_GROUPED, lambda match: number(match["number"], british))
    draft.replace_numbers(_OTHER_GROUPS, lambda match: number(match["number"], british))
    draft.replace_numbers(_POINT_ZERO, lambda match: number(match["number"], british))
    draft.replace_numbers(_SCIENTIFIC, lambda match: _scientific(match, british))
    if draft.has("#"):
        draft.replace(_HASH, lambda match: f"number {cardinal(int(match['number']), british)}")
    draft.replace_numbers(_MAGNITUDE, lambda match: _magnitude(match, british))
    draft.replace_numbers(_LONG, lambda match: digits(match[0]))
    draft.replace_numbers(_ZEROS, lambda match: digits(match["number"]))
    draft.replace_numbers(_POINT, lambda match: ("minus " if match["minus"] else "") + number(match["number"], british))
    draft.replace_numbers(_NEGATIVE, lambda match: f"minus {number(match['number'], british)}")


def _scientific(match: re.Match[str], british: bool) -> str:
    minus = "minus " if match["minus"] else ""
    exponent = number(str(int(match["exponent"].replace("−", "-"))), british)
    return f"{minus}{number(match['number'], british)} times ten to the {exponent}"


def _magnitude(match: re.Match[str], british: bool) -> str | None:
    if match["large"] == "K" and not match["last"] and match["number"] in _NAMED_K:
        return None
    said = ("minus " if match["minus"] else "") + number(match["number"], british)
    if match["last"]:
        said += f" to {number(match['last'], british)}"
    return f"{said} {_LARGE[match['large']]}" + (" plus" if match["plus"] else "")


_ENDING = "(?:st|nd|rd|th|ST|ND|RD|TH|ˢᵗ|ⁿᵈ|ʳᵈ|ᵗʰ)"
_ORDINAL = re.compile(
    rf"{START}(?<!\d[.,])(?P<number>\d{{1,3}}(?:,\d{{3}}){{1,4}}|\d{{1,15}}){_ENDING}"
    rf"(?:{DASH}(?P<last>\d{{1,6}}){_ENDING})?{END}"
)


def apply_ordinals(draft: Draft) -> None:
    draft.replace_numbers(_ORDINAL, lambda match: _said_ordinal(match, draft.british))


def _said_ordinal(match: re.Match[str], british: bool) -> str:
    said = ordinal(int(match["number"].replace(",", "")), british)
    return f"{said} to {ordinal(int(match['last']), british)}" if match["last"] else said
