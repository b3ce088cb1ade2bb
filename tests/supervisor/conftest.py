"""Each command runs without the settings, folders and servers of whoever runs the tests."""

import pytest

from tests.supervisor.clean_environment import clean_environment


@pytest.fixture(autouse=True)
def environment(tmp_path_factory, monkeypatch):
    with clean_environment(tmp_path_factory.mktemp("home"), monkeypatch):
        yield
