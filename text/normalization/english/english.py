"""English rules in their order: text with a form of its own, numbers with a label or between themselves, and words."""

from __future__ import annotations

import re
import string

from text.locales.english import DAY_NAMES, MONTH_NAMES
from text.locales.tables import table, word_list, word_lists
from text.normalization import emoji, tex
from text.normalization.classes.abbreviations import Abbreviations, Initialisms
from text.normalization.classes.addresses import Addresses
from text.normalization.classes.codes import Codes, Versions
from text.normalization.classes.cover import Classes, Parser
from text.normalization.classes.dates import Dates
from text.normalization.classes.dimensions import Dimensions
from text.normalization.classes.forms import Forms
from text.normalization.classes.measures import TIMES, Measures
from text.normalization.classes.money import Amounts
from text.normalization.classes.numbers import SLASHES, english_number
from text.normalization.classes.numerals import ENDINGS, NumberForms
from text.normalization.classes.references import LabelledNumbers, Scores, Verses, lettered, letters, sections
from text.normalization.classes.roman import RomanNumerals
from text.normalization.classes.telephones import Telephones
from text.normalization.classes.times import Durations, Ratios, Times, Years
from text.normalization.classes.tokens import DASHES, VULGAR
from text.normalization.classes.weekdays import Calendar
from text.normalization.draft import END, MASK, START, Draft, Rule
from text.normalization.english import maths, web
from text.normalization.english.saying import said
from text.normalization.number_words import cardinal, number, ordinal
from text.sentences.abbreviations import ANYWHERE, BOOKS, LABELS, PARTS, PLACES, STREETS

_CALENDAR = table("en", "calendar")
_CUES = word_lists(_CALENDAR["cues"])
_MONTHS: list[str] = _CALENDAR["months"]
_WEEKDAYS: list[str] = _CALENDAR["days"]
_DATED = Calendar(
    {name.casefold(): _MONTHS.index(full) + 1 for name, full in MONTH_NAMES.items()},
    {name.casefold(): _WEEKDAYS.index(full) for name, full in (DAY_NAMES | {day: day for day in _WEEKDAYS}).items()},
    frozenset(map(str.casefold, (*_MONTHS, *_WEEKDAYS))),
    _CUES,
)
_UNITS = table("en", "units")
_SIZED = word_lists(_UNITS["cues"]) | {"things": word_list(_UNITS["things"])}
_MEASURES = Measures(_UNITS["units"], _UNITS["per"], _SIZED, english_number)
_DIMENSIONS = Dimensions(_MEASURES, frozenset("NSEW"), _SIZED["after_feet"], _UNITS["sides"])
_REFERENCES = table("en", "references")
_VERSES = Verses(_REFERENCES, BOOKS)
_QUANTITIES = word_list(_REFERENCES["quantities"])
_LETTERED = {short: full for short, full in LABELS.items() if full not in _QUANTITIES}
_LABELS = LabelledNumbers(_REFERENCES, PARTS, PLACES, _LETTERED)
_LISTS = word_lists({name: listed.casefold() for name, listed in _REFERENCES.items()})
_CODES, _CAPITALS = Codes(_LISTS), re.compile("[A-Z]{1,4}")
_NUMERALS = RomanNumerals(_LISTS, plain=False)
_ABBREVIATIONS = Abbreviations(table("en", "abbreviations"))
_ADDRESSES = Addresses(table("en", "addresses"), STREETS, ANYWHERE)
_FIGURES = table("en", "numerals")
_PARTED = {unit: unit for unit in maths.UNITS if unit.isalpha() and unit not in ("yo", "sf", "ly", "st", "K", "C", "F")}
_NUMBERED = NumberForms(_FIGURES | {"symbols": _PARTED})
_PHONES = Telephones(_LISTS)
_SMALL = word_list(table("en", "abbreviations")["contexts"]["small"])
_FORMS = Forms(table("en", "forms"), number, ordinal, words=_SMALL - {"no"} | {*_DATED.months, *_DATED.days})
_INITIALISMS = Initialisms(table("en", "abbreviations"))
_NUMBERS = frozenset[str]()

CLASSES = Classes(
    (
        ("abbreviations", _FORMS.parser),
        ("references", _VERSES.parser),
        ("references", _LABELS.parser),
        ("references", Parser(frozenset("§"), sections, numbers=False)),
        ("roman_numerals", _NUMERALS.parser),
        ("roman_numerals", _NUMERALS.letters),
        ("codes", Parser(_CODES.words, _CODES.parse, mixed=True, also=_CAPITALS.fullmatch)),
        ("ranges", Parser(_NUMBERS, lettered, needs=DASHES)),
        ("ranges", Parser.of(letters, dict.fromkeys(string.ascii_uppercase, ("-",))).also_bare()),
        ("ranges", Parser(_NUMBERS, Scores(_LISTS["scores"], _CUES["numbered"]).parse, needs=frozenset("-–:"))),
        ("dates", Dates(_DATED).parser),
        ("years", Years(_DATED).parser),
        ("durations", Durations(_CALENDAR["duration_units"], _CUES).parser),
        ("times", Times(_CALENDAR["times"], _CUES, halves=True).parser),
        ("money", Amounts(table("en", "currencies")).parser),
        ("units", _DIMENSIONS.parser),
        ("units", Parser(TIMES, _DIMENSIONS.by, numbers=False)),
        ("units", _MEASURES.parser),
        ("ranges", Parser(_NUMBERS, Ratios(_CUES["ratio"]).parse, needs=frozenset(":"))),
        ("ordinals", Parser(_NUMBERS, _NUMBERED.ordinals, needs=ENDINGS)),
        ("fractions", Parser(_NUMBERED.words, _NUMBERED.fractions, needs=SLASHES | VULGAR)),
        ("versions", Versions("version", word_list(_FIGURES["cues"]["versioned"]), _FIGURES["stages"]).parser),
        ("ranges", Parser(_NUMBERED.words, _NUMBERED.ranges, needs=DASHES)),
        ("numbers", Parser(_NUMBERED.words, _NUMBERED.numbers)),
        ("addresses", Parser(_NUMBERS, _ADDRESSES.parse)),
        ("addresses", Parser(_ADDRESSES.words, _ADDRESSES.state, numbers=False, bare=_ADDRESSES.states)),
        ("phones", _PHONES.parser),
        ("abbreviations", _ABBREVIATIONS.parser),
        ("initialisms", Parser(_INITIALISMS.words, _INITIALISMS.parse, numbers=False).also_bare()),
    ),
    said,
    ("between", "to", "and"),
)


