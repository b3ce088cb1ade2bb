"""Every regular expression of the product: no accidental range, and time that grows with the text's length."""

import math
import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from tests.expressions import ROOT, Expression, expressions, unseen
from tests.growth import limited_seconds

_MEANT = {
    ("\x00", "\x08"): "control characters, which XML forbids",
    ("\x0e", "\x1f"): "control characters, which XML forbids",
    ("\x00", "\x1f"): "control characters, in file names",
    ("\x00", "\u20e2"): "everything before the signs that emoji consist of",
    (" ", "~"): "ASCII",
    (" ", "/"): "the intermediate bytes of a terminal's codes",
    ("0", "?"): "their parameter bytes",
    ("@", "~"): "their final bytes",
    (" ", "\ud7ff"): "XML's characters",
    ("!", "+"): "ASCII without the comma",
    ("-", "~"): "ASCII without the comma",
}
"""Ranges between characters of two kinds, with their purposes."""

SIGNS = "aAeMsx1 0.,:;-_/\\'\"()[]{}<>*#@&=+~`|!?$%^€°·…—–\t\n字あकé²½₂🙂"
_LENGTH = 500
_SLOW = 1.5e-6 * _LENGTH
"""Processor seconds above which a time is looked at; one piece of text takes a twentieth of it."""


def test_every_place_that_compiles_an_expression_is_known() -> None:
    assert len(expressions()) > 400
    assert [each for each in unseen() if not each.startswith(("worker/", "supervisor/"))] == [
        "books/making/casting.py: after",
        "books/making/casting.py: before",
        "books/reading/chapters.py: '|'.join((title for titles in tables for title in titles.get(name, ())))",
    ], "an expression that is compiled late is neither scanned for ranges nor for its time"


def test_no_range_is_an_accident() -> None:
    found = {
        f"{each}: {low!r}-{high!r}"
        for each in expressions()
        for low, high in _ranges(_parser.parse(each.pattern, each.flags))
        if (low, high) not in _MEANT and _kind(low) != _kind(high)
    }
    assert not found


def test_the_scan_sees_an_accident() -> None:
    for accident in ("[+-−]", "x(?:[,-.]|y)*", "[A-z]", "(?<![!-a])", "[^)-=]+"):
        ((low, high),) = _ranges(_parser.parse(accident))
        assert _kind(low) != _kind(high)


def test_possessive_repeats_are_of_single_signs() -> None:
    """Python before 3.11.5 (Debian 12 has 3.11.2) matches `(?:ab|c)*+` wrongly; `(?>(?:ab|c)*)` is as possessive."""
    found = {str(each) for each in expressions() if _possessive(_parser.parse(each.pattern, each.flags))}
    assert not found


def test_the_scan_sees_a_compound_possessive_repeat() -> None:
    assert all(_possessive(_parser.parse(each)) for each in ("(?:ab|c)*+", "x(?P<y>(?:[^z]|zz){1,9}+)", "(?:a+)?+"))
    assert not any(
        _possessive(_parser.parse(each)) for each in ("a++", "[ab]*+c", r"(?>(?:ab|c)*)", r"\d{1,3}+", "(?:a)?+")
    )


_SINGLE = (_constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY)


def _possessive(parsed: Any) -> bool:
    """True if something that consists of more than one sign is repeated possessively."""
    if isinstance(parsed, tuple) and len(parsed) == 2 and parsed[0] is _constants.POSSESSIVE_REPEAT:
        body = parsed[1][2]
        if len(body) != 1 or body[0][0] not in _SINGLE:
            return True
    return isinstance(parsed, list | tuple | _parser.SubPattern) and any(map(_possessive, parsed))


def _ranges(parsed: Any) -> Iterator[tuple[str, str]]:
    if isinstance(parsed, tuple) and len(parsed) == 2 and parsed[0] is _constants.RANGE:
        yield chr(parsed[1][0]), chr(parsed[1][1])
    elif isinstance(parsed, list | tuple | _parser.SubPattern):
        for part in parsed:
            yield from _ranges(part)


def _kind(character: str) -> object:
    """Equal for the ends of a range that is meant: letters of one case, digits, or anything outside ASCII. A sign of
    ASCII is of no kind but its own."""
    if not character.isascii():
        return "beyond"
    if character.isdigit():
        return "digit"
    return character.isupper() if character.isalpha() else character


@pytest.mark.parametrize("first_letter", ["b", "f", "psw"])
def test_the_time_of_an_expression_grows_with_the_length(first_letter: str) -> None:
    chosen = random.Random(1).sample(_units(2), 15) + list(SIGNS)
    assert _slow_ones([each for each in expressions() if each.file[0] in first_letter], chosen, [""]) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_the_time_of_an_expression_grows_with_the_length_of_any_repetition(part: int) -> None:
    chosen = _units(2) + random.Random(part).sample(_units(3), 500)
    assert _slow_ones(list(expressions())[part::8], chosen, ["", "!", "a", "1"]) == []


def test_the_scan_sees_quadratic_time() -> None:
    planted = Expression(str(ROOT), 1, r"(?=[0-9a-f:]*::?[0-9a-f])(?:[0-9a-f]{1,4}:)+x", 0)
    endless = Expression(str(ROOT), 1, r"(?:>+ ?|[-*+] )*```", 0)
    assert len(_slow_ones([planted, endless], [":", ">"], [""])) == 2


def _units(signs: int) -> list[str]:
    return ["".join(each) for each in product(SIGNS, repeat=signs)]


_SHORT = {"text/sentences/sentences.py: _LAST_WORDS": "the 48 characters before a full stop"}
"""Expressions that get short texts only, and these texts."""


def _slow_ones(found: list[Expression], units: list[str], ends: list[str]) -> list[str]:
    """The expressions whose time on a repetition of one of the units grows faster than its length."""
    return [
        f"{each}: {method} of {unit!r} … {end!r}"
        for each in found
        if each.place not in _SHORT
        for method in each.methods
        for unit, end in product(units, ends)
        if _seconds(run := _running(each.compiled, method), unit, end, 1) > _SLOW and not _is_linear(run, unit, end)
    ]


def _running(compiled: re.Pattern[str], method: str) -> Callable[[str], object]:
    if method == "finditer":
        return lambda text: sum(1 for _ in compiled.finditer(text))
    if method == "sub":
        return lambda text: compiled.sub("", text)
    run: Callable[[str], object] = getattr(compiled, method)
    return run


def _is_linear(run: Callable[[str], object], unit: str, end: str) -> bool:
    """Four times the length costs less than nine times as much, from a length at which bounded parts are full."""
    return any(
        (short := _seconds(run, unit, end, 3)) < math.inf and _seconds(run, unit, end, 12) < 9 * short + 0.002
        for _ in range(2)
    )


def _seconds(run: Callable[[str], object], unit: str, end: str, times: int) -> float:
    text = (unit * (times * _LENGTH))[: times * _LENGTH] + end
    return limited_seconds(partial(run, text), 0.4)
