"""Classes of languages other than English in whatever form they are written, and random texts."""

import importlib
import pkgutil
import random
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from num2words import num2words

import text.normalization as rules
from benchmarks.reading_forms import held_out
from benchmarks.reading_languages import right, written
from tests.growth import grows_with_the_length
from tests.share import share
from text.locales.tables import languages, table
from text.normalization import normalize as normalization
from text.normalization.classes import cover, forms
from text.normalization.classes.tokens import Tokens
from text.normalization.draft import Draft
from text.normalization.eastern.eastern import Eastern, eastern_words
from text.normalization.normalize import normalize, rules_of
from text.normalization.settings import Normalization
from text.normalization.western.western import Western
from text.normalization.western.words import locale_of
from text.words.sanitize import sanitize

_WORDS, _DIGITS, _SPACES = "azbqEIVXM", "0123456789", " "
_CATEGORIES = {"CATEGORY_WORD": _WORDS + _DIGITS, "CATEGORY_DIGIT": _DIGITS, "CATEGORY_SPACE": _SPACES}
_CATEGORIES |= {"CATEGORY_NOT_SPACE": _WORDS, "CATEGORY_NOT_WORD": " ", "CATEGORY_NOT_DIGIT": _WORDS}
_MOST = 3
"""Most repetitions over the least, of what may be repeated."""


