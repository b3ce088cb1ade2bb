"""A child ends when its supervisor does, whatever state either is in, and not before."""

import os
import signal

import multiprocess
import pytest

from shm.lifeline import ORPHANED
from tests.platforms import linux_only
from tests.shm.children import DEADLY, supervise, tied

spawn = multiprocess.get_context("spawn")
FAILS_AFTER = 30
"""Seconds after which a child counts as one that stays."""


def test_the_end_of_the_lifeline_ends_the_child_and_nothing_less_does() -> None:
    """Scenario: signals that a terminal sends to the group, and bytes in the lifeline, are no end; its EOF is."""
    lifeline_end, lifeline = spawn.Pipe(duplex=False)
    talk, talk_end = spawn.Pipe()
    process = spawn.Process(target=tied, args=(lifeline_end, talk_end))
    process.start()
    lifeline_end.close()
    talk_end.close()
    assert talk.recv() == "tied"
    for number in DEADLY:
        os.kill(process.pid, number)
    os.write(lifeline.fileno(), b"no end")
    talk.send("alive?")
    assert talk.recv() == "alive?"
    lifeline.close()
    process.join(FAILS_AFTER)
    status = process.exitcode
    process.kill()
    assert status == ORPHANED
    talk.close()


@pytest.mark.parametrize(
    "how",
    [
        "without PDEATHSIG",
        pytest.param("stopped", marks=linux_only("only PDEATHSIG reaches a stopped process")),
    ],
)
def test_a_child_dies_with_its_supervisor(how: str) -> None:
    """Scenario: supervisor and child are processes of their own; the supervisor is killed without warning while the
    child is in a loop without a system call, or stopped. The child's death shows by the EOF of a pipe that only it
    holds."""
    report, report_end = spawn.Pipe(duplex=False)
    witness, witness_end = spawn.Pipe(duplex=False)
    supervisor = spawn.Process(target=supervise, args=(report_end, witness_end, how))
    supervisor.start()
    report_end.close()
    witness_end.close()
    child: int = report.recv()
    try:
        assert not witness.poll(0)
        supervisor.kill()
        assert witness.poll(FAILS_AFTER)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        supervisor.kill()
        supervisor.join()
    with pytest.raises(EOFError):
        witness.recv()
    report.close()
    witness.close()
