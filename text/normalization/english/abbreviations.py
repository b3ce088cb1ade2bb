"""Rules that read abbreviations in full: Dr. (doctor, drive), St. (saint, street), e.g., No. 5, approx., in Jan."""

from __future__ import annotations

import re

from text.locales.tables import table
from text.normalization.draft import END, MASK, START, Draft
from text.normalization.number_words import cardinal
from text.sentences.abbreviations import ANYWHERE, LABELS, STREETS, TITLES

_PHRASES: dict[str, str] = table("en", "abbreviations")["phrases"]
_FEATURING = re.compile(r"(?:^|(?<=[ (\[]))(?P<name>ft|[Ff]eat)\. (?=[A-Z])")
_CAPITAL = r"(?=[A-Z][\w'’.])"


def _either(words: dict[str, str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_STREET = re.compile(
    rf"(?:\b[A-Z][\w'’]{{1,30}}|\b\d{{1,4}}(?:st|nd|rd|th)|[{MASK}]) (?P<said>(?P<name>{_either(STREETS)})"
    r"(?:\.(?P<end>(?= [a-z0-9(]| [NSEW]\b|,|;))|\.$"
    r"|(?P<bare>(?=,|$|[.;:!?)]| (?:in|and|at|is|was|near|to|on|for|or|by|with)\b))))"
)
_SAINT = re.compile(rf"{START}(?:St\.? {_CAPITAL}|St\.(?=[A-Z]))")
_SAINTS = re.compile(rf"{START}Sts\. {_CAPITAL}")
_TITLE = re.compile(
    rf"{START}(?P<name>{_either(TITLES)})\. "
    rf"(?:{_CAPITAL}|(?=(?:and|or|&) [A-Z]))"
)
_BARE_TITLE = re.compile(rf"{START}(?P<name>Mr|Mrs|Ms|Dr|Prof) {_CAPITAL}")
_WORD = re.compile(rf"{START}(?P<name>(?i:{_either(ANYWHERE)}))\.(?!\w)(?P<last>[\"'”’)]*$)?")
_VERSUS = re.compile(rf"{START}vs(?= \w)")
_NUMBERED = re.compile(rf"{START}(?<![.'’])(?P<name>(?i:{_either(LABELS)}))\. ?(?=[#\d{MASK}])")
_COMPANY = re.compile(rf"(?:\b[A-Z][\w'’&]{{0,30}},? (?:and )?|[{MASK}])(?P<said>Co\.(?P<end>$)?)")
_PHRASE = re.compile(
    rf"{START}(?P<name>{_either(_PHRASES)}|E\.g\.|I\.e\.|Etc\.|etc)(?:{END}|(?<=\.))(?P<comma>,)?(?P<last>[\"'”’)]*$)?"
)
_STOPPED = re.compile(rf"\. ?[#\d{MASK}]")
_FEATURED = frozenset(("ft", "feat", "Feat"))
_PHRASE_WORDS = frozenset(
    ("g", "eg", "e", "ie", "etc", "Etc", "al", "k", "aka", "r", "B", "b", "Box", "o", "c", "n", "N")
)
"""Words of which each of the phrases has one."""
_STREET_WORDS, _TITLE_WORDS = frozenset(STREETS), frozenset(TITLES)
_ANYWHERE_WORDS = frozenset(word.casefold() for word in ANYWHERE)


def abbreviations(draft: Draft) -> None:
    if draft.says(_FEATURED):
        draft.replace(_FEATURING, lambda match: "featuring ")
    if draft.says(_PHRASE_WORDS):
        draft.replace(_PHRASE, _phrase)
    if _STOPPED.search(draft.text):
        draft.replace(_NUMBERED, lambda match: _like(match["name"], LABELS[match["name"].lower()]) + " ")
    if draft.says(_STREET_WORDS):
        draft.replace(_STREET, _street, "said")
    if "St" in draft.sentence:
        draft.replace(_SAINTS, lambda match: "Saints ")
        draft.replace(_SAINT, lambda match: "Saint ")
    if draft.says(_TITLE_WORDS):
        draft.replace(_TITLE, lambda match: TITLES[match["name"]] + " ")
        draft.replace(_BARE_TITLE, lambda match: TITLES[match["name"]] + " ")
    if draft.says_folded(_ANYWHERE_WORDS):
        draft.replace(_WORD, _word)
    if "vs" in draft.sentence:
        draft.replace(_VERSUS, lambda match: "versus")
    if "Co." in draft.sentence:
        draft.replace(_COMPANY, lambda match: "Company" + _stop(match), "said")


def _phrase(match: re.Match[str]) -> str:
    written = match["name"]
    said = _PHRASES.get(written) or _PHRASES.get(written.lower()) or "et cetera"
    if match["last"] is not None and written.endswith("."):
        return f"{said}.{match['last']}"
    return _like(written, said) + (match["comma"] or "") + (match["last"] or "")


def _street(match: re.Match[str]) -> str | None:
    if match["name"] == "Dr" and match["bare"] is not None:
        return None
    stop = "." if match["end"] is None and match["bare"] is None else ""
    return STREETS[match["name"]] + stop


def _word(match: re.Match[str]) -> str:
    written = match["name"]
    said = ANYWHERE.get(written) or ANYWHERE.get(written.lower()) or ANYWHERE[written.capitalize()]
    return _like(written, said) + ("" if match["last"] is None else f".{match['last']}")


def _stop(match: re.Match[str]) -> str:
    """Full stop of an abbreviation, kept if it ends the sentence."""
    return "." if match["end"] is not None else ""


def _like(written: str, said: str) -> str:
    return said[0].upper() + said[1:] if written[0].isupper() else said


_SAID: dict[str, str] = table("en", "abbreviations")["initialisms"]
_KNOWN = re.compile(rf"{START}(?P<name>{'|'.join(_SAID)}){END}(?!\.\w|-\w)")
_KNOWN_WORDS = frozenset(_SAID)
_AND = re.compile(rf"{START}(?P<left>[A-Z]{{1,3}})&(?P<right>[A-Z]{{1,3}}){END}(?P<number> 500)?")
_PLURAL = re.compile(rf"{START}(?P<letters>(?=[A-Z]{{0,3}}[BCDFGHJKLMNPQRSTVWXZ])[A-Z]{{2,4}})s{END}(?!\.\w)")
_CELL = re.compile(rf"{START}(?P<letters>[A-GI-PR-Z]|MP|A|AA|AAA|HP|VW|BMW)(?P<number>\d){END}(?![.:/'’&-]\w|[²³])")
_READ_AS_WORDS = frozenset(("RAM", "ROM", "PIN", "SIM", "LAN", "GIF", "CEO", "VIP", "ID"))
"""Initialisms that are read as words, and initialisms whose plurals engines read well."""


def initialisms(draft: Draft) -> None:
    british = draft.british
    if draft.says(_KNOWN_WORDS):
        draft.replace(_KNOWN, lambda match: _SAID[match["name"]])
    if draft.has("&"):
        draft.replace(_AND, lambda match: _and(match, british))
    draft.replace(_PLURAL, _plural)
    draft.replace(_CELL, lambda match: f"{'.'.join(match['letters'])} {cardinal(int(match['number']), british)}")


def _and(match: re.Match[str], british: bool) -> str:
    said = f"{'.'.join(match['left'])} and {'.'.join(match['right'])}"
    return f"{said} {cardinal(500, british)}" if match["number"] else said


def _plural(match: re.Match[str]) -> str | None:
    letters = match["letters"]
    if not 2 <= len(letters) <= 4 or letters in _READ_AS_WORDS:
        return None
    return f"{'.'.join(letters)}'s"
