"""MathML is read as the TeX that means the same, in a text of the same length."""

import pytest

from text.normalization.layout import mathml_as_tex
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.words.sanitize import sanitize


def said(text: str, language: str = "en-us") -> str:
    return normalize(sanitize(text), language, Normalization())


@pytest.mark.parametrize(
    ("mathml", "tex"),
    [
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", r"\frac{1}{2}"),
        ("<msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mn>1</mn>", "x^{2}+1"),
        ("<mrow><msub><mi>a</mi><mi>i</mi></msub><mo>=</mo><msqrt><mi>b</mi></msqrt></mrow>", r"a_{i}=\sqrt{b}"),
        ("<msubsup><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></msubsup>", r"\sum_{i=1}^{n}"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt[3]{x}"),
    ],
)
def test_mathml_is_said_as_tex(mathml: str, tex: str) -> None:
    formula = f"So <math>{mathml}</math> holds."
    assert said(formula) == said(f"So ${tex}$ holds.")
    assert "math" not in said(formula)
    assert len(mathml_as_tex(formula, with_tex=True)) == len(formula)


def test_its_own_annotation_in_tex_wins() -> None:
    formula = '<math><semantics><mi>q</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math>'
    assert said(formula) == said("$x^2$")


@pytest.mark.parametrize("broken", ["<math><mi>x</math>", "<math><mi>x</mi>&bogus;</math>"])
def test_what_is_no_xml_loses_its_tags(broken: str) -> None:
    assert "<" not in said(f"So {broken} holds.")
    assert "mi" not in said(f"So {broken} holds.")


def test_other_languages_read_its_characters() -> None:
    assert said("Sea <math><mi>x</mi><mo>=</mo><mn>2</mn></math>.", "es") == said("Sea x=2.", "es")


def test_linear_time() -> None:
    said("<math>" * 20_000)
    said("<math>" + "<mi>" * 20_000 + "</math>")
