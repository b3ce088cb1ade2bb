"""An environment for commands that run in a test: no settings, folders or servers of whoever runs the tests."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def clean_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Variables name empty folders in `folder`, and a port on which nobody listens or can begin to.

    The packages' model, which takes a second to load, is only where a test asks for it.
    """
    for variable in os.environ:
        if variable.startswith("KOKORO_LIVE_"):
            monkeypatch.delenv(variable)
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # it would hide that samples wait in a buffer
    monkeypatch.setenv("KOKORO_LIVE_PACKAGED_MODEL", "0")
    for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(folder))
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        monkeypatch.setenv("KOKORO_LIVE_PORT", str(silent.getsockname()[1]))
        yield
