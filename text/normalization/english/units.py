"""Unit names by symbol, in the singular and the plural."""

from __future__ import annotations

import re

from text.locales.tables import table
from text.normalization.draft import DASH, END, MASK, MINUS, NUMBER, NUMBER_END, NUMBER_START, Draft
from text.normalization.english.maths import EXPONENT, power
from text.normalization.number_words import cardinal, in_pairs, is_one, number, ungrouped, year

_TABLE = table("en", "units")
UNITS: dict[str, tuple[str, str]] = {
    symbol: (name, f"{name}s") if isinstance(name, str) else (name[0], name[1])
    for symbol, name in _TABLE["units"].items()
}
"""Unit names by symbol, in the singular and the plural."""

THINGS = "|".join(_TABLE["things"].split())
"""Nouns that a measure without an article describes, so that its unit is singular: use 4 mm wire."""

ONLY_APART = frozenset(("K",))
"""Symbols that are units only after a space: 300 K is kelvin, 300K is three hundred thousand."""

ONLY_TOGETHER = frozenset(("s", "F"))
"""Symbols that are units only without a space before them; after a space they have too many other meanings."""

NEVER_APART = frozenset(("in", "MP"))
"""Symbols that are units after a space only with a full stop or another number (5 x 7 in)."""

SPOKEN_PER: dict[str, str] = _TABLE["per"]
"""Names of units that follow a slash, besides those of `UNITS`."""


def spelled(name: str, british: bool) -> str:
    """Unit name in American or British spelling: `kilometers` or `kilometres`."""
    if british:
        for unit in ("meter", "liter"):
            name = name.replace(unit, f"{unit[:-2]}re")
    return name


_SYMBOL = "|".join(re.escape(symbol) for symbol in sorted(UNITS, key=len, reverse=True))
_PER = "|".join(re.escape(name) for name in sorted({*UNITS, *SPOKEN_PER}, key=len, reverse=True))
_POWERS = {"²": "square ", "2": "square ", "^2": "square ", "³": "cubic ", "3": "cubic ", "^3": "cubic ", None: ""}

_THING = (
    r"(?P<thing>(?= (?!(?:of|in|or|to|and|from|away|by|is|was|for|at|on|per|than|x|long|wide|tall|high|deep)\b)[a-z]))?"
)
"""Pattern of a noun after a measure, which makes the unit singular: a 70 decibel noise."""

_IS_THING = re.compile(rf" (?:(?:thick|long|wide|tall|high|deep) )?(?:{THINGS})s?\b")
_BASIS = re.compile(
    r"\b(?:rates?|yields?|spreads?|Fed|ECB|BoE|RBI|bonds?|Treasur(?:y|ies)|interest|inflation|basis|hikes?|hiked|eased"
    r"|tighten(?:ed|ing|s)?|coupon|mortgages?|lending|margins?|bank|gilts?|swaps?|libor|fees?|cuts?)\b",
    re.IGNORECASE,
)
"""Words with which "bp" and "bps" are basis points, hundredths of a percent, rather than bits per second."""
_BITS = re.compile(r"\b(?:modem|baud|bits?|link|UART|serial|radio|data|bandwidth|codec)s?\b", re.IGNORECASE)
_SLOWEST_BITS = 300
"""Bits per second of the slowest modem; fewer "bps" are basis points without any of these words."""

