"""docs/origin.md: its counts are those of its rows, and each row shows where by a link, a file or a command."""

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.test_documents import anchors, commands

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "origin.md"
STATES = ("works", "works in another way", "refused", "half there", "missing", "needs hardware")


class Row(NamedTuple):
    thing: str
    state: str
    where: str


def tables(text: str) -> list[list[str]]:
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows]


HEAD, _, LISTS = DOCUMENT.read_text().partition("\n## ")
ROWS = [Row(*row) for row in tables(LISTS) if row[0] != "thing"]


def test_the_counts_are_those_of_the_rows() -> None:
    counted = Counter(row.state for row in ROWS)
    assert set(counted) <= set(STATES)
    assert {state: int(count) for state, count in tables(HEAD) if count != "things"} == dict(counted)
    good = counted["works"] + counted["works in another way"]
    assert f"are {good} of {len(ROWS)}." in HEAD and f"names {len(ROWS)} things" in HEAD


def test_no_thing_stands_there_twice() -> None:
    assert [thing for thing, count in Counter(row.thing for row in ROWS).items() if count > 1] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.thing)
def test_each_thing_is_shown_somewhere(row: Row) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", row.where)
    for name, anchor in links:
        target = DOCUMENT.parent / name
        assert target.is_file()
        assert not anchor or anchor in anchors(target)
    code = re.findall(r"`([^`]+)`", row.where)
    files = [name for name in code if re.fullmatch(r"[\w./-]+/[\w.-]+\.(py|md)", name)]
    assert not [name for name in files if not (ROOT / name).is_file()]
    named = [name.split()[1] for name in code if name.startswith("kokoro-live ")]
    assert set(named) <= {names[0] for names in commands()}
    modules = [name.split()[2] for name in code if name.startswith("python -m ")]
    assert not [name for name in modules if not (ROOT / f"{name.replace('.', '/')}.py").is_file()]
    if row.state in ("works", "works in another way", "needs hardware"):
        assert links or files or named or modules or row.where.startswith("`/status`")
    if row.state == "refused":
        assert any(name.startswith("decisions/") for name, _ in links)
