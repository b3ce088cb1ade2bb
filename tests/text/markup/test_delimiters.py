"""Cut marks of one's own: any expression marks what Python's own engine marks, in time linear in the text."""

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from text.markup import delimiters
from text.markup.delimiters import LONGEST_MARK, MOST_CHARACTERS, MOST_SIGNS, ends_of_marks, wrong_delimiters

EXPRESSIONS = ("[.;] ", ";", "(?i)an?d", r"\bcut\b", "^a", r"\n{2,}", "b$", "é+", "(a|b;)+", "[^a]b", ".;")


def joined(spans: list[tuple[int, int]]) -> list[int]:
    """The ends of spans, of which those that touch are one."""
    begins = {begin for begin, _ in spans}
    return [end for _, end in spans if end not in begins]


@given(st.sampled_from(EXPRESSIONS), st.text("ab;. é\ncutnd🙂", max_size=60), st.integers(0, 8))
def test_an_expression_marks_what_pythons_own_marks(expression: str, text: str, times: int) -> None:
    """Also across the edges of the windows in which marks are sought."""
    text = "x" * (times * 17) + text + "\n" * times + text
    pattern = re.compile(expression.replace("$", r"\Z"))
    spans = [found.span() for found in pattern.finditer(text) if 0 < len(found[0]) <= LONGEST_MARK]
    if any(len(found[0]) > LONGEST_MARK for found in pattern.finditer(text)):
        return  # a long mark is none; what follows in it may be
    assert list(ends_of_marks(f"/{expression}/", text)) == joined(spans)


def test_a_mark_is_found_whole_wherever_it_begins() -> None:
    for before in range(3 * LONGEST_MARK):
        for length in (1, 2, LONGEST_MARK - 1, LONGEST_MARK):
            text = "-" * before + "<" + "a" * (length - 1) + "-" * 120
            assert list(ends_of_marks("/<a*/", text)) == [before + length]
        assert list(ends_of_marks("/<a*/", "-" * before + "<" + "a" * LONGEST_MARK + "-" * 120)) == []


@pytest.mark.parametrize(
    "delimiters",
    ["/[/", "/(?=x)/", r"/(a)\1/", "/((a{100}){100}){100}/", "/a*/", "/$/", "/x|/", f"/{'a' * (MOST_CHARACTERS - 1)}/"],
)
def test_an_expression_that_cant_be_used_is_told_why(delimiters: str) -> None:
    assert len(wrong_delimiters(delimiters)) > 20


@pytest.mark.parametrize("fine", ["", "/", "//", ";|", "\n", "/;/", "/a/", r"/\p{Lu}/", "/(x+x+)+y/", ";" * MOST_SIGNS])
def test_signs_and_expressions_that_can_be_used(fine: str) -> None:
    assert not wrong_delimiters(fine)


class Counted:
    """An expression that counts the characters that each search may see."""

    def __init__(self, inner: Any, counts: Counter[str]) -> None:
        self._inner, self._counts = inner, counts

    def search(self, text: str, *args: int) -> Any:
        self._counts["characters"] += len(text)
        return self._inner.search(text, *args)


@pytest.mark.parametrize("expression", ["a.*b|a", "(a|aa|aab?)*c|a", "(.*)(.*)(.*)x|a", "(x+x+)+y", "(a?){90}b|a"])
def test_all_marks_of_a_text_take_time_linear_in_it(expression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """RE2's each search is linear; here the searches of a whole text are, though each could read to its end."""
    counts: Counter[str] = Counter()
    compiled = Counted(delimiters._compiled(expression), counts)
    monkeypatch.setattr(delimiters, "_compiled", lambda _expression: compiled)
    seen = []
    for length in (2000, 4000):
        counts.clear()
        list(ends_of_marks(f"/{expression}/", "a" * length))
        seen.append(counts["characters"])
    assert seen[1] <= 2.1 * seen[0] <= 2.1 * 2000 * (2 * LONGEST_MARK + 1)
