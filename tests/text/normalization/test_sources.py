"""LaTeX's prose and rows of CSV: what is said of them is what is said of the text that they hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import grows_with_the_length
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization

_ON = Normalization()
_PLAIN = st.text("abcdefg", min_size=4, max_size=8)
_DRESSED = st.sampled_from(
    (
        "{}",
        r"\emph{{{}}}",
        r"\textbf{{\textit{{{}}}}}",
        r"{{\large {}}}",
        r"{}~\cite[p.~4]{{key:2019}}",
        r"\href{{https://a.b/c}}{{{}}}",
        "{}\\label{{a}} % a note\n",
        r"\textcolor{{red}}{{{}}}",
        r"\vspace{{1em}}\noindent {}",
    )
)


def said(text: str) -> str:
    return normalize(text, "en-us", _ON)


@given(st.lists(st.tuples(_PLAIN, _DRESSED), min_size=2, max_size=8))
def test_dress_of_words_is_not_said(words: list[tuple[str, str]]) -> None:
    text = " ".join(dress.format(word) for word, dress in words)
    assert said(f"\\section{{Head}}\n{text} end.").split() == ["Head", *(word for word, _ in words), "end."]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (r"\item We saw~$x^2$ and \(y\) at 5\% \& \$3", "We saw x squared and y at five percent and three dollars"),
        (r"\emph{A}---``caf\'e'' na\"{\i}ve\footnote{so} \LaTeX{} \v{C}apek", "A—“café” naïve (so) LaTeX Čapek"),
        ("\\caption{Cost}\nTea & 3 \\\\\nMilk \\& 4", "Cost\nTea, 3\nMilk and 4"),
        (r"Say `\emph{x}` now \emph{here}", r"Say \emph{x} now here"),
        (r"$\textbf{x} = 1$ at 5 % of 7~mm", "x equals one at five percent of 7~mm"),
    ],
)
def test_signs_and_formulas_of_latex_are_said(written: str, expected: str) -> None:
    assert said(written) == expected


@given(st.lists(st.lists(_PLAIN, min_size=3, max_size=3), min_size=3, max_size=6), st.sampled_from(",;"), st.booleans())
def test_values_of_csv_follow_their_headings(cells: list[list[str]], sign: str, quoted: bool) -> None:
    rows = [["Name", "Part", "Count"], *([a, b, str(len(c))] for a, b, c in cells)]
    text = "\n".join(sign.join(f'"{cell}"' if quoted else cell for cell in row) for row in rows)
    expected = [f"{one}, Part: {two}, Count: {three}" for one, two, three in rows[1:]]
    assert said(text).split("\n") == ["Name, Part, Count", *expected]
    assert said("Name,At\nAnn,2024-01-05 14:22:31\nBob,2024-01-06").startswith("Name, At\nAnn: January fifth")


@pytest.mark.parametrize("text", ["Dear Ann,\nso long,\nBob,", "a,b\nc,d\ne,f", "Red,1\nblue,2", "A,1,x\nb,2\nc,3"])
def test_lines_with_commas_are_no_csv(text: str) -> None:
    assert said(text).split() == text.split()


@pytest.mark.parametrize("written", [r"\emph{", r"\item{}", "\\section{a{b{c", r"`\emph", '"a",', 'a,1\n"', "%\\cite["])
def test_time_grows_with_the_length(written: str) -> None:
    assert grows_with_the_length(lambda length: said(r"\item " + written * (length // len(written))), 2_000)
