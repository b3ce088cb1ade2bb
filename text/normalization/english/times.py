"""Rules for times of day: 10:30, 10:30pm, 14:05, 7 a.m., 9-5pm, 00:00."""

from __future__ import annotations

import re

from text.normalization.draft import DASH, END, NUMBER_END, NUMBER_START, Draft
from text.normalization.number_words import cardinal, two_digits

_HALF = r"(?: ?(?P<half>[ap])\.?m(?![\w'’])\.?| ?(?P<capital>[AP])\.?M(?![\w'’])\.?)"
_CLOCK = r"(?P<hours>[01]?\d|2[0-4])(?::(?P<minutes>[0-5]\d)(?::(?P<seconds>[0-5]\d))?)"

_RANGE = re.compile(
    rf"{NUMBER_START}(?P<first>\d{{1,2}}(?:[:.][0-5]\d)?)(?P<first_half> ?[apAP]\.?[mM]\.?)?(?:{DASH}| - )"
    rf"(?P<last>\d{{1,2}}(?:[:.][0-5]\d)?)(?P<last_half> ?[apAP]\.?[mM](?:\.|{END}))?{END}(?![.,:/-]\d|[$€£%])"
)
_FULL = re.compile(rf"{NUMBER_START}{_CLOCK}(?:{_HALF}|{NUMBER_END})")
_HOUR = re.compile(rf"{NUMBER_START}(?P<hours>1[0-2]|0?\d)(?:\.(?P<minutes>[0-5]\d))?{_HALF}")
_MILITARY = re.compile(rf"{NUMBER_START}(?P<hours>[01]\d|2[0-3])(?P<minutes>[0-5]\d)(?= ?(?:hours|hrs)\b)")


def times(draft: Draft) -> None:
    british = draft.british
    draft.replace_numbers(_MILITARY, lambda match: _military(match, british))
    draft.replace_numbers(_RANGE, lambda match: _range(match, british))
    draft.replace_numbers(_FULL, lambda match: _time(match, british))
    draft.replace_numbers(_HOUR, lambda match: _time(match, british))


def clock(hours: int, minutes: int, british: bool, half: str = "") -> str:
    """Time of day in words.

    Args:
        half: "a" or "p" for a.m. or p.m.; "" if the text has neither.
    """
    if not half and not minutes and hours in (0, 24):
        return "midnight"
    hour = cardinal(hours, british)
    if minutes:
        said = f"{hour} {two_digits(minutes, british)}"
    elif half:
        said = hour
    else:
        said = f"{hour} o'clock" if hours <= 12 else f"{hour} hundred"
    return f"{said} {half}.m." if half else said


def _military(match: re.Match[str], british: bool) -> str | None:
    """Words for four digits before "hours"; None without a leading zero, since "1200 hours" may be a duration."""
    if match["hours"][0] != "0":
        return None
    hour = f"oh {cardinal(int(match['hours']), british)}" if int(match["hours"]) else "zero zero"
    return f"{hour} {two_digits(int(match['minutes']), british) if int(match['minutes']) else 'hundred'}"


def _time(match: re.Match[str], british: bool) -> str:
    half = (match["half"] or match["capital"] or "").lower()
    said = clock(int(match["hours"]), int(match["minutes"] or 0), british, half)
    seconds = int(match.groupdict().get("seconds") or 0)
    if seconds:
        unit = "second" if seconds == 1 else "seconds"
        return f"{said} and {cardinal(seconds, british)} {unit}"
    return said


def _range(match: re.Match[str], british: bool) -> str | None:
    halves = match["first_half"], match["last_half"]
    if not any(halves) and not (":" in match["first"] and ":" in match["last"]):
        return None
    said = []
    for written, half in zip((match["first"], match["last"]), halves, strict=True):
        hours, _, minutes = written.replace(".", ":").partition(":")
        if int(hours) > 24:
            return None
        plain = any(halves) and not half and not minutes
        half_letter = half.strip()[0].lower() if half else ""
        said.append(
            cardinal(int(hours), british) if plain else clock(int(hours), int(minutes or 0), british, half_letter)
        )
    return " to ".join(said)


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
_LENGTH = re.compile(
    r"\b(?P<before>[Ll]ast(?:s|ed|ing)?|[Tt]ook|[Tt]akes?|[Rr]uns?(?: for)?|[Rr]an(?: for)?"
    r"|[Dd]uration:?(?: of)?|[Ll]ength:?(?: of)?"
    r"|[Rr]un ?time:?(?: of)?|[Ee]lapsed:?|(?:[Tt]ime|[Rr]ecord) of|(?:race|marathon|mile|lap|run|course) in"
    r"|[Ff]inished in)"
    rf" {NUMBER_START}(?P<clock>(?:(?P<hours>\d{{1,3}}):)?(?P<minutes>\d{{1,2}}):(?P<seconds>[0-5]\d)"
    rf"){NUMBER_END}(?! ?[ap]\.?m)"
)


def durations(draft: Draft) -> None:
    british = draft.british
    if _COUNTED.search(draft.sentence):
        draft.replace(_COMPOUND, lambda match: _compound(match, british), "parts")
    if draft.has(":"):
        draft.replace(_LENGTH, lambda match: _clock(match, british), "clock")


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
