"""Rules for postal addresses: house numbers in pairs, N. and NW in full, states by their names before ZIP codes."""

from __future__ import annotations

import re

from text.normalization.draft.draft import END, NUMBER_START, Draft
from text.normalization.draft.words import in_pairs, ohs

_STREETS = {
    "St": "Street", "Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road", "Ln": "Lane", "Dr": "Drive", "Pl": "Place",
    "Sq": "Square", "Ct": "Court", "Pkwy": "Parkway", "Ter": "Terrace", "Hwy": "Highway",
}  # fmt: skip
_FULL = (
    "Street|Avenue|Boulevard|Road|Lane|Drive|Place|Square|Court|Parkway|Terrace|Highway|Way|Broadway|Circle|Crescent"
)
_WAYS = {
    "N": "North", "S": "South", "E": "East", "W": "West", "NW": "Northwest", "NE": "Northeast", "SW": "Southwest",
    "SE": "Southeast",
}  # fmt: skip
_STATES = dict(
    pair.split("=")
    for pair in [
        "AL=Alabama",
        "AK=Alaska",
        "AZ=Arizona",
        "AR=Arkansas",
        "CA=California",
        "CO=Colorado",
        "CT=Connecticut",
        "DE=Delaware",
        "FL=Florida",
        "GA=Georgia",
        "HI=Hawaii",
        "ID=Idaho",
        "IL=Illinois",
        "IN=Indiana",
        "IA=Iowa",
        "KS=Kansas",
        "KY=Kentucky",
        "LA=Louisiana",
        "ME=Maine",
        "MD=Maryland",
        "MA=Massachusetts",
        "MI=Michigan",
        "MN=Minnesota",
        "MS=Mississippi",
        "MO=Missouri",
        "MT=Montana",
        "NE=Nebraska",
        "NV=Nevada",
        "NH=New_Hampshire",
        "NJ=New_Jersey",
        "NM=New_Mexico",
        "NY=New_York",
        "NC=North_Carolina",
        "ND=North_Dakota",
        "OH=Ohio",
        "OK=Oklahoma",
        "OR=Oregon",
        "PA=Pennsylvania",
        "RI=Rhode_Island",
        "SC=South_Carolina",
        "SD=South_Dakota",
        "TN=Tennessee",
        "TX=Texas",
        "UT=Utah",
        "VT=Vermont",
        "VA=Virginia",
        "WA=Washington",
        "WV=West_Virginia",
        "WI=Wisconsin",
        "WY=Wyoming",
    ]
)
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


def apply(draft: Draft) -> None:
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
    said = f", {_STATES[match['state']].replace('_', ' ')}"
    if match["zip"]:
        said += f" {ohs(match['zip'])}"
    return f"{said}, {ohs(match['plus'])}" if match["plus"] else said
