"""The broken versions of `benchmarks.updates` are broken: each replaces a text that its file has once."""

import argparse

import pytest

from benchmarks.updates import BREAKS, plan
from tests.system.server import ROOT


@pytest.mark.parametrize("kind", BREAKS)
def test_the_text_that_is_broken_is_there(kind: str) -> None:
    file, old, new = BREAKS[kind]
    assert (ROOT / file).read_text().count(old) == 1 and old != new


def test_the_plan_has_as_many_broken_ones_as_were_asked_for() -> None:
    planned = plan(argparse.Namespace(updates=20, broken=5, seed=1))
    assert len(planned) == 20 and sum(map(bool, planned)) == 5 and set(planned) - {""} == set(BREAKS)
