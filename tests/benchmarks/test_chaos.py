"""The long loops of kills: run in parts, and added up."""

from __future__ import annotations

import pytest

from benchmarks.chaos import COLUMNS, added, arguments_of
from benchmarks.chaos_forms import places_of, tell
from tests.chaos.kill_points import FRONT
from tests.chaos.listeners import Heard


def part(kills: int, residue: str = "none", *broken: str) -> dict[str, object]:
    return {**dict.fromkeys(COLUMNS, kills), "residue": residue, "broken": list(broken), "seed": 1, "minutes": 2.0}


def test_parts_of_a_form_add_up_and_keep_what_was_broken() -> None:
    found = added(part(300, "CHANGED", "sealed: a stream is not whole"), part(600))
    assert [found[column] for column in COLUMNS] == [900] * len(COLUMNS)
    assert (found["residue"], found["broken"], found["minutes"]) == ("CHANGED", ["sealed: a stream is not whole"], 4.0)


def test_the_parts_of_the_fronts_kill_points_are_all_of_them() -> None:
    first, second = list(FRONT)[:4], list(FRONT)[4:]
    parts = [
        places_of("front", arguments_of(["--points", ",".join(each), "--kinds", "front-points"]).points)
        for each in (first, second)
    ]
    assert parts[0] | parts[1] == FRONT and not parts[0].keys() & parts[1].keys()


@pytest.mark.parametrize(
    "given",
    [
        ["--kinds", "everything"],
        ["--kinds", "front-points", "--points", "ring-half"],
        ["--kinds", "front", "--points", "parsed"],
        ["--add"],
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_runs(given: list[str]) -> None:
    with pytest.raises(SystemExit):
        arguments_of(given)


def test_progress_says_what_has_been_heard_so_far(capsys: pytest.CaptureFixture[str]) -> None:
    histories = [Heard(0, "One.", 1.0, ending="answered", ended=2.0), Heard(1, "Two.", 1.0)]
    tell(10, 100, histories)
    tell(11, 100, histories)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1 and said[0].startswith("10 of 100: 1 streams,") and "1 failed" in said[0]