_MEASURE = re.compile(
    rf"(?P<a>(?<=\b[Aa] )|(?<=\b[Aa]n ))?{NUMBER_START}(?P<minus>{MINUS})?(?P<number>\.\d{{1,9}}|{NUMBER})"
    rf"(?:(?P<sign1>[%°]?)(?P<to>{DASH}| - | to |(?P<by> ?[x×] ?))(?P<last>{NUMBER}))?"
    rf"(?P<gap>[ -]?)(?P<unit>{_SYMBOL})(?P<power>[²³]|\^[23])?(?:/(?P<per>{_PER})(?P<per_power>[²³]|\^[23])?)?"
    rf"(?![\w{MASK}'’^²³]|[/-]\w(?<![/-]o))(?P<stop>\.(?= [a-z0-9(]))?{_THING}"
)
_SCALED = re.compile(
    rf"{NUMBER_START}(?P<base>{NUMBER}){EXPONENT} (?!in\b)(?P<unit>{_SYMBOL})(?P<unit_power>[²³])?"
    rf"(?:/(?P<per>{_PER})(?P<per_power>[²³])?)?(?![\w{MASK}⁻^/'’²³])"
)
_INVERSE = re.compile(
    rf"{NUMBER_START}(?P<minus>{MINUS})?(?P<number>{NUMBER}) ?(?:(?P<unit>{_SYMBOL})(?P<power>[²³])?[ ·⋅])?"
    rf"(?P<per>{_SYMBOL})⁻(?P<nth>[¹²³]){END}(?![⁰-⁹⁻])"
)
_BASIS_POINTS = re.compile(
    rf"(?P<a>(?<=\b[Aa] )|(?<=\b[Aa]n ))?{NUMBER_START}(?P<minus>{MINUS})?(?P<number>{NUMBER})"
    rf"(?:(?P<to>{DASH}| - | to )(?P<last>{NUMBER}))?[ -]?(?P<symbol>bps?){END}{_THING}"
)
_MINUTES = re.compile(
    rf"{NUMBER_START}(?P<degrees>\d{{1,3}}) ?° ?(?:(?P<minutes>\d{{1,2}})"
    rf" ?[′'’] ?)?(?:(?P<seconds>\d{{1,2}}(?:\.\d{{1,3}})?) ?(?:[″\"”]|′′|'') ?)?"
    rf"(?P<way>[NSEW]){END}"
)
_BY = re.compile(
    rf"(?P<a>\b[Aa]n? )?{NUMBER_START}(?P<first>\d{{1,4}}(?:\.\d{{1,2}})?) ?(?P<unit>[\"″”'′’])"
    rf" ?[x×] ?(?P<second>\d{{1,4}}(?:\.\d{{1,2}})?) ?(?P=unit)"
    rf"(?P<thing>(?= [a-z]))?"
)
_HALF_INCHES = re.compile(
    rf"{NUMBER_START}(?P<whole>\d{{1,3}}) ?(?P<sign>[½¼¾⅛⅜⅝⅞])[\"″”](?P<thing>(?= (?!wide|long|tall|high|deep"
    rf"|thick)[a-z]))?"
)
_FEET = re.compile(rf"{NUMBER_START}(?P<feet>\d{{1,3}}) ?['’′] ?(?P<inches>\d{{1,2}}(?:\.\d)?) ?(?:[\"”″]|''|′′)")
_ONLY_FEET = re.compile(rf"{NUMBER_START}(?P<feet>\d{{1,5}})(?:′(?!\w)|['’](?= (?:tall|high|long|wide|deep)\b))")
_INCHES = re.compile(
    rf"(?:^|[^\"“”]{{1,60}}[ (]){NUMBER_START}(?P<said>(?P<inches>{NUMBER})(?:″|\"(?= [a-z(]))){_THING}"
)
_SIZE = re.compile(
    rf"{NUMBER_START}(?P<first>\d{{1,5}})(?: x |[x×])(?P<second>\d{{1,5}})"
    rf"(?:(?: x |[x×])(?P<third>\d{{1,5}}))?{NUMBER_END}"
)
_MULTIPLE = re.compile(rf"{NUMBER_START}(?P<number>{NUMBER})(?:{DASH}(?P<last>{NUMBER}))?[x×](?P<end>{END})(?! ?\d)")
_HUNDREDS = re.compile(r"[1-9][1-9]00")
_COMPASS = re.compile(rf"{NUMBER_START}(?P<number>{NUMBER})°(?P<way>[NSEW]){END}")
_WAYS = {"N": "north", "S": "south", "E": "east", "W": "west"}


def units(draft: Draft) -> None:
    british = draft.british
    if draft.has("°"):
        draft.replace_numbers(_MINUTES, lambda match: _coordinate(match, british))
    if draft.has("\"″”'′’"):
        draft.replace(_BY, lambda match: _by(match, british))
        draft.replace_numbers(_HALF_INCHES, lambda match: _half_inches(match, british))
        draft.replace_numbers(_FEET, lambda match: _feet(match, british))
        draft.replace_numbers(_ONLY_FEET, lambda match: f"{number(match['feet'], british)} feet")
    if draft.has("°"):
        draft.replace_numbers(
            _COMPASS, lambda match: f"{number(match['number'], british)} degrees {_WAYS[match['way']]}"
        )
    if draft.has("^*⁰¹²³⁴⁵⁶⁷⁸⁹"):
        draft.replace_numbers(_SCALED, lambda match: _scaled(match, british))
    if draft.has("⁻"):
        draft.replace_numbers(_INVERSE, lambda match: _inverse(match, british))
    if "bp" in draft.sentence and not _BITS.search(draft.sentence):
        of_rates = _BASIS.search(draft.sentence) is not None
        draft.replace_numbers(_BASIS_POINTS, lambda match: _basis_points(match, of_rates, british))
    draft.replace_numbers(_MEASURE, lambda match: _measure(match, british))
    if draft.has('"″'):
        draft.replace(_INCHES, lambda match: _inches(match, british), "said")
    if draft.has("x×"):
        draft.replace_numbers(_SIZE, lambda match: " by ".join(_side(part, british) for part in match.groups() if part))
        draft.replace_numbers(_MULTIPLE, lambda match: _multiple(match, british))


