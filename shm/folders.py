"""Folders: where the user's state lies, and why a folder can't be written, before anything is written."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import platformdirs

ROOM_TO_WORK = 1 << 20
"""Bytes without which a disk counts as full."""


def state_folder() -> Path:
    """The user's folder of figures and jobs that outlive the server; it may not exist yet."""
    return platformdirs.user_state_path("kokoro-live", appauthor=False)


def trouble(folder: Path, spare: int) -> str:
    """The reason why a folder, which may not exist yet, can't take `spare` bytes; empty if none is seen."""
    try:
        there = next(path for path in (folder, *folder.absolute().parents) if _exists(path))
        if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
            return f"{folder} can't be written"
        if shutil.disk_usage(there).free < spare:
            return f"the disk of {folder} is full"
    except (OSError, ValueError) as error:  # a name that is too long, or has a NUL
        return f"{folder} can't be used: {getattr(error, 'strerror', None) or error}"
    return ""


def _exists(path: Path) -> bool:
    """True for a link that leads nowhere, too: no folder can be made in its place."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
