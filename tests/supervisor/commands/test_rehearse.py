"""Rehearsal: the sound that a new version must have to be taken, and its callers."""

import math

import pytest
from click.testing import CliRunner

from shm.handover import PROTOCOL
from supervisor.commands.rehearse import NotWell, RehearsedSpeech, _compare, rehearse

RUNNING = RehearsedSpeech(5.0, -20.0)


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (RUNNING, RUNNING),
        (RehearsedSpeech(5.5, -23.0), RUNNING),
        (RUNNING, None),
        (RUNNING, RehearsedSpeech(0.1, -math.inf)),
    ],
)
def test_a_version_that_speaks_alike_is_well(own: RehearsedSpeech, other: RehearsedSpeech | None) -> None:
    """Nor is it held against it that the running one has no time, or says nothing: that may be why it is replaced."""
    _compare(own, other)


@pytest.mark.parametrize(
    "own",
    [None, RehearsedSpeech(5.0, -math.inf), RehearsedSpeech(5.0, -61.0), RehearsedSpeech(0.0, -math.inf)],
)
def test_a_version_that_says_nothing_is_not(own: RehearsedSpeech | None) -> None:
    with pytest.raises(NotWell, match="it says nothing"):
        _compare(own, RUNNING)


@pytest.mark.parametrize(("seconds", "level"), [(3.8, -20.0), (6.6, -20.0), (5.0, -26.1), (5.0, -13.9)])
def test_a_version_that_speaks_otherwise_is_not(seconds: float, level: float) -> None:
    with pytest.raises(NotWell, match=r"and the running version 5\.0 s at -20 dB"):
        _compare(RehearsedSpeech(seconds, level), RUNNING)


def test_a_server_that_hands_over_in_another_way_is_told_to_start_again() -> None:
    said = CliRunner().invoke(rehearse, [str(PROTOCOL + 1), "http://127.0.0.1:1", "--port", "0"])
    assert said.exit_code == 1 and "start the server again" in said.output
