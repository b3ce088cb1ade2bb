"""Names of months and days, in full and by abbreviation."""

from __future__ import annotations

_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905

MONTH_NAMES = {name: name for name in _MONTHS} | {name[:3]: name for name in _MONTHS} | {"Sept": "September"}
DAY_NAMES = {name[:3]: name for name in _DAYS} | {"Tues": "Tuesday", "Weds": "Wednesday", "Thur": "Thursday"}
DAY_NAMES["Thurs"] = "Thursday"

MONTH = rf"(?:{'|'.join(sorted(MONTH_NAMES, key=len, reverse=True))})"
DAY = rf"(?:{'|'.join(sorted(DAY_NAMES, key=len, reverse=True))})"


def month_name(number: int) -> str:
    return _MONTHS[number - 1]
