"""Rules for telephone, card, postal and similar numbers: digit by digit, with a pause between the groups."""

from __future__ import annotations

import re

from text.normalization.draft.draft import MASK, Draft
from text.normalization.draft.words import digits

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


_EMERGENCY = re.compile(
    rf"{_START}(?P<code>9-1-1|911|999|112|988)(?:(?P<joint> or | and |/)(?P<other>\d{{3}}))?{_END}(?! (?:dollars"
    rf"|people|times|calls? (?:were|was)|\w+s\b))"
)
_URGENT = re.compile(r"\b(?:[Ee]mergenc|[Cc]all|[Dd]ial|[Tt]ext|[Pp]hone|[Rr]ing|[Hh]otline|police|ambulance)")
_FREE = r"(?:8(?:00|33|44|55|66|77|88)|900)"
_VANITY = re.compile(
    rf"{_START}(?:(?P<one>1)[- .]\(?(?P<code>{_FREE})\)?[- .]|\(?(?P<bare>0?{_FREE})\)?-)"
    r"(?=[\d-]{0,9}[A-Z]{2})(?P<word>[A-Z\d](?:-?[A-Z\d]){2,24})(?![\w-])"
)


def apply(draft: Draft) -> None:
    draft.replace_numbers(_PHONE, lambda match: _groups(match[0]))
    draft.replace_numbers(_VANITY, _vanity)
    urgent = _URGENT.search(draft.sentence) is not None
    if urgent:
        draft.replace_numbers(_EMERGENCY, _emergency)
    draft.replace_numbers(_LOCAL, _local)
    if urgent:
        draft.replace(_SHORT, lambda match: digits(match["code"]), "code")
    if "xt" in draft.sentence:
        draft.replace(_EXTENSION, lambda match: f"extension {digits(match['digits'])}")


def _vanity(match: re.Match[str]) -> str:
    code = match["code"] or match["bare"]
    said = f"{digits(code[-3])} hundred" if code.endswith("00") else digits(code)
    words = (digits(part) if part.isdecimal() else part.lower() for part in re.findall(r"\d+|[A-Z]+", match["word"]))
    return " ".join([*["one"] * bool(match["one"]), *["oh"] * (len(code) > 3), said, *words])


def _emergency(match: re.Match[str]) -> str:
    said = digits(match["code"])
    return f"{said}{match['joint'].replace('/', ' or ')}{digits(match['other'])}" if match["other"] else said


def _groups(written: str) -> str:
    groups = re.findall(r"\d+", written.replace("(0)", ""))
    return ("plus " if written[0] == "+" else "") + ", ".join(map(digits, groups))


def _local(match: re.Match[str]) -> str | None:
    first, second = int(match["first"]), int(match["second"])
    if first % 50 == 0 and second % 50 == 0:
        return None  # 500-1000 is a range
    return _groups(match[0])
