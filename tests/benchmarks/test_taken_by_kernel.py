"""The kernel's count of an answer's bytes: exact after kills, and a wrong count is heard."""

import sys

import pytest

from benchmarks import taken_by_kernel
from benchmarks.taken_by_kernel import WRITERS_PER_ANSWER, measure

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="tcpi_bytes_acked is Linux's")


def test_an_answer_goes_on_where_its_killed_writers_stopped() -> None:
    wrong, kinds = measure("direct", 3 * WRITERS_PER_ANSWER, seed=1)
    assert not wrong and kinds.total() == 3 * WRITERS_PER_ANSWER


@pytest.mark.slow
@pytest.mark.parametrize("error", [-1, 1])
def test_a_count_that_is_off_by_one_is_noticed(error: int, monkeypatch: pytest.MonkeyPatch) -> None:
    count = taken_by_kernel.taken
    monkeypatch.setattr(taken_by_kernel, "taken", lambda connection: max(0, count(connection) + error))
    monkeypatch.setattr(taken_by_kernel, "READING", 2)
    wrong, _ = measure("direct", 3 * WRITERS_PER_ANSWER, seed=1)
    assert wrong
