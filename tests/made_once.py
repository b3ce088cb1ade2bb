"""Files that take seconds to make, made once per run: by the process of pytest's that needs them first."""

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

_folder: list[Path] = []
"""The run's folder. A benchmark that uses the tests' servers has none, and gets one for its process."""


@pytest.fixture(scope="session", autouse=True)
def made_once_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The folder of a run, which all of its processes share."""
    base = tmp_path_factory.getbasetemp()
    _folder.append((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "made-once")


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """The folder of that name, which `make` has filled, in this process or another one. `make` may ask for another."""
    if not _folder:
        alone = tempfile.TemporaryDirectory()
        atexit.register(alone.cleanup)
        _folder.append(Path(alone.name, "made-once"))
    found = _folder[-1] / name
    found.parent.mkdir(exist_ok=True)
    with (found.parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            making = Path(tempfile.mkdtemp(dir=found.parent))
            try:
                make(making)
                making.rename(found)
            finally:
                shutil.rmtree(making, ignore_errors=True)
    return found
