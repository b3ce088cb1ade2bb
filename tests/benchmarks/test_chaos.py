"""The long loops of kills: run in parts, and added up."""

from benchmarks.chaos import COLUMNS, added, arguments_of
from benchmarks.chaos_forms import places_of
from tests.chaos.kill_points import FRONT


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
