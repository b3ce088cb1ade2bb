"""The one top-level name of an installation, which holds the project's folders; `kokoro-live` starts here."""

from __future__ import annotations

import sys
from pathlib import Path


def bundled() -> list[str]:
    """The packages that are part of the installation, such as "misaki==0.9.4"."""
    lines = Path(__file__).with_name("bundled.txt").read_text().splitlines()
    return [line.partition(" ")[0] for line in lines if not line.startswith("#")]


def own_command(*arguments: str) -> list[str]:
    """The command line of `kokoro-live ARGUMENTS`; with "-m" and a module first, of that module of the project.

    It works in every installation, and from every folder: `-P` keeps the working directory out of the imports.
    """
    return [sys.executable, "-P", "-m", "kokoro_live", *arguments]
