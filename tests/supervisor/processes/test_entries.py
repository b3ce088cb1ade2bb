"""Imports of a child process."""

import gc

import pytest

from supervisor.processes.roles import imports


def test_garbage_is_collected_again_whether_or_not_the_imports_succeed() -> None:
    with pytest.raises(ModuleNotFoundError), imports():
        assert not gc.isenabled()
        raise ModuleNotFoundError
    assert gc.isenabled()
