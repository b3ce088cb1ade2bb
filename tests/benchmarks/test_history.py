"""The self-checks that were kept, drawn."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.history import bars, history
from frontend.monitoring.selfcheck import Check, History
from supervisor.cli import kokoro_live


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three days of one engine and one of another, where a server keeps them."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_state_path", lambda *_, **__: tmp_path / "kokoro-live")
    file = tmp_path / "kokoro-live" / "selfchecks.jsonl"
    checks = History(file)
    for day, factor in enumerate((0.2, 0.4, 0.3)):
        checks.add(Check(1_700_000_000 + day * 86_400.0, "kokoro a", factor, 0.2))
    checks.add(Check(1_700_300_000.0, "kokoro b", 0.1, 0.2))
    return file


def test_each_engine_has_a_line_with_its_course(kept: Path, tmp_path: Path) -> None:
    found = CliRunner().invoke(kokoro_live, ["bench", "history", "--out", str(tmp_path / "out")])
    assert found.exit_code == 0, found.output
    rows = [line.split(" | ") for line in found.output.splitlines() if line.startswith("| kokoro")]
    assert [row[:6] for row in rows] == [
        ["| kokoro a", "3", "2023-11-14", "2023-11-16", "0.3", "0.3"],
        ["| kokoro b", "1", "2023-11-18", "2023-11-18", "0.1", "0.1"],
    ]
    assert rows[0][-1] == "▅█▆ |"


def test_a_history_that_is_not_there_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--selfcheck-hours 24"):
        history(tmp_path / "out", tmp_path / "selfchecks.jsonl")


def test_bars_rise_with_the_values() -> None:
    assert bars([0.0, 1.0, 2.0, 4.0]) == "▁▃▅█"
    assert bars([0.0]) == "▁"
