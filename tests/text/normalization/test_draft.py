"""Rules and searches that are left out where they would find nothing."""

import importlib
import pkgutil
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import text.normalization as rules
from tests.share import share
from tests.text.normalization.samples import sample
from text.locales.tables import languages
from text.normalization import normalize as normalization
from text.normalization.draft import Draft
from text.normalization.eastern.eastern import Eastern, eastern_words
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.normalization.western.western import Western
from text.normalization.western.words import locale_of
from text.words.sanitize import sanitize

LANGUAGES = ("en-us", "es", "fr-fr", "it", "pt-br", "hi", "ja", "cmn")
SETTINGS = Normalization().without(["markdown"])
ODD = "$5|St.|v.|No.|1/2|-.5|+1|(0)|Mr.|Jan.|I|IV|Part|x|×|°|'80s|±|£|US|Co.|vs|etc.|#7|§|9:05|Fig.|ft.|km|–|=|>|U.S.|&"


def patterns() -> Iterator[re.Pattern[str]]:
    """Regular expressions of all rules."""
    holders: list[object] = [Eastern(eastern_words(code)) for code in ("ja", "cmn")]
    holders += [Western(locale) for code in languages("locale") if (locale := locale_of(code))]
    holders += [
        importlib.import_module(each.name) for each in pkgutil.walk_packages(rules.__path__, f"{rules.__name__}.")
    ]
    for holder in holders:
        yield from (each for each in vars(holder).values() if isinstance(each, re.Pattern))


def cases(each: int) -> list[str]:
    """The lines of the golden files, their words alone and in other company, and `each` samples of every expression."""
    files = (Path(__file__).with_name(name).read_text().splitlines() for name in ("golden.tsv", "hard.tsv"))
    lines = [line.split("\t")[2] for lines in files for line in lines]
    drawn = random.Random(20)
    words = [word for text in lines for word in text.split()] + 40 * ODD.split("|")
    mixed = [drawn.choice(("", " ")).join(drawn.choices(words, k=6)) for _ in range(200)]
    sampled = [sample(pattern, drawn) or "" for pattern in patterns() for _ in range(each)]
    return [sanitize(text) for text in dict.fromkeys(lines + ODD.split("|") + mixed + sampled)]


def check(monkeypatch: pytest.MonkeyPatch, texts: list[str], language: str) -> None:
    said = [normalize(text, language, SETTINGS) for text in texts]
    for asks in ("has", "says_folded"):
        monkeypatch.setattr(Draft, asks, lambda draft, wanted: True)
    monkeypatch.setattr(Draft, "replace_numbers", Draft.replace)
    rules_on = [
        rule._replace(needed=re.compile("")) for rule in normalization._rules_on(language.partition("-")[0], SETTINGS)
    ]
    monkeypatch.setattr(normalization, "_rules_on", lambda code, settings: rules_on)
    always = [normalize(text, language, SETTINGS) for text in texts]
    assert [each for each in zip(texts, said, always, strict=True) if each[1] != each[2]] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_say_the_same_if_each_is_applied_to_all(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(monkeypatch, cases(2), language)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_say_the_same_of_more_samples(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(monkeypatch, cases(share(25)), language)
