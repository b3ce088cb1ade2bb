"""Formulas between TeX's delimiters, and signs of money and brackets that are none."""

import random
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


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (r"\sum_{i=1}^{n} i", "the sum from i equals one to n of i"),
        (r"\int_0^1 x^2 \, dx", "the integral from zero to one of x squared d x"),
        (r"\lim_{x \to \infty} f(x) = 0", "the limit as x goes to infinity of f of x equals zero"),
        (r"x \in \mathbb{R}", "x in the real numbers"),
        (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} = A", "the two by two matrix, one, two, three, four equals A"),
        (r"P(A \mid B) = 1", "P of A given B equals one"),
        (r"\hat{y} = \bar{x}", "y hat equals x bar"),
        (r"A^T B^{-1} = 1", "A transpose B to the minus one equals one"),
        (r"\sqrt[3]{x} = 2", "the cube root of x equals two"),
        (r"\binom{n}{k} = 1", "n choose k equals one"),
        (r"\frac{3}{4} + \frac{a}{b}", "three quarters plus a over b"),
        (r"\mathbb{E}[X] = 2", "E of X equals two"),
        (r"n(n+1) = 2", "n times n plus one equals two"),
        (r"30^\circ = x", "thirty degrees equals x"),
    ],
)
def test_a_formula_is_said_as_a_reader_would(formula: str, words: str) -> None:
    assert said(rf"\({formula}\)") == words


def test_an_environment_needs_no_delimiters() -> None:
    assert said(r"\begin{align} a &= b \\ c &= d \end{align}") == "a equals b, c equals d"


def test_nested_and_broken_formulas_raise_nothing_and_take_linear_time() -> None:
    for part in ("{", "(", "|", r"\frac", "^", "_", r"\begin{matrix}", r"\sqrt[", r"\sum_", "&"):
        for form in (f"${part * 90}x=1$", rf"\({part * 20}\)"):
            assert isinstance(said(form), str)
    randomness = random.Random(2)
    parts = [
        *r"{}()[]|^_&'$,.=<x2",
        r"\{",
        r"\}",
        r"\\",
        r"\frac",
        r"\sum",
        r"\left",
        r"\text{a}",
        r"\end{matrix}",
        r"\begin{cases}",
    ]
    for _ in range(2000):
        formula = "".join(randomness.choices(parts, k=randomness.randint(1, 30)))
        assert isinstance(said(rf"\({formula}=1\) and ${formula}=1$"), str)
