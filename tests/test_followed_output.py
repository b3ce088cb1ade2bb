"""Followed output: lines are found as they come, and their end is noticed."""

import os
import threading

from tests.followed_output import END, FollowedOutput

PATIENCE = 60.0


def test_a_line_is_found_when_it_comes_and_the_end_ends_the_wait() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as pipe:
        output = FollowedOutput(pipe)
        threading.Timer(0.01, os.write, (writing, b"first\nsecond 2\n")).start()
        found = output.find(r"second (\d)", PATIENCE)
        assert found and found[1] == "2"
        assert output.find("first", 0.0, start=1) is None
        os.close(writing)
        assert output.find("third", PATIENCE) is None
        output.join(PATIENCE)
        assert output.lines == ["first", "second 2", END]
