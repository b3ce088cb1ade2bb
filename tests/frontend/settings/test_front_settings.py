"""The front's settings: the limits refuse what can't work."""

from __future__ import annotations

import sys

import pytest

from frontend.settings.front import FrontSettings


@pytest.mark.parametrize("name", ["max_body_bytes", "max_input_characters"])
@pytest.mark.parametrize("value", [0, -1])
def test_a_limit_that_lets_nothing_through_is_refused_by_name(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 1, not {value}"):
        FrontSettings(**{name: value})


def test_an_announcement_without_its_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zeroconf", None)
    with pytest.raises(ValueError, match=r"wyoming_zeroconf needs the extra zeroconf: .*install .*zeroconf"):
        FrontSettings(wyoming_zeroconf=True)
