"""Telephone numbers, by their form or by a word before them."""

from __future__ import annotations

import re

from text.normalization.draft import MASK, Draft
from text.normalization.western.words import Locale

_RUN = re.compile(
    rf"(?<![\w{MASK}.,/+$€£₹-])(?:\+|\((?=0?\d{{1,4}}\))|\d)[\d ().\-/]{{4,22}}\d(?![\w{MASK}]|[.,/-]\d|[%°€$])"
)
_CUE = 24
"""Characters before a number among which a word makes it a telephone number."""


class PhoneParser:
    def __init__(self, locale: Locale) -> None:
        self._locale = locale
        cues = "|".join(map(re.escape, locale.cues.get("phones", "$^").split()))
        self._cue = re.compile(rf"(?:^|[^\w])(?:{cues})(?!\w{{6}})[^\d]{{0,{_CUE}}}$", re.IGNORECASE)
        self._forms = re.compile("|".join(f"(?:{form})" for form in locale.cues.get("phone_forms", "$^").split()))

    def rewrite(self, draft: Draft) -> None:
        last = -100

        def said(match: re.Match[str]) -> str | None:
            nonlocal last
            written = match[0]
            before = draft.sentence[max(0, match.start() - 40) : match.start()]
            digits = sum(map(str.isdecimal, written))
            cued = self._cue.search(before) is not None or (last == 1 and len(before.strip()) == 1)
            shaped = self._forms.fullmatch(re.sub(r"[ .\-/]+", "-", written)) is not None
            shaped |= written[0] == "+" and digits >= 8
            if not (7 <= digits <= 15 and (shaped or cued)) or written.count("(") != written.count(")"):
                return None
            return self._said(written)

        draft.replace(_RUN, said)

    def _said(self, written: str) -> str:
        groups = re.findall(r"\d+", written)
        if written[0] == "+" and len(groups[0]) > 4:
            groups[:1] = [groups[0][:2], groups[0][2:]]
        sizes = self._locale.cues.get("phone_groups", "")
        if sizes:
            groups = [part for group in groups for part in _cut(group, sizes)]
        said = ", ".join(map(self._group, groups))
        return f"{self._locale.signs.get('plus', self._locale.signs['+'])} {said}" if written[0] == "+" else said

    def _group(self, digits: str) -> str:
        if len(digits) == 2 and digits[0] != "0" and "pairs" in self._locale.cues.get("phone_style", ""):
            return self._locale.cardinal(int(digits))
        return self._locale.digits(digits)


def _cut(group: str, sizes: str) -> list[str]:
    """A group of a known length in parts: 9:333 cuts nine digits in threes."""
    for rule in sizes.split():
        length, _, parts = rule.partition(":")
        if len(group) == int(length):
            cut, start = [], 0
            for size in map(int, parts):
                cut.append(group[start : start + size])
                start += size
            return cut
    return [group]
