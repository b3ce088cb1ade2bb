"""The folder of figures learnt over days. Writes are atomic: a file is either the old one or the new one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import platformdirs


def state_folder() -> Path:
    """The user's state folder; it may not exist yet."""
    return platformdirs.user_state_path("kokoro-live", appauthor=False)


def write_whole(file: Path, content: bytes) -> None:
    """Replace the file's content.

    Raises:
        OSError: the file can't be written; its old content is kept.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(fd, "wb") as temporary:
            temporary.write(content)
        Path(name).replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
