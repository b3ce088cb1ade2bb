"""The settings of texts: help for each, and values that can't work are refused by name."""

from pathlib import Path

import pytest

from text.normalization.settings import Normalization
from text.settings import TextSettings


def test_a_lexicon_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lexicon: there is no file"):
        TextSettings(lexicon=tmp_path / "none")
    (tmp_path / "mine.tsv").write_text("")
    assert TextSettings(lexicon=tmp_path / "mine.tsv").lexicon


@pytest.mark.parametrize(
    ("pauses", "says"),
    [
        (("heading=-1",), "pauses: heading must be seconds from 0 up, not '-1'"),
        (("dash=long",), "pauses: dash must be"),
        (("dash=inf",), "pauses: dash must be"),
        (("comma=1",), "pauses: there is no pause 'comma'"),
        (("dash",), "pauses: dash must be"),
    ],
)
def test_a_pause_has_a_known_name_and_a_length(pauses: tuple[str, ...], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        TextSettings(pauses=pauses)


def test_rules_are_left_out_by_name() -> None:
    rules = TextSettings(normalize_without=("dates", "money"), normalize_emoji_names=True).normalization
    assert rules == Normalization(emoji_names=True).without(("dates", "money"))
    assert TextSettings().normalization == Normalization()
    with pytest.raises(ValueError, match=r"normalize_without: there is no rule 'datse'; there are .*dates"):
        TextSettings(normalize_without=("datse",))