def _measure(match: re.Match[str], british: bool) -> str | None:
    symbol, gap, last = match["unit"], match["gap"], match["last"]
    if symbol in ONLY_APART and gap != " ":
        return None
    if symbol in ONLY_TOGETHER and gap == " " and match["per"] is None:
        return None
    if symbol in NEVER_APART and not (match["stop"] or match["by"] or match["per"] or gap != " "):
        return None
    one, many = UNITS[symbol]
    described = _IS_THING.match(match.string, match.end()) is not None
    of_thing = described or (match["a"] is not None and match["thing"] is not None)
    singular = gap == "-" or of_thing or (is_one(match["number"]) and not last)
    name = _powered(one if singular else many, match["power"], british)
    in_hundreds = symbol in ("rpm", "RPM") and _HUNDREDS.fullmatch(match["number"])
    said = in_pairs(match["number"], british) if in_hundreds else number(match["number"], british)
    if match["minus"]:
        said = f"minus {said}"
    if last:
        said += f" {'by' if match['by'] else 'to'} {number(last, british)}"
    said += f" {name}"
    if per := match["per"]:
        per_one = SPOKEN_PER.get(per) or UNITS[per][0]
        said += f" per {_powered(per_one, match['per_power'], british)}"
    return said


def _scaled(match: re.Match[str], british: bool) -> str | None:
    said = power(match, british)
    if said is None:
        return None
    said += f" {_powered(UNITS[match['unit']][1], match['unit_power'], british)}"
    if per := match["per"]:
        said += f" per {_powered(SPOKEN_PER.get(per) or UNITS[per][0], match['per_power'], british)}"
    return said


def _inverse(match: re.Match[str], british: bool) -> str:
    """Measure with a negative power of a unit: `nine point eight meters per second squared`."""
    said = number(match["number"], british)
    if match["minus"]:
        said = f"minus {said}"
    if match["unit"]:
        said += f" {_powered(UNITS[match['unit']][not is_one(match['number'])], match['power'], british)}"
    nth = {"¹": None, "²": "²", "³": "³"}[match["nth"]]
    return f"{said} per {_powered(UNITS[match['per']][0], nth, british)}"


def _basis_points(match: re.Match[str], of_rates: bool, british: bool) -> str | None:
    few = match["symbol"] == "bps" and float(ungrouped(match["number"])) < _SLOWEST_BITS
    if not (of_rates or few):
        return None
    said = number(match["number"], british)
    if match["minus"]:
        said = f"minus {said}"
    if match["last"]:
        said += f" to {number(match['last'], british)}"
    of_thing = match["a"] is not None and match["thing"] is not None
    return f"{said} basis {'point' if of_thing or said == 'one' else 'points'}"


def _powered(name: str, power: str | None, british: bool) -> str:
    if power and name.startswith("second"):
        return f"{name} {'squared' if power[-1] in '²2' else 'cubed'}"
    return _POWERS[power] + spelled(name, british)


def _coordinate(match: re.Match[str], british: bool) -> str:
    said = f"{number(match['degrees'], british)} {'degree' if is_one(match['degrees']) else 'degrees'}"
    for part in ("minutes", "seconds"):
        if match[part]:
            name = part.removesuffix("s") if is_one(match[part]) else part
            said += f" {number(match[part].lstrip('0') or '0', british)} {name}"
    return f"{said} {_WAYS[match['way']]}"


def _by(match: re.Match[str], british: bool) -> str:
    one, many = ("foot", "feet") if match["unit"] in "'′’" else ("inch", "inches")
    unit = one if match["thing"] is not None else many
    article = match["a"] or ""
    return f"{article}{number(match['first'], british)} {unit} by {number(match['second'], british)} {unit}"


def _half_inches(match: re.Match[str], british: bool) -> str:
    below = {"½": "a half", "¼": "a quarter", "¾": "three quarters", "⅛": "an eighth", "⅜": "three eighths"} | {
        "⅝": "five eighths",
        "⅞": "seven eighths",
    }
    unit = "inch" if match["thing"] is not None else "inches"
    return f"{number(match['whole'], british)} and {below[match['sign']]} {unit}"


def _feet(match: re.Match[str], british: bool) -> str:
    return f"{cardinal(int(match['feet']), british)} foot {number(match['inches'], british)}"


def _inches(match: re.Match[str], british: bool) -> str:
    unit = "inch" if is_one(match["inches"]) or match["thing"] is not None else "inches"
    return f"{number(match['inches'], british)} {unit}"


def _side(written: str, british: bool) -> str:
    return year(int(written), british) if len(written) == 4 else number(written, british)


def _multiple(match: re.Match[str], british: bool) -> str:
    said = number(match["number"], british)
    if match["last"]:
        said += f" to {number(match['last'], british)}"
    return f"{said} {'time' if is_one(match['number']) else 'times'}"
