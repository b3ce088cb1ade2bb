"""A scheduler for a test, closed after it."""

from collections.abc import AsyncIterator

import pytest

from tests.frontend.desk import Desk


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk()
    yield made
    made.close()
