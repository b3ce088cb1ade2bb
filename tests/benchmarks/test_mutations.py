"""`benchmarks.mutations`: each break can still be made, and has tests to notice it."""

import ast

import pytest

from benchmarks.breaks import MUTATIONS
from benchmarks.breaks.mutation import Mutation
from benchmarks.mutations import ROOT


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_break_fits_the_code_as_it_is(mutation: Mutation) -> None:
    """Code that has moved leaves its break behind: name the file and the text where the rule is now."""
    whole = (ROOT / mutation.file).read_text()
    assert whole.count(mutation.old) == 1
    ast.parse(whole.replace(mutation.old, mutation.new))
    files = [name for name in mutation.tests if name.startswith("tests/")]
    assert files and all((ROOT / name.partition("::")[0]).exists() for name in files)
