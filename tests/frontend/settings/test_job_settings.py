"""The settings of jobs: what nothing could work with is refused by name."""

from __future__ import annotations

import pytest

from books.reading.open import MOST_BYTES
from frontend.settings.front import LONGEST_FILE, JobSettings


def test_the_longest_upload_is_the_longest_file_that_is_read() -> None:
    assert JobSettings().max_job_bytes == LONGEST_FILE == MOST_BYTES


@pytest.mark.parametrize(("name", "value"), [("max_jobs", -1), ("jobs_between", "at night")])
def test_wrong_settings_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=name):
        JobSettings(**{name: value})  # type: ignore[arg-type]
