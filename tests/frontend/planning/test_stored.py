"""Profiles from a file: plans begin with them, and what isn't one is refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from frontend.planning.costs import Account, Ledger
from frontend.planning.profile import CostProfile
from frontend.planning.stored import read_profiles, stored_profiles
from frontend.settings.front import FrontSettings
from tests.frontend.http_fakes import ENGINE

MEASURED = CostProfile(per_token=0.003, audio_per_token=0.08)


def test_an_engine_begins_with_what_was_stored_of_it(tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    file.write_text(json.dumps({Account(ENGINE).label: MEASURED.as_dict()}))
    account = Ledger(stored=read_profiles(file)).of(ENGINE)
    assert account.profile == MEASURED
    assert account.costs.seconds(100, 1.0) == pytest.approx(0.3)
    assert not account.measured
    assert Ledger().of(ENGINE).profile != MEASURED


@pytest.mark.parametrize("content", ["", "[]", '{"kokoro": 1}', '{"kokoro": {"per_token": -1, "audio_per_token": 1}}'])
def test_what_is_no_profile_is_refused_at_start(tmp_path: Path, content: str) -> None:
    file = tmp_path / "costs.json"
    file.write_text(content)
    with pytest.raises(ValueError, match=r"costs\.json"):
        FrontSettings(cost_profiles=file)
    with pytest.raises(ValueError, match="gone"):
        FrontSettings(cost_profiles=tmp_path / "gone")


def test_a_front_that_starts_after_the_file_was_deleted_begins_with_a_guess_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert stored_profiles(tmp_path / "gone.json") == {}
    assert "gone.json" in caplog.text
    assert stored_profiles(None) == {}
