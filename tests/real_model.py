"""The published int8 model for tests, out of the packages that the extra `dev` installs.

`real_model` is a fixture: the path of the whole, checked file. It is assembled once per machine, under the user's cache
folder, by whichever test process asks first; the others wait for the lock on its part file.
"""

import os
from pathlib import Path

import platformdirs
import pytest

from worker.models.assembly import assembled
from worker.models.sources import KNOWN

NAME = "kokoro-v1.0.int8.onnx"
FOLDER = platformdirs.user_cache_path("kokoro-live-tests", appauthor=False) / "models"


def real_model_file() -> Path:
    """The model's path, for modules without fixtures, such as processes that a test starts.

    Raises:
        AssertionError: the packages aren't installed, so `pip install -e '.[dev]'` hasn't been run.
    """
    path = assembled(KNOWN[NAME], FOLDER)
    assert path is not None, f"{', '.join(KNOWN[NAME].packages)} aren't installed: pip install -e '.[dev]'"
    return path


@pytest.fixture(scope="session")
def real_model() -> Path:
    """The published int8 model: 54 voices speak with it."""
    return real_model_file()


@pytest.fixture(scope="session")
def real_stages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A `--cache-dir` in which that model is cut once per run: the first process to do so holds a lock meanwhile."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "real-stages"
