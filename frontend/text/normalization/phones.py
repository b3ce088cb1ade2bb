"""Telephone, card, postal and similar numbers: digit by digit, with a pause between the groups."""

from __future__ import annotations

import re

from frontend.text.normalization.draft import Draft
from frontend.text.normalization.patterns import MASK
from frontend.text.normalization.words import digits

_START = rf"(?<![\w{MASK}$£€])(?<!\d[.,:/ -])(?<![^\W\d]-)"
_END = rf"(?![\w{MASK}%°])(?![.,:/-]\d)"

_PHONE = re.compile(
    rf"{_START}(?:"
    r"\+\d{1,3}(?:[ .-]?\(0\))?(?:[ .-]?\(\d{1,4}\))?(?:[ .-]?\d{2,5}){2,5}"
    r"|(?:1[ .-])?\(\d{2,5}\) ?\d{3,4}[ .-]?\d{3,4}"
    r"|(?:1-)?\d{3}([.-])\d{3}\1\d{4}"
    r"|0\d{2,4} \d{3,4} ?\d{3,4}"
    r"|0\d{3,4} \d{6}"
    r"|\d{3}-\d{2}-\d{4}"
    r"|\d{4}(?:([ -])\d{4}){1}(?:\2\d{4}){2}"
    r"|\d{5}-\d{4}"
    rf"){_END}"
)
_LOCAL = re.compile(rf"{_START}(?P<first>\d{{3}})-(?P<second>\d{{4}}){_END}")
_SHORT = re.compile(rf"\b(?:[Cc]all|[Dd]ial|[Pp]hone|[Rr]ing)(?:ing|ed)? (?P<code>\d{{3}}){_END}")
_EXTENSION = re.compile(rf"\b[Ee]xt\.? ?(?P<digits>\d{{1,6}}){_END}")


def apply(draft: Draft) -> None:
    draft.replace(_PHONE, lambda match: _groups(match[0]))
    draft.replace(_LOCAL, _local)
    draft.replace(_SHORT, lambda match: digits(match["code"]), "code")
    draft.replace(_EXTENSION, lambda match: f"extension {digits(match['digits'])}")


def _groups(written: str) -> str:
    groups = re.findall(r"\d+", written.replace("(0)", ""))
    return ("plus " if written[0] == "+" else "") + ", ".join(map(digits, groups))


def _local(match: re.Match[str]) -> str | None:
    first, second = int(match["first"]), int(match["second"])
    if first % 50 == 0 and second % 50 == 0:
        return None  # 500-1000 is a range
    return _groups(match[0])
