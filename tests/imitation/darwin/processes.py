"""Child processes are on macOS as well, whatever environment they are given."""

import os
import subprocess
from pathlib import Path
from typing import Any

FOLDER = str(Path(__file__).parents[1])


def imitate() -> None:
    begin = subprocess.Popen.__init__

    def init(self: Any, *args: Any, **options: Any) -> None:
        if (given := options.get("env")) is not None:
            rest = [part for part in given.get("PYTHONPATH", "").split(os.pathsep) if part not in ("", FOLDER)]
            options["env"] = {**given, "PYTHONPATH": os.pathsep.join([FOLDER, *rest])}
        begin(self, *args, **options)

    subprocess.Popen.__init__ = init  # type: ignore[method-assign]
