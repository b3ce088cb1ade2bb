"""`kokoro-live` and `python -m kokoro_live`, with `-m MODULE` for a module of the project.

Every spawned child imports this file again, so it imports nothing of the project.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

HOME = Path(__file__).parent


def find_folders(home: Path = HOME) -> None:
    """Put the project's folders first among the imports, then the packages that the build has put alongside them.

    A wheel has `supervisor`, `worker` and the others inside `kokoro_live`, where they can't meet packages of the same
    names in one environment; a clone has them next to it.
    """
    root = home if (home / "supervisor").is_dir() else home.parent
    sys.path[:0] = [str(root), str(home / "bundled")]


def main() -> None:
    find_folders()
    if sys.argv[1:2] == ["-m"]:
        del sys.argv[1]
        runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
    else:
        from supervisor.__main__ import main

        main()


if __name__ == "__main__":
    main()