_AND = re.compile(rf"{START}(?P<left>[A-Z]{{1,3}}|[a-z]{{1,2}}|[A-Z][a-z])&(?P<right>[A-Z]{{1,3}}|[a-z]){END}")
_HUMPED = re.compile(rf"(?!TeX|CoV|NaN)(?P<letters>[A-Z](?<![\w{MASK}].)[a-z][A-Z])(?P<plural>s?){END}")
"""Initialism with a small letter in its middle: IgG, DoD."""
_DESIGNATED = re.compile(rf"{START}(?!US)(?P<letters>[AEIOU][B-DF-HJ-NP-TV-Z]|[B-DF-HJ-NP-TV-Z][AEIOU])(?=-\d)")
"""Two letters of a model or office that may be a word: UH-60."""
_PLURAL = re.compile(rf"{START}(?P<letters>(?=[A-Z]{{0,3}}[BCDFGHJKLMNPQRSTVWXZ])[A-Z]{{2,4}})s{END}(?!\.\w)")
_OPTIONAL = re.compile(rf"{START}(?P<one>[a-zA-Z]{{3,30}})\((?P<more>e?s|ren)\){END}")
"""Plural that is left open: file(s)."""
_FUNCTIONS = frozenset(("sin", "cos", "tan", "log", "exp", "det", "max", "min", "abs", "len", "sum"))
_CELL = re.compile(rf"(?P<letters>[A-Z](?<![\w{MASK}].)[A-Z]{{0,2}})(?P<number>\d){END}(?![.:/'’&-]\w|[²³])")
_CELLS = frozenset(("MP", "AA", "AAA", "HP", "VW", "BMW", *"ABCDEFGIJKLMNOPRSTUVWXYZ"))
_READ_AS_WORDS = frozenset(("RAM", "ROM", "PIN", "SIM", "LAN", "GIF", "CEO", "VIP", "ID"))
"""Initialisms that are read as words, and initialisms whose plurals engines read well."""


def initialisms(draft: Draft) -> None:
    british = draft.british
    draft.replace(_OPTIONAL, lambda match: None if match["one"] in _FUNCTIONS else "".join(match.groups()), "(")
    draft.replace(_AND, lambda match: f"{'.'.join(match['left'].upper())} and {'.'.join(match['right'].upper())}", "&")
    draft.replace(_DESIGNATED, lambda match: ".".join(match["letters"]), "-")
    draft.replace(_HUMPED, lambda match: ".".join(match["letters"].upper()) + "'s" * bool(match["plural"]))
    draft.replace(
        _PLURAL, lambda match: None if match["letters"] in _READ_AS_WORDS else f"{'.'.join(match['letters'])}'s"
    )
    draft.replace(_CELL, lambda match: _cell(match["letters"], match["number"], british))


def _cell(letters: str, digit: str, british: bool) -> str | None:
    return f"{'.'.join(letters)} {cardinal(int(digit), british)}" if letters in _CELLS else None


_DIGIT = re.compile(r"\d")

RULES = (
    Rule("tex", tex.tex, re.compile(r"[$(=<>≤≥\\^∫∑∏₂₀]")),
    Rule("music", maths.music, re.compile(r"[A-G][#♯♭♮bmM\dsad]|/(?<=\d/)\d")),
    emoji.OMITTED,
    Rule("web_addresses", web.web_addresses, web.NEEDED),
    Rule("code", web.code, re.compile(r"[-_(+*•]|[xX][xX]|0[xX]|(?:\.\.\.|…) ?\d")),
    Rule("classes", CLASSES.rewrite, re.compile("")),
    Rule("chemistry", lambda draft: maths.chemistry(draft, lambda n: cardinal(n, draft.british)), maths.CHEMISTRY),
    Rule("units", maths.units, _DIGIT),
    Rule("initialisms", initialisms, re.compile(r"[A-Z](?:[A-Z&\ds]|[a-z][A-Z])|&(?<=\w&)\w|\((?:e?s|ren)\)")),
    Rule("abbreviations", maths.stops, re.compile(r"\.(?<=[a-z]\.) ")),
    Rule("math", maths.math, maths.NEEDED),
)
