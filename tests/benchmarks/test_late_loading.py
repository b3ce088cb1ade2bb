"""Modules that load late are measured apart from those that the process has loaded before."""

import ast

import pytest

from benchmarks.late_loading import LATE, Late, cost


def test_only_what_is_loaded_counts() -> None:
    """Thirty megabytes count, and those that were there before don't."""
    _, size = cost(Late("bytes", "kept = b'x' * 30_000_000", "earlier = b'y' * 90_000_000"))
    assert 25_000_000 < size < 60_000_000


@pytest.mark.parametrize("late", LATE, ids=lambda late: late.name)
def test_each_row_is_a_program(late: Late) -> None:
    ast.parse(f"{late.before}\n{late.code}")
