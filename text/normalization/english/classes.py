"""English classes that are found by tokens (`text.normalization.classes`)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from text.locales.english import DAY_NAMES, MONTH_NAMES
from text.locales.tables import table
from text.normalization.classes.cover import Parser, candidates, cheapest
from text.normalization.classes.dates import BEFORE_YEARS, Dates
from text.normalization.classes.measures import Measures
from text.normalization.classes.money import Amounts
from text.normalization.classes.times import Durations, Ratios, Times
from text.normalization.classes.tokens import Tokens
from text.normalization.draft import Draft, Edit, Rule
from text.normalization.english.saying import said

_CALENDAR = table("en", "calendar")
_NAMES = frozenset(name.casefold() for name in (*DAY_NAMES, *DAY_NAMES.values(), *MONTH_NAMES))
_DIGITS = "0123456789"
_DATES = Dates(_CALENDAR, MONTH_NAMES, DAY_NAMES)
_MEASURES = Measures(table("en", "units"))
_NUMBERS = frozenset[str]()

PARSERS: tuple[tuple[str, Parser], ...] = (
    ("dates", Parser(_DATES.words, _DATES.dates)),
    ("years", Parser(BEFORE_YEARS, _DATES.years)),
    ("durations", Parser(_NUMBERS, Durations(_CALENDAR).parse)),
    ("times", Parser(Times.words, Times().parse)),
    ("money", Amounts(table("en", "currencies")).parser),
    ("units", Parser(_NUMBERS, _MEASURES.coordinates)),
    ("units", Parser(Measures.words, _MEASURES.parse)),
    ("ranges", Parser(_NUMBERS, Ratios(_CALENDAR).parse)),
)
"""Parsers, each with the setting that turns it off."""


def rule(on: Iterable[str]) -> Rule:
    """One rule for all classes that are on."""
    parsers = [parser for name, parser in PARSERS if name in on]

    def classify(draft: Draft) -> None:
        if not draft.has(_DIGITS) and not draft.says_folded(_NAMES):
            return
        line = Tokens(draft.text)
        cover = cheapest(candidates(line, parsers, draft.british), len(line.tokens))
        draft.put(
            Edit(line[each.first].start, line[each.last - 1].end, said(each.fields, draft.british)) for each in cover
        )

    return Rule("classes", classify, re.compile(""))
