"""The front's settings: the limits refuse what can't work."""

import sys

import pytest

from books.reading.open import MOST_BYTES
from frontend.settings.front import LONGEST_FILE, FrontSettings, JobSettings


@pytest.mark.parametrize("name", ["max_body_bytes", "max_input_characters"])
@pytest.mark.parametrize("value", [0, -1])
def test_a_limit_that_lets_nothing_through_is_refused_by_name(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 1, not {value}"):
        FrontSettings(**{name: value})


def test_an_announcement_without_its_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zeroconf", None)
    with pytest.raises(ValueError, match=r"wyoming_zeroconf needs the extra zeroconf: .*install .*zeroconf"):
        FrontSettings(wyoming_zeroconf=True)


def test_the_longest_upload_is_the_longest_file_that_is_read() -> None:
    assert JobSettings().max_job_bytes == LONGEST_FILE == MOST_BYTES


@pytest.mark.parametrize(("name", "value"), [("max_jobs", -1), ("jobs_between", "at night")])
def test_wrong_settings_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=name):
        JobSettings(**{name: value})  # type: ignore[arg-type]
