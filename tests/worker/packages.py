"""Packages that carry parts of a file, as the registry's do, in a folder that Python searches."""

import hashlib
import random
from pathlib import Path

import pytest

from worker.models.sources import KnownFile

CONTENTS = random.Random(3).randbytes(3_000_001)
NAME = "kokoro-v1.0.int8.onnx"
PACKAGES = ("tests-part-1", "tests-part-2", "tests-part-3")


def packaged_file(data: bytes = CONTENTS, name: str = NAME) -> KnownFile:
    return KnownFile(
        name=name,
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        precision="int8",
        what="a model",
        url="http://127.0.0.1:9/none",
        packages=PACKAGES,
    )


def install(site: Path, data: bytes = CONTENTS, version: str = "0.1.0") -> list[Path]:
    """Put the packages into `site`, a folder of packages; the parts' paths."""
    size = -(-len(data) // len(PACKAGES))
    parts = []
    for number, package in enumerate(PACKAGES):
        folder = site / package.replace("-", "_")
        folder.mkdir(parents=True)
        # Code that must never run: a package is data.
        (folder / "__init__.py").write_text("raise AssertionError('a data package was imported')\n")
        (folder / "part.bin").write_bytes(data[number * size : (number + 1) * size])
        about = site / f"{package.replace('-', '_')}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {package}\nVersion: {version}\n")
        parts.append(folder / "part.bin")
    return parts


@pytest.fixture(name="site")
def package_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of packages that Python searches."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder
