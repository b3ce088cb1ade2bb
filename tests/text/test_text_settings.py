"""The settings of texts: help for each, and values that can't work are refused by name."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from text.settings import TextSettings


def test_each_setting_has_help() -> None:
    assert all(setting.metadata["help"] for setting in fields(TextSettings))


def test_a_lexicon_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lexicon: there is no file"):
        TextSettings(lexicon=tmp_path / "none")
    (tmp_path / "mine.tsv").write_text("")
    assert TextSettings(lexicon=tmp_path / "mine.tsv").lexicon


def test_pauses_are_not_shorter_than_none() -> None:
    with pytest.raises(ValueError, match="max_pause_seconds must be 0 or more, not -1"):
        TextSettings(max_pause_seconds=-1)
