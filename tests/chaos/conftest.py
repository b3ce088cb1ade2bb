"""Flags of servers with miniature models, and a server that is killed in several files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.oracle import miniature_arguments
from tests.system.shared import SharedServer, shared

SPARE = ("--standby", "imported")
"""The spare worker that a server has by default."""


@pytest.fixture(scope="session")
def swift(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Flags of a server with a model that costs nothing, so that most of the time goes into what is tested."""
    return (*miniature_arguments(Path(tmp_path_factory.mktemp("swift"))), *SPARE)


@pytest.fixture(scope="session")
def house(swift: tuple[str, ...]) -> Iterator[SharedServer]:
    """A server with default settings."""
    with shared(*swift) as kept:
        yield kept
