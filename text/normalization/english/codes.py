"""Rules for numbers that identify rather than count: ZIP and post codes, ISBN, PINs, orders and accounts."""

from __future__ import annotations

import re

from text.locales.tables import table
from text.normalization.draft import END, MASK, NUMBER_START, START, Draft
from text.normalization.number_words import cardinal, digits, in_pairs, ohs

_ZIP = re.compile(
    rf"{START}(?P<name>[Zz][Ii][Pp](?P<code> [Cc]ode)?)(?P<joint>:? (?:is )?)(?P<zip>\d{{5}})"
    rf"(?:-(?P<plus>\d{{4}}))?{END}"
)
_BOOK = re.compile(
    rf"{START}(?P<name>ISBN"
    rf"|ISSN)(?:-(?P<kind>1[03]))?(?P<joint>:? )(?P<number>\d(?:[-– ]?\d){{6,12}}(?:[-– ]?[\dXx])?){END}"
)
_FLIGHT = re.compile(rf"\b(?:[Ff]lights?) (?P<carrier>[A-Z]{{2}}|[A-Z]\d|\d[A-Z]) ?(?P<digits>\d{{2,4}}){END}")
_POSTCODE = re.compile(rf"{START}(?P<out>[A-Z]{{1,2}}\d{{1,2}}[A-Z]?) (?P<inner>\d)(?P<unit>[A-Z]{{2}}){END}")

_BOOK_NUMBERS = frozenset(("ISBN", "ISSN"))
_FLIGHTS = frozenset(("flight", "flights", "Flight", "Flights"))


def codes(draft: Draft) -> None:
    british = draft.british
    draft.replace(_ZIP, _zip)
    if draft.says(_BOOK_NUMBERS):
        draft.replace(_BOOK, lambda match: _book(match, british))
    if draft.says(_FLIGHTS):
        draft.replace(_FLIGHT, _flight)
    draft.replace(_POSTCODE, _postcode)


def _zip(match: re.Match[str]) -> str:
    said = f"zip{(match['code'] or '').lower()}{match['joint']}{ohs(match['zip'])}"
    return f"{said}, {ohs(match['plus'])}" if match["plus"] else said


def _book(match: re.Match[str], british: bool) -> str:
    groups = re.split("[-– ]", match["number"])
    kind = f" {cardinal(int(match['kind']), british)}" if match["kind"] else ""
    said = ", ".join(" ".join(filter(None, (digits(group), "X" if group[-1] in "Xx" else ""))) for group in groups)
    return f"{match['name']}{kind}{match['joint']}{said}"


def _flight(match: re.Match[str]) -> str:
    before = match.string[match.start() : match.start("carrier")]
    return f"{before}{'.'.join(match['carrier'])} {digits(match['digits'])}"


def _postcode(match: re.Match[str]) -> str:
    parts = re.findall(r"[A-Z]+|\d+", match["out"])
    said = " ".join(".".join(part) if part.isalpha() else cardinal(int(part), british=False) for part in parts)
    return f"{said}, {cardinal(int(match['inner']), british=False)} {'.'.join(match['unit'])}"


_START = rf"(?<![\w{MASK}$£€])(?<!\d[.,:/ -])(?<![^\W\d]-)"
_END = rf"(?![\w{MASK}%°])(?![.,:/-]\d)"

_PHONE = re.compile(
    rf"{_START}(?:"
    r"\+\d{1,3}(?:[ .-]?\(0\))?(?:[ .-]?\(\d{1,4}\))?(?:[ .-]?\d{2,5}){2,5}"
    r"|(?:(?:00)?1[ .-])?\(\d{2,5}\)[ .-]?\d{3,4}[ .-]?\d{3,4}"
    r"|(?:(?:00)?1[ .-])?\d{3}([.-])\d{3}\1\d{4}"
    r"|(?:00)?1 \d{3} \d{3} \d{4}"
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


def phones(draft: Draft) -> None:
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


_TABLE = table("en", "addresses")
_STREETS: dict[str, str] = _TABLE["streets"]
_FULL = (
    "Street|Avenue|Boulevard|Road|Lane|Drive|Place|Square|Court|Parkway|Terrace|Highway|Way|Broadway|Circle|Crescent"
)
_WAYS: dict[str, str] = _TABLE["ways"]
_STATES: dict[str, str] = _TABLE["states"]
_WORDS = frozenset(("OK", "HI", "OR", "IN", "ME", "OH", "MA", "PA", "LA", "ID", "DE", "CO"))
"""State codes that are also words in capitals ("Well, OK."): they need a place before them."""

_TO_A_PLACE = re.compile(r"\b(?:in|from|near|to|of|at|outside|visit) (?:[A-Z]\w+ ?){1,3}$")
_HOUSE = re.compile(
    rf"{NUMBER_START}(?P<house>\d{{1,5}})(?P<flat>[A-D])?(?P<way> (?:[NSEW]|[NS][EW])(?:\.(?= )|(?= )))?"
    rf"(?P<name>(?: [A-Z][\w'’]{{1,20}}| \d{{1,3}}(?:st|nd|rd|th)){{1,3}}?)"
    rf" (?P<street>{_FULL}|(?:{'|'.join(_STREETS)})(?:(?P<stop>\.)|(?=,|$| )))(?P<end>$)?"
    rf"(?P<side> (?:[NS][EW]|[NSEW])(?:\.(?= )|{END}))?(?![\w])"
)
_STATE = re.compile(
    rf"(?<=[a-z]), (?P<state>{'|'.join(_STATES)})(?: (?P<zip>\d{{5}})(?:-(?P<plus>\d{{4}}))?(?!\d)|(?=[.,;:!?)]|$))"
)

_STATE_CODES = frozenset(_STATES)


def addresses(draft: Draft) -> None:
    british = draft.british
    draft.replace_numbers(_HOUSE, lambda match: _house(match, british))
    if draft.says(_STATE_CODES):
        draft.replace(_STATE, _state)


def _house(match: re.Match[str], british: bool) -> str:
    said = [in_pairs(match["house"], british)]
    if match["flat"]:
        said.append(match["flat"])
    if match["way"]:
        said.append(_WAYS[match["way"].strip(" .")])
    said.append(re.sub(r"\bMt\b", "Mount", match["name"].strip()))
    said.append(_STREETS.get(match["street"].rstrip("."), match["street"].rstrip(".")))
    if match["side"]:
        said.append(_WAYS[match["side"].strip(" .")])
    return " ".join(said) + ("." if match["stop"] and match["end"] is not None else "")


def _state(match: re.Match[str]) -> str | None:
    if not match["zip"] and match["state"] in _WORDS and not _TO_A_PLACE.search(match.string[: match.start()]):
        return None
    said = f", {_STATES[match['state']]}"
    if match["zip"]:
        said += f" {ohs(match['zip'])}"
    return f"{said}, {ohs(match['plus'])}" if match["plus"] else said
