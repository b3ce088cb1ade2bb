"""Rules for durations: 3h 20m, 2h30m, 1:23:45 after "lasted" and similar words."""

from __future__ import annotations

import re

from text.normalization.draft.draft import END, NUMBER_END, NUMBER_START, Draft
from text.normalization.draft.words import cardinal

_UNITS = {"d": "day", "h": "hour", "hr": "hour", "hrs": "hour", "m": "minute", "min": "minute", "mins": "minute"} | {
    "s": "second",
    "sec": "second",
    "secs": "second",
}
_D, _H, _M, _S = r"(?:d)", r"(?:hrs?|h)", r"(?:mins?|m)", r"(?:secs?|s)"
_COMPOUND = re.compile(
    rf"(?P<a>\b[Aa]n? )?{NUMBER_START}(?P<parts>\d{{1,4}} ?(?:{_D} ?\d{{1,2}} ?{_H}(?: ?\d{{1,2}} ?{_M})?"
    rf"|{_H} ?\d{{1,2}} ?{_M}(?: ?\d{{1,2}} ?{_S})?|{_M} ?\d{{1,2}} ?{_S})){END}(?P<thing>(?= [a-z]{{3,}}))?"
)
_COUNTED = re.compile(r"\d ?[dhm]")
_PART = re.compile(r"(\d{1,4}) ?([a-z]+)")
_CLOCK = re.compile(
    r"\b(?P<before>[Ll]ast(?:s|ed|ing)?|[Tt]ook|[Tt]akes?|[Rr]uns?(?: for)?|[Rr]an(?: for)?"
    r"|[Dd]uration:?(?: of)?|[Ll]ength:?(?: of)?"
    r"|[Rr]un ?time:?(?: of)?|[Ee]lapsed:?|(?:[Tt]ime|[Rr]ecord) of|(?:race|marathon|mile|lap|run|course) in"
    r"|[Ff]inished in)"
    rf" {NUMBER_START}(?P<clock>(?:(?P<hours>\d{{1,3}}):)?(?P<minutes>\d{{1,2}}):(?P<seconds>[0-5]\d)"
    rf"){NUMBER_END}(?! ?[ap]\.?m)"
)


def apply(draft: Draft) -> None:
    british = draft.british
    if _COUNTED.search(draft.sentence):
        draft.replace(_COMPOUND, lambda match: _compound(match, british), "parts")
    if draft.has(":"):
        draft.replace(_CLOCK, lambda match: _clock(match, british), "clock")


def _compound(match: re.Match[str], british: bool) -> str:
    parts = [(int(count), _UNITS[unit]) for count, unit in _PART.findall(match["parts"])]
    if match["a"] and match["thing"] is not None:
        return " ".join(f"{cardinal(count, british)} {unit}" for count, unit in parts)
    return _listed(parts, british)


def _clock(match: re.Match[str], british: bool) -> str:
    parts = [(int(match["hours"] or 0), "hour"), (int(match["minutes"]), "minute"), (int(match["seconds"]), "second")]
    return _listed([part for part in parts if part[0]] or parts[-1:], british)


def _listed(parts: list[tuple[int, str]], british: bool) -> str:
    said = [f"{cardinal(count, british)} {unit}{'' if count == 1 else 's'}" for count, unit in parts]
    return " and ".join([" ".join(said[:-1]), said[-1]]) if len(said) > 1 else said[0]
