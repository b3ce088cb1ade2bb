"""Servers with miniature models, made once, and with the spare worker that a server has by default."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.oracle import miniature_arguments

SPARE = ("--standby", "imported")


@pytest.fixture(scope="session")
def miniature(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Flags of a server with a model that takes some 20 ms for a sentence."""
    return (*miniature_arguments(Path(tmp_path_factory.mktemp("miniature")), cost=1), *SPARE)


@pytest.fixture(scope="session")
def swift(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Flags of a server with a model that costs nothing, so that most of the time goes into what is tested."""
    return (*miniature_arguments(Path(tmp_path_factory.mktemp("swift"))), *SPARE)
