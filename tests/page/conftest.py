"""One browser for a file's tests, and a server for all files, whose page it shows."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.page.visit import Visit, browser
from tests.system.server import Server, server


@pytest.fixture(scope="module")  # its event loop runs: none of another file's tests could
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(scope="package")
def espeak() -> Iterator[Server]:
    with server("--engine", "espeak") as started:
        yield started


@pytest.fixture
def visit(chromium: Browser, espeak: Server) -> Iterator[Visit]:
    with Visit(chromium, espeak) as visiting:
        yield visiting
