"""The table of what is read right: every shipped case is counted once, and each class is in it."""

from __future__ import annotations

from benchmarks.pronunciation import homographs, normalisation


def test_every_case_is_counted() -> None:
    rows = normalisation().rows
    assert sum(int(str(row[3])) for row in rows) >= 800
    assert {"en-us", "en-gb", "es", "fr-fr", "it", "pt-br", "hi", "ja", "cmn"} == {row[0] for row in rows}
    assert all(row[2] == row[3] for row in rows)


def test_homographs_are_counted_by_set() -> None:
    found = {row[0]: (row[1], row[2]) for row in homographs().rows}
    assert found["held"][1] == 50
    assert all(int(str(right)) / int(str(total)) > 0.8 for right, total in found.values())
