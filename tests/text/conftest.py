"""The extras `ja`, `zh` and `spacy` out of the registry, for slow tests: `make test` does without their 700 MB."""

import fcntl
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXTRAS = ("ja", "zh", "spacy")


@pytest.fixture(scope="module")
def language_extras() -> Iterator[None]:
    """The extras' packages can be imported. They are kept in the virtual environment from one run to the next; packages
    that were installed before stay the ones that are imported."""
    named = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = [requirement for extra in EXTRAS for requirement in named[extra]]
    folder = Path(sys.prefix, "languages", sha256("\n".join(wanted).encode()).hexdigest()[:16])
    installed = folder / "installed"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not installed.exists():
            pip = [sys.executable, "-m", "pip", "install", "-q", "--upgrade", "--target", folder]
            subprocess.run([*pip, "-c", ROOT / "constraints.txt", *wanted], check=True, timeout=600)
            installed.touch()
    sys.path.append(str(folder))
    yield
    sys.path.remove(str(folder))
