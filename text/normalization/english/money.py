"""Rules for amounts of money: $1,250.75, $5k, £3m, €2.5bn, 50c, US$5, 20 EUR, $5-10."""

from __future__ import annotations

import re
from typing import NamedTuple

from text.locales.tables import table
from text.normalization.draft import DASH, END, MASK, MINUS, NUMBER, NUMBER_END, NUMBER_START, Draft
from text.normalization.number_words import cardinal, is_one, number, ungrouped


class _Currency(NamedTuple):
    one: str
    many: str
    hundredth: str = ""
    hundredths: str = ""


_TABLE = table("en", "currencies")
_CURRENCIES = {sign: _Currency(*names) for sign, names in _TABLE["currencies"].items()}
_DOLLARS_OF: dict[str, str] = _TABLE["dollars_of"]
_MAGNITUDES: dict[str, str] = _TABLE["magnitudes"]
_SHORT = "|".join(sorted(_MAGNITUDES, key=len, reverse=True))
_MAGNITUDE = rf"(?: ?(?P<big>thousand|million|billion|trillion)|(?P<short>{_SHORT}))?"
_HYPHENED = r"(?:-(?P<hyphened>thousand|million|billion|trillion|a(?=-)|[a-z]{3,12})\b)?"
_PER = r"(?:/(?P<per>hour|hr|day|week|wk|month|mo|year|yr|person|night|unit|user|seat|kg|lb|gallon|gal)\b)?"
_PERIODS = {"hr": "hour", "wk": "week", "mo": "month", "yr": "year", "kg": "kilogram", "lb": "pound", "gal": "gallon"}
_SIGN = r"(?:(?P<country>US|CA|AU|NZ|HK|[CAS])?(?P<dollar>\$)|(?P<sign>[£€¥₹₩₽₿]))"
_CODE = "USD|GBP|EUR|JPY|INR|CHF|CAD|AUD|CNY|BTC"
_SINGULAR_BEFORE = (
    r"(?P<thing>(?= (?:bill|note|coin|fee|fine|reward|prize|deal|million|billion|question|budget|gift card)s?\b))?"
)

_AMOUNT = re.compile(
    rf"(?<![\w{MASK}$£€¥₹])(?P<minus>[-−](?<![\w)][-−]))?(?:{_SIGN} ?(?P<minus2>[-−])?|(?P<code>{_CODE}) )"
    rf"(?P<number>\.\d{{1,4}}|{NUMBER})(?P<first_magnitude>[kKmMbB]n?)?"
    rf"(?:(?:{DASH}| - | to )(?P<sign2>[$£€¥])?(?P<last>{NUMBER}))?"
    rf"{_MAGNITUDE}(?P<plus>\+(?!\w))?(?:{END}(?![.,:]\d)){_HYPHENED}{_PER}{_SINGULAR_BEFORE}"
)
_AFTER = re.compile(
    rf"{NUMBER_START}(?P<minus>{MINUS})?(?P<number>{NUMBER})(?:{DASH}(?P<last>{NUMBER}))?{_MAGNITUDE}"
    rf"(?: ?(?P<sign>[$£€¥₹₩₽])| (?P<code>{_CODE})){END}(?!\d){_PER}"
)
_SMALL = re.compile(rf"{NUMBER_START}(?P<number>\d{{1,3}}(?:\.\d)?)(?:(?P<cent>[c¢])|(?P<penny>p)){NUMBER_END}")

_CODES = frozenset(_CODE.split("|"))


def money(draft: Draft) -> None:
    british = draft.british
    if draft.has("$£€¥₹₩₽₿") or draft.says(_CODES):
        draft.replace(_AMOUNT, lambda match: _amount(match, british))
        draft.replace_numbers(_AFTER, lambda match: _amount(match, british))
    draft.replace_numbers(_SMALL, lambda match: _small(match, british))


def _amount(match: re.Match[str], british: bool) -> str:
    found = match.groupdict()
    currency = _CURRENCIES[found.get("dollar") or found.get("sign") or found.get("code") or "$"]
    if country := found.get("country"):
        of = _DOLLARS_OF[country]
        currency = _Currency(f"{of} dollar", f"{of} dollars", "cent", "cents")
    magnitude = found["big"] or _MAGNITUDES.get(found["short"] or "", "")
    first = _MAGNITUDES.get(found.get("first_magnitude") or "", "")
    hyphened = found.get("hyphened")
    if hyphened in ("thousand", "million", "billion", "trillion"):
        magnitude, hyphened = hyphened, "-"
    singular = hyphened is not None or found.get("thing") is not None
    written, last = found["number"], found["last"]
    magnitude, first = (magnitude or first, "") if not last else (magnitude, first)
    if last:
        lower = " ".join(filter(None, (number(written, british), first)))
        upper = " ".join(filter(None, (number(last, british), magnitude)))
        said = f"{lower} to {upper} {currency.one if singular else currency.many}"
    elif magnitude:
        said = f"{number(written, british)} {magnitude} {currency.one if singular else currency.many}"
    else:
        said = _with_hundredths(written, currency, singular, british)
    if found["minus"] or found.get("minus2"):
        said = f"minus {said}"
    if found.get("plus"):
        said += " plus"
    if hyphened and hyphened != "-":
        said += f" {hyphened}"
    if per := found["per"]:
        said += f" per {_PERIODS.get(per, per)}"
    return said


def _with_hundredths(written: str, currency: _Currency, singular: bool, british: bool) -> str:
    whole, _, fraction = ungrouped(written).partition(".")
    if fraction and (len(fraction) != 2 or not currency.hundredth):
        return f"{number(written, british)} {currency.many}"
    units = int(whole or 0)
    said = []
    if units or not int(fraction or 0):
        said.append(f"{cardinal(units, british)} {currency.one if units == 1 or singular else currency.many}")
    if hundredths := int(fraction or 0):
        name = currency.hundredth if hundredths == 1 else currency.hundredths
        said.append(f"{cardinal(hundredths, british)} {name}")
    return " and ".join(said)


def _small(match: re.Match[str], british: bool) -> str | None:
    if match["penny"] and not british:
        return None  # 1080p, page references
    one, many = ("penny", "pence") if match["penny"] else ("cent", "cents")
    return f"{number(match['number'], british)} {one if is_one(match['number']) else many}"
