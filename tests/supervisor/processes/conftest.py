"""A lifecycle among fakes, with default settings."""

import pytest

from tests.supervisor.fakes import House


@pytest.fixture
def house() -> House:
    return House()
