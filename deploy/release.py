"""Make a release from a clean tree: `make release VERSION=0.2.0`.

1. The tree is clean, the tag is free, and CHANGELOG.md has something unreleased. 2. The machines' matrix passes.
3. The version and the CHANGELOG's heading are written. 4. Everything is built, with an SBOM and the
packages' hashes. 5. SHA256SUMS. 6. A commit and a tag, which you push. A step that fails leaves the files of the tree
as they were.
"""

from __future__ import annotations

import datetime
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")
UNRELEASED = re.compile(r"^## .*\(unreleased\)\n\n(?=- )", re.MULTILINE)
PLACES = {
    "pyproject.toml": r'(?m)^version = "(.*)"$',
    "deploy/home-assistant/config.yaml": r'(?m)^version: "(.*)"$',
}
"""Files with the version, and how each has it."""
CHANGELOG = "CHANGELOG.md"


class Refused(Exception):
    """There can't be a release. The message says why."""


def git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout.strip()


def assert_ready(version: str) -> None:
    """
    Raises:
        Refused: nothing can be released so.
    """
    if not VERSION.fullmatch(version):
        raise Refused(f"VERSION={version or '?'} is no version such as 0.2.0 or 0.2.0rc1")
    if dirty := git("status", "--porcelain"):
        raise Refused(f"the tree isn't clean:\n{dirty}")
    if git("tag", "--list", f"v{version}"):
        raise Refused(f"there is a tag v{version} already")
    if not UNRELEASED.search(Path(CHANGELOG).read_text()):
        raise Refused(f"{CHANGELOG} has no heading with (unreleased) and a change below it")


def write_version(version: str, day: datetime.date) -> None:
    """Write the version into each of its places, and the heading of the CHANGELOG.

    Raises:
        Refused: a place has no version.
    """
    for name, pattern in PLACES.items():
        text = Path(name).read_text()
        found = re.search(pattern, text)
        if found is None:
            raise Refused(f"{name} has no version")
        Path(name).write_text(text[: found.start(1)] + version + text[found.end(1) :])
    changes = Path(CHANGELOG).read_text()
    Path(CHANGELOG).write_text(UNRELEASED.sub(f"## {version} ({day})\n\n", changes, count=1))


def write_checksums(folder: Path) -> Path:
    """SHA256SUMS of the folder's files, as `sha256sum --check` reads it."""
    sums = folder / "SHA256SUMS"
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(folder.iterdir())
        if file != sums
    ]
    sums.write_text("".join(lines))
    return sums


def main(version: str) -> None:
    """
    Raises:
        Refused: there can't be a release.
        subprocess.CalledProcessError: a step failed.
    """
    assert_ready(version)
    subprocess.run(["make", "machines"], check=True)
    shutil.rmtree("dist", ignore_errors=True)
    try:
        write_version(version, datetime.datetime.now(datetime.UTC).date())
        subprocess.run(["make", "dist", "sbom"], check=True)
        sums = write_checksums(Path("dist"))
        git("commit", "-qam", f"Release {version}")
    except BaseException:
        git("checkout", "--", *PLACES, CHANGELOG)
        raise
    git("tag", "-a", f"v{version}", "-m", f"kokoro-live {version}")
    print(f"{sums.read_text()}\nin dist/. Publish it: git push --follow-tags")


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "")
    except (Refused, subprocess.CalledProcessError) as error:
        sys.exit(f"no release: {error}")
