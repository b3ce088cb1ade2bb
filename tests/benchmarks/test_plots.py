"""Pictures, where matplotlib is; reports without them, where it isn't."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.measuring.plots import Plot, draw

PLOT = Plot("Streams without a gap", "listeners", "without a gap", {"one": [(1, 1), (2, 2)], "other": [(1, 1)]})


def test_a_plot_is_a_picture_with_its_names(tmp_path: Path) -> None:
    (path,) = draw([PLOT], tmp_path)
    assert path.name == "streams-without-a-gap.svg"
    assert path.read_text().count("<g") > 10


def test_without_matplotlib_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert draw([PLOT], tmp_path) == []
    assert not list(tmp_path.iterdir())
