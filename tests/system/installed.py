"""An installation of its own, whose files a test changes: a copy of the program, as an update in place changes it."""

import shutil
from pathlib import Path

from tests.system.server import ROOT

FOLDERS = ("books", "client", "frontend", "player", "shm", "supervisor", "text", "worker")


class Installation:
    def __init__(self, folder: Path) -> None:
        self.root = folder
        for name in FOLDERS:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "kokoro_live").mkdir()
        for path in (ROOT / "kokoro_live").iterdir():
            if path.name == "bundled":
                (folder / "kokoro_live" / path.name).symlink_to(path)
            elif path.is_file():
                shutil.copy(path, folder / "kokoro_live")

    def change(self, file: str, old: str, new: str) -> None:
        """Put another version's file in the place of one."""
        path = self.root / file
        text = path.read_text()
        assert text.count(old) == 1, (file, old)
        draft = path.with_suffix(".part")
        draft.write_text(text.replace(old, new))
        draft.replace(path)
