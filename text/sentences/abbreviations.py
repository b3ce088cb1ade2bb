"""Abbreviations, and words that begin sentences: one table for the rules that read abbreviations in full and for the
splitter, which keeps their full stops from ending sentences.

The tables are in `text/locales`: English ones have the spelling that is read, other languages' are in
`locale.toml`. Word lists are lower case, without their last full stop.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from text.locales.english import MONTH_NAMES
from text.locales.tables import table, word_list, words

_READ = table("en", "abbreviations")
TITLES: dict[str, str] = _READ["titles"]
"""Titles and the like, read before names."""

STREETS: dict[str, str] = _READ["streets"]
"""Parts of street names."""


def cut_words(name: str) -> dict[str, str]:
    """Words by their beginnings that are written before a full stop; those of a list of the English table.

    A longer beginning than the listed one is of six letters or seven, the last of them a consonant.
    """
    found: dict[str, str] = {}
    rows = [row.partition("|") for row in _READ["cut"][name].split()]
    for more in range(3):
        for stem, _, rest in rows:
            beginning, word = stem + rest[:more], stem + rest
            if not more or (len(stem) > 4 and len(rest) > more + 1 and beginning[-1] not in "aeiou"):
                found.setdefault(beginning, word)
    return {beginning: word for beginning, word in found.items() if beginning not in _READ["cut"]["whole"].split()}


PLAIN: dict[str, str] = _READ["plain"] | cut_words("plain")
"""Abbreviations read wherever they stand, with a full stop or without."""

ANYWHERE: dict[str, str] = _READ["anywhere"] | cut_words("stopped") | PLAIN
"""Abbreviations read wherever they stand."""

SHRUNK = re.compile("[A-Za-z][b-df-hj-np-tv-z]{2,}|[B-DF-HJ-NP-TV-Z]{4,}")
"""Words that may be written by consonants."""
_VOWEL, _TWICE = re.compile("[aeiou]"), re.compile(r"(.)\1")
_LETTERS: dict[str, list[tuple[str, str]]] = defaultdict(list)
"""Consonants of the words that are written by them, and the words, by their first letter and last consonant."""
for _word in _READ["shrunk"]["words"].split():
    _consonants = _word[0] + _VOWEL.sub("", _word[1:])
    _LETTERS[_word[0] + _consonants[-1]].append((_consonants, _word))


@lru_cache(512)
def shrunk_word(fold: str) -> str:
    """Word, or plural of a word, of which all or some consonants are written (bldg, tmrw); "" for other letters."""
    if fold[-1:] == "s" and not _shrunk(fold):
        return plural(one) if (one := _shrunk(fold[:-1])) else ""
    return _shrunk(fold)


def _shrunk(fold: str) -> str:
    found = [
        (len(letters), word)
        for letters, word in _LETTERS.get(fold[:1] + fold[-1:], ())
        if (len(fold) > 3 or fold == _TWICE.sub(r"\1", letters)) and _is_part(fold, letters)
    ]
    return min(found, key=lambda each: each[0])[1] if found else ""


def _is_part(few: str, letters: str) -> bool:
    """True if letters stand in others in the same order."""
    rest = iter(letters)
    return all(letter in rest for letter in few)


def plural(word: str) -> str:
    if word[-1] == "y" and word[-2] not in "aeiouy":
        return f"{word[:-1]}ies"
    return f"{word}es" if word[-1] in "sx" else f"{word}s"


SENSES: dict[str, dict[str, str]] = {
    written: {cue: said for said, near in meanings.items() for cue in near.split()}
    for written, meanings in _READ["senses"].items()
}
"""Abbreviations of several meanings: the meanings by the words of which one stands before or after."""

LABELS: dict[str, str] = _READ["labels"]
"""Abbreviations read before numbers."""

PARTS: dict[str, str] = _READ["parts"]
PLACES: dict[str, str] = _READ["places"]
"""Labels of numbers with letters (Fig. 3a, Rm. 12B)."""

BOOKS: dict[str, str] = _READ["books"]
"""Books of the Bible."""

NEVER_LAST = words("all", "never_last")
"""Abbreviations that never end a sentence, whatever the next word is: titles, "for example" and the like."""


SELDOM_LAST = words("all", "seldom_last")
"""Abbreviations in names, dates and firms; their full stop ends a sentence only if one of the language's
`sentence_starters` follows.
"""

BEFORE_NUMBERS = words("all", "before_numbers")
"""Abbreviations that never end a sentence if a number follows."""

LAST_OR_NOT = words("all", "last_or_not")
"""Abbreviations that may end a sentence, unless the next word is in lower case, even with a writer who uses no
capitals.
"""


STOPPED_UNITS = word_list(table("en", "units")["cues"]["stopped"])
"""English units that have a full stop of their own."""

GERMAN_MONTHS = word_list("januar jänner februar märz april mai juni juli august september oktober november dezember")
GERMAN_ARTICLES = word_list("der das den dem des im vom zum zur beim seit")
"""Articles that show a German ordinal ("im 19. Jahrhundert"): such a text is German, even if it is read with a voice of
another language.
"""


def in_form(words_around: str, language: str) -> bool:
    """True if a word before a stop, the stop and the next word belong to a form or abbreviation of several words."""
    known = _of_several(language)
    runs = (run for words in (words_around, words_around.casefold()) for run in (words, words.partition(" ")[2]))
    return any(run in known or f"{run}." in known for run in runs)


@lru_cache
def _of_several(language: str) -> frozenset[str]:
    """Two or three words of a form or abbreviation with a stop inside, as they are written in English, else folded."""
    locale = table(language, "locale")
    short = (name for each in ("abbreviations", "before_numbers") for name in locale.get(each, ()) if ". " in name)
    forms = (row for section in table(language, "forms").values() for row in section)
    return frozenset(
        run if language == "en" else run.casefold()
        for words_of in map(str.split, (*short, *forms))
        for first in range(len(words_of))
        for run in (" ".join(words_of[first : first + 2]), " ".join(words_of[first : first + 3]))
        if run.count(".") and any(map(str.isalpha, run))
    )


def _lower(*tables: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for table in tables for name in table)


BIBLE = _lower(BOOKS)
"""Bible books, whose full stop ends no sentence before a chapter and verse. "col." and "ex." are other words elsewhere,
so a number with a colon must follow.
"""

MONTHS = frozenset(name.lower() for name, full in MONTH_NAMES.items() if name != full)
_WORDS = word_list("prop sat sun wed mar mon sec ex rep rev ref app pl sq ct ter hr hon op fr ft dist") | word_list(
    _READ["contexts"]["words"]
)
"""Abbreviations that are words or units in lower case."""

_NUMBERED = BEFORE_NUMBERS | MONTHS | _lower(TITLES, STREETS, ANYWHERE, LABELS, PARTS, PLACES)
_ELIDED = frozenset(row for row in table("en", "forms")["anywhere"] if "'" in row and row.replace("'", "").isalpha())
_TITLED = SELDOM_LAST | _lower(TITLES)
_NAMED = _TITLED | _lower(STREETS, ANYWHERE) | MONTHS | _ELIDED
"""Abbreviations whose stop ends no sentence before a name, elided ones (int'l) among them."""

_ENDS = word_list("etc ecc uu c a.c d.c ud uds")
"""Abbreviations of other languages that may end a sentence before a name or a number."""

_INTERJECTIONS = word_list(
    "hmm hm mmm shh sh psst pfft brr grr tsk zzz ssh http https html css xml dns tcp ftp npm gdp"
)
_CONSONANTS = re.compile("[BCDFGHJ-NP-TV-XZbcdfghj-np-tv-xz][bcdfghj-np-tv-xz]{1,4}")


def has_sense(before: str, word: str, following: str) -> bool:
    """True if the next word shows an abbreviation's meaning, and its stop ends no sentence: resp. rate."""
    senses = SENSES.get(word.lower(), {})
    if following[0].isdecimal():
        return "#" in senses or f"<{before.lower().strip('(.,')}" in senses
    lower = following.lower()
    alike = word[0].isupper() and lower not in words("en", "sentence_starters")  # in capitals, or Acme Inc. By then
    return (following[0].islower() or alike or not following[1:]) and lower in senses


def is_cut(word: str) -> bool:
    """True for an abbreviation that is no word, before a word in small letters."""
    return word in SELDOM_LAST or (word in _NAMED and word not in _WORDS)


def before_number(word: str, language: str) -> bool:
    """True for an abbreviation that ends no sentence before a number."""
    lower = word.lower()
    if lower in BEFORE_NUMBERS or lower in read_in(language) or lower in _numbered_in(language):
        return True
    return (lower in _NUMBERED and (word[0].isupper() or lower not in _WORDS or lower == "ref")) or (
        language == "en" and is_unknown(word)
    )


def before_name(word: str, language: str, after_number: bool) -> bool:
    """True for an abbreviation that ends no sentence before a name. Small letters after a number are a unit's."""
    lower = word.lower()
    named = _NAMED if language == "en" else _TITLED
    if lower in read_in(language) or (lower in named and word[0].isupper()):
        return True
    known = language == "en" and lower in _NAMED and lower not in _WORDS | LAST_OR_NOT and "'" not in lower
    if after_number:
        return known and lower not in STOPPED_UNITS
    return known or (language == "en" and is_unknown(word))


def is_unknown(word: str) -> bool:
    """True for a short English word without vowels (Bldg, pkt), which must be an abbreviation; ssh and TV are names."""
    known = _CONSONANTS.fullmatch(word) is not None and word.lower() not in _INTERJECTIONS
    return known or (SHRUNK.fullmatch(word) is not None and shrunk_word(word.lower()) != "")


@lru_cache
def read_in(language: str) -> frozenset[str]:
    """Abbreviations that the rules of a language read, other than English, by the language code's first part."""
    tables = (table(language, "locale").get(name, ()) for name in ("abbreviations", "before_names"))
    return frozenset(name.split(" ")[-1].lower()[:-1] for read in tables for name in read if name[-1] == ".") - _ENDS


@lru_cache
def _numbered_in(language: str) -> frozenset[str]:
    """Abbreviations, months and weekdays of a language other than English that are read before a number."""
    locale = table(language, "locale")
    short = frozenset(name for names in ("short_months", "short_days") for name in locale.get(names, ()))
    before = locale.get("before_numbers", ())
    return short.union(name.split(" ")[-1].lower()[:-1] for name in before if name[-1] == ".")


@lru_cache
def short_months(language: str) -> frozenset[str]:
    """Beginnings of a language's months, of three or four letters."""
    months = table(language, "locale").get("months", ())
    return frozenset(month[:length] for month in months for length in (3, 4) if len(month) > length)
