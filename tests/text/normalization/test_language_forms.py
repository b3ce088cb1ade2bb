"""Classes of languages other than English in whatever form they are written, and random texts."""

import random
from itertools import product
from pathlib import Path

import pytest
from num2words import num2words

from benchmarks.reading_forms import held_out
from benchmarks.reading_languages import right, written
from tests.growth import grows_with_the_length
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.words.sanitize import sanitize

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


@pytest.mark.parametrize("language", _LANGUAGES)
def test_no_text_fails_and_time_is_linear(language: str) -> None:
    drawn = random.Random(9)
    words = [word for line in _LINES if line[1] == language for word in line[2].split()]
    normalize("№2024-01-02 – Fed.", language, Normalization())
    for _ in range(300):
        text = "".join(drawn.choices(_SIGNS, k=30)) if drawn.random() < 0.5 else " ".join(drawn.choices(words, k=5))
        normalize(sanitize(text), language, Normalization())
    for unit in (
        "1 ",
        "1-",
        "12,5 ",
        "1.",
        "€ ",
        "I ",
        "1/2 ",
        "a. ",
        "12:30-",
        "3 x ",
        "1 000 ",
        "E1",
        "1:",
        "1年",
        "~",
    ):

        def read(length: int, unit: str = unit) -> object:
            return normalize(sanitize((unit * length)[:length]), language, Normalization())

        assert grows_with_the_length(read, 1000), unit