def sample(pattern: re.Pattern[str], drawn: random.Random) -> str | None:
    """Text in which the pattern is found, with what its look-ahead asks for; None if twenty draws find none."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE.value)
    drafts = (_text(tree, drawn, {}) for _ in range(20))
    return next((text for text in drafts if pattern.search(text)), None)


def _text(tree: Any, drawn: random.Random, groups: dict[int, str]) -> str:
    return "".join(_part(str(kind), value, drawn, groups) for kind, value in tree)


def _part(kind: str, value: Any, drawn: random.Random, groups: dict[int, str]) -> str:
    match kind:
        case "LITERAL":
            return chr(value)
        case "IN":
            return _one(value, drawn)
        case "NOT_LITERAL" | "ANY":
            return "q"
        case "BRANCH":
            return _text(drawn.choice(value[1]), drawn, groups)
        case "SUBPATTERN":
            text = _text(value[-1], drawn, groups)
            groups[value[0]] = text
            return text
        case "ATOMIC_GROUP":
            return _text(value, drawn, groups)
        case "ASSERT":
            return _text(value[1], drawn, groups)
        case "GROUPREF":
            return groups.get(value, "")
        case "GROUPREF_EXISTS":
            chosen = value[1] if groups.get(value[0]) else value[2]
            return _text(chosen, drawn, groups) if chosen else ""
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, repeated = value
            return "".join(
                _text(repeated, drawn, groups) for _ in range(drawn.randint(least, min(int(most), least + _MOST)))
            )
        case _:
            return ""


def _one(members: Any, drawn: random.Random) -> str:
    if str(members[0][0]) == "NEGATE":
        left_out = _all(members[1:])
        return next(sign for sign in (*drawn.sample("q5 ;£", 5), "ж") if sign not in left_out)
    kind, value = drawn.choice(members)
    if str(kind) == "RANGE":
        return chr(drawn.randint(*value))
    return drawn.choice(_CATEGORIES[str(value)]) if str(kind) == "CATEGORY" else chr(value)


def _all(members: Any) -> str:
    """The characters of a set, as far as a negated one must leave them out."""
    said = {"CATEGORY": lambda value: _CATEGORIES[str(value)], "LITERAL": chr}
    return "".join(said.get(str(kind), lambda _: "")(value) for kind, value in members)


_LINES = [line.split("\t") for line in Path(__file__).with_name("languages.tsv").read_text().splitlines()]
_SIGNS = [*"0123456789" * 3, *" " * 20, *".,:;/-–−+%°ºª€$£₹'’\"()xhmsIVXLABCdeklo½¼²³≥≤×÷=<>~#&@年月日时人円か到ख।े"]
_GROUPED = {"_": ("1_234_567", "98_765"), "'": ("1'234'567", "98'765"), "’": ("1’234’567",), " ": ("1 234 567",)}
_WRAPPED = ("({})", "“{}”", "**{}**", "«{}»")
_LANGUAGES = sorted({line[1] for line in _LINES})


def test_fields_are_read_in_nearly_all_their_forms() -> None:
    cases = [(code, case) for code, case in written(4, 60) if not held_out(case.family, case.form)]
    wrong = [(code, case.text) for code, case in cases if not right(code, case)]
    assert len(wrong) <= len(cases) / 100, wrong


@pytest.mark.parametrize("language", _LANGUAGES)
def test_shipped_cases_are_read_in_brackets_quotes_and_bold(language: str) -> None:
    def said(text: str) -> str:
        return normalize(sanitize(text), language, Normalization())

    wrong = []
    for family, code, text, expected in _LINES:
        plain = "\\n" not in text and "*" not in text and text[0] not in "#<&[" and "|" not in expected
        if family != "markup" and code == language and plain and not text.endswith((".", "。", "।")):
            wrong += [
                (form.format(text), heard)
                for form in _WRAPPED
                if (heard := said(form.format(text))) != form.replace("**", "").format(expected)
            ]
    assert wrong == []


@pytest.mark.parametrize("language", ["en-us", "es", "fr-fr", "it", "pt-br", "hi"])
def test_a_number_is_one_whatever_sign_groups_it(language: str) -> None:
    for sign, texts in _GROUPED.items():
        for text in texts:
            plain = text.replace(sign, "," if language in ("en-us", "hi") else ".")
            assert normalize(f"€{text}", language, Normalization()) == normalize(f"€{plain}", language, Normalization())


@pytest.mark.parametrize(("language", "ending"), [("es", "º"), ("pt-br", "º"), ("it", "°"), ("fr-fr", "er")])
def test_the_first_of_a_month_keeps_its_ending_in_a_date_of_digits(language: str, ending: str) -> None:
    for text in ("{}/05/2024", "{}/12/1998", "({}/3/24)", "{}-07-2001"):
        written, plain = (normalize(text.format(first), language, Normalization()) for first in (f"1{ending}", "01"))
        assert written == plain


@pytest.mark.parametrize(
    ("language", "lang", "nths"), [("es", "es", "primer tercer"), ("pt-br", "pt_BR", "primeiro terceiro")]
)
def test_a_quarter_is_read_with_its_year(language: str, lang: str, nths: str) -> None:
    for (quarter, nth), year in product(zip((1, 3), nths.split(), strict=True), (24, 2019, 2024)):
        said = normalize(f"({quarter}T{year})", language, Normalization())
        assert said == f"({nth} trimestre de {num2words(year, lang=lang)})"


UNITS = ("1 ", "1-", "12,5 ", "1.", "€ ", "I ", "1/2 ", "a. ", "12:30-", "3 x ", "1 000 ", "E1", "1:", "1年", "~")
"""Pieces whose repetition could take the square of its time; a language is asked for a third of them."""


@pytest.mark.parametrize("language", _LANGUAGES)
def test_no_text_fails_and_time_is_linear(language: str) -> None:
    drawn = random.Random(9)
    words = [word for line in _LINES if line[1] == language for word in line[2].split()]
    normalize("№2024-01-02 – Fed.", language, Normalization())
    for _ in range(share(100)):
        text = "".join(drawn.choices(_SIGNS, k=30)) if drawn.random() < 0.5 else " ".join(drawn.choices(words, k=5))
        normalize(sanitize(text), language, Normalization())
    for unit in UNITS[_LANGUAGES.index(language) % 3 :: 3]:

        def read(length: int, unit: str = unit) -> object:
            return normalize(sanitize((unit * length)[:length]), language, Normalization())

        assert grows_with_the_length(read, 1000), unit


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
    monkeypatch.setattr(Draft, "has", lambda draft, wanted: True)
    monkeypatch.setattr(cover, "_DIGIT", re.compile(""))
    rules_on = [
        rule._replace(needed=re.compile("")) for rule in normalization._rules_on(language.partition("-")[0], SETTINGS)
    ]
    monkeypatch.setattr(normalization, "_rules_on", lambda code, settings: rules_on)
    always = [normalize(text, language, SETTINGS) for text in texts]
    assert [each for each in zip(texts, said, always, strict=True) if each[1] != each[2]] == []


@pytest.mark.parametrize("samples", [1, pytest.param(share(25), marks=pytest.mark.slow)])
@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_say_the_same_if_each_is_applied_to_all(
    language: str, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(monkeypatch, cases(samples), language)


@pytest.mark.parametrize(("code", "language"), [("es", "es"), ("fr", "fr-fr"), ("it", "it"), ("pt", "pt-br")])
def test_no_word_is_a_cut_one_before_an_ellipsis_or_by_chance(code: str, language: str) -> None:
    locale = locale_of(code)
    cuts = [cut for cut in sorted(locale.cut) if not any(month.startswith(cut) for month in locale.months)]
    texts = [f"Xyl {cut}... xyl." for cut in random.Random(2).sample(cuts, 60)]
    texts += [f"Xyl {word}. xyl." for word in locale.whole.split()]
    assert [text for text in texts if normalize(text, language, Normalization()) != text] == []
    assert any(locale.cut[cut] in normalize(f"Xyl {cut}. 7 xyl.", language, Normalization()) for cut in locale.cut)


@pytest.mark.parametrize("code", ["ja", "cmn"])
def test_no_expression_is_found_without_the_signs_that_it_needs(code: str) -> None:
    drawn, asked, lacking = random.Random(5), 0, []
    for signs, steps in (getattr(rule.rewrite, "args", ((), ())) for rule in rules_of(code)):
        for pattern, _, ways in steps:
            text = sample(pattern, drawn) or ""
            normalize(sanitize(text), code, Normalization())
            asked += any(ways) and bool(text)
            lacking += [text] * (text != "" and all(way & signs.lacking(frozenset(text)) for way in ways))
    assert asked > 100 and lacking == []


@pytest.mark.parametrize("code", ["ja", "cmn"])
def test_a_unit_of_units_is_said_by_its_parts(code: str) -> None:
    words = eastern_words(code)
    units = [
        unit for unit in words.units if "{}" not in words.units[unit] and re.fullmatch("(?!pm)[a-zA-Zµ]{2,3}", unit)
    ]
    drawn = random.Random(3)
    for one, other in (drawn.choices(units, k=2) for _ in range(200)):
        name, per = words.units[one], words.rates.get(words.units[other])
        per = per or words.per_unit.format(words.units[other])
        written = {f"5{one}·{other}": f"五{name}{words.units[other]}", f"5{one}·{other}⁻¹": f"五{name}{per}"}
        if f"{one}/{other}" not in words.units:
            written[f"5{one}/{other}"] = f"五{name}{per}"
        said = {text: normalize(sanitize(text), code, Normalization()) for text in written}
        assert said == written


@pytest.mark.parametrize("code", ["en", "es", "it"])
def test_a_line_costs_no_more_if_a_table_has_twice_its_rows(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row with a word of three letters is there once more, with other such words; rows tried are counted."""
    counts: list[int] = []
    found = forms._Shelf.of

    def counted(shelf: forms._Shelf, folds: frozenset[str]) -> list[Any]:
        counts[-1] += len(rows := found(shelf, folds))
        return rows

    monkeypatch.setattr(forms._Shelf, "of", counted)
    written = {
        name: {each: rows[each] for each in rows if each != "cues"} for name, rows in table(code, "forms").items()
    }
    added = {
        name: rows | {re.sub(r"[^\W\d_]{3,}", "\\g<0>zqzqzqzq", each): rows[each] for each in rows}
        for name, rows in written.items()
    }
    lines = [Tokens(re.sub(r"\{.\}", "7", each)) for rows in written.values() for each in list(rows)[::20]]
    for each in (written, added):
        counts.append(0)
        parse = forms.Forms(each, lambda number, _: number, lambda number, _: str(number)).parse
        for line in lines:
            for place in range(len(line.tokens)):
                list(parse(line, place, False))
    assert counts[0] == counts[1] > len(lines)
