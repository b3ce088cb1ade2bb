"""Formulas between TeX's delimiters, and signs of money and brackets that are none."""

from __future__ import annotations

import re

import pytest

from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.words.sanitize import sanitize


def said(text: str) -> str:
    return normalize(sanitize(text), "en-us", Normalization())


@pytest.mark.parametrize(
    "formula",
    [
        r"\frac{a}{b} = 2",
        "n-1",
        "x_1 + y_2",
        "a^2 + b^2 = c^2",
        r"2 \times 3",
        "n",
        "2k",
        r"\text{if } x > 0",
        "a*b*c = d",
        "|x| < 1",
    ],
)
@pytest.mark.parametrize("around", ["Here {} holds.", "- **Note**: {}, and `code`.", "{}", "> See [docs][1]: {}!"])
def test_a_formula_is_read_alike_between_any_delimiters(formula: str, around: str) -> None:
    forms = [f"${formula}$", f"$${formula}$$", rf"\({formula}\)", rf"\[{formula}\]", f"$$\n{formula}\n$$"]
    heard = {" ".join(said(around.format(form)).split()) for form in forms}
    assert len(heard) == 1
    assert not re.search(r"[\\$_^{}]", heard.pop())


@pytest.mark.parametrize("second", ["$6", "$6.50", "$6-$7", "US$6", "$6M"])
@pytest.mark.parametrize("joint", [" and ", " or ", "-", "/", ", ", " to "])
def test_prices_are_no_formula(joint: str, second: str) -> None:
    assert "dollars" in said(f"It costs $5{joint}{second} there.")


@pytest.mark.parametrize("text", [r"a \[citation needed\] b", r"a \(not a formula\) b"])
def test_escaped_brackets_around_prose_stay_brackets(text: str) -> None:
    assert said(text) == text.replace("\\", "")
