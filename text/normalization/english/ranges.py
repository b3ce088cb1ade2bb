"""Rules for ranges and scores: 5-10, pp. 3-7, won 3-2."""

from __future__ import annotations

import re

from text.normalization.draft.draft import DASH, MASK, MINUS, NUMBER, NUMBER_START, Draft
from text.normalization.draft.words import number, ungrouped

_RANGE = re.compile(
    rf"{NUMBER_START}(?P<minus>{MINUS})?(?P<first>{NUMBER})(?P<dash>{DASH})(?P<minus2>[-−])?(?P<last>{NUMBER})"
    rf"(?![\w{MASK}]|[.,:/^]\d|[-–]\d)"
)
_DIFFERENCE = re.compile(rf"{NUMBER_START}(?P<first>{NUMBER})[-−–](?P<last>{NUMBER})(?= ?=)")
_RATIO = re.compile(rf"{NUMBER_START}(?P<first>\d{{1,4}}):(?P<last>\d{{1,4}})(?![\w{MASK}]|[.,:/-]\d)")
_SCORE = re.compile(
    r"\b(?:won|win|wins|lost|lose|loss|beat|beats|score|scored|lead|leads|led|drew|draw|tie|tied|victory|defeat|defeated|"
    r"trailed|ahead|final|match|game|series)\b"
)


def apply(draft: Draft) -> None:
    british = draft.british
    is_score = _SCORE.search(draft.sentence) is not None
    draft.replace_numbers(
        _DIFFERENCE, lambda match: f"{number(match['first'], british)} minus {number(match['last'], british)}"
    )
    draft.replace_numbers(_RANGE, lambda match: _range(match, is_score, british))
    draft.replace_numbers(_RATIO, lambda match: _ratio(match, british))


def _ratio(match: re.Match[str], british: bool) -> str:
    minutes = len(match["last"]) == 2 and int(match["first"]) > 24
    return f"{number(match['first'], british)}{' ' if minutes else ' to '}{number(match['last'], british)}"


def _range(match: re.Match[str], is_score: bool, british: bool) -> str | None:
    first, last = match["first"], match["last"]
    value, last_value = float(ungrouped(first)), float(ungrouped(last))
    if match["dash"] == "-" and value >= 100 and last_value < value and len(first) == len(last):
        return None  # Boeing 747-400
    score = is_score and match["dash"] in "-–" and max(value, last_value) < 200
    lower, upper = (_goals(goals, score and british, british) for goals in (first, last))
    lower = f"minus {lower}" if match["minus"] else lower
    upper = f"minus {upper}" if match["minus2"] else upper
    return f"{lower} {upper}" if (score and british) or first == last else f"{lower} to {upper}"


def _goals(written: str, is_score: bool, british: bool) -> str:
    return "nil" if is_score and written == "0" else number(written, british)
