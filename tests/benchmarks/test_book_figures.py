"""Figures of killed books go into a file of JSON."""

import json
from collections import Counter

from benchmarks.books.kills import KilledBook


def test_kills_are_counted_by_victim_in_the_file() -> None:
    found = KilledBook(chapters=20, passages=180, kills=Counter(worker=3, front=2))
    told = json.loads(json.dumps(found.figures()))
    assert told["kills"] == {"worker": 3, "front": 2}
    assert told["passages"] == 180
