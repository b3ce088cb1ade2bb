"""The Raycast extension outside Raycast: installed, bundled with a stand-in for `@raycast/api`, and used by a test."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.system.server import DEADLINE, ROOT

EXTENSION = ROOT / "clients" / "raycast"
NODE = "node@22.23.3"
"""The Node that `@raycast/api` demands, as the registry's package."""

_NOT_COPIED = shutil.ignore_patterns("node_modules", "dist")


@cache
def node() -> str:
    """The path of that Node's program; npm keeps it."""
    asked = ["npm", "exec", "--yes", f"--package={NODE}", "--", "node", "-p", "process.execPath"]
    return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=600).stdout.strip()


def installed() -> Path:
    """A copy of the extension with its libraries, which are kept in the virtual environment from one run to the
    next."""
    lock = (EXTENSION / "package-lock.json").read_bytes()
    folder = Path(sys.prefix, "raycast", sha256(lock).hexdigest()[:16])
    for name in ("src", "tests", "assets"):
        shutil.rmtree(folder / name, ignore_errors=True)
    shutil.copytree(EXTENSION, folder, ignore=_NOT_COPIED, dirs_exist_ok=True)
    if not (folder / "node_modules" / ".package-lock.json").exists():
        install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(install, cwd=folder, check=True, capture_output=True, timeout=600)
    return folder


def run(folder: Path, script: str, *arguments: str) -> str:
    """Run a script of the extension's folder with the right Node; its output.

    Raises:
        AssertionError: it failed.
    """
    command = [node(), script, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Keys:
    """A user of the extension. Its preferences, its storage and the clipboard last as long as this object."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def press(self, command: str, **world: Any) -> dict[str, Any]:
        """Run a command without a view, after these changes of the world; what the user sees, and the requests."""
        return self._step({"run": command, "set": world})

    def show(self, command: str, **world: Any) -> dict[str, Any]:
        return self._step({"show": command, "set": world})

    def act(self, action: str, item: str | None = None) -> dict[str, Any]:
        """Choose an action in the view, of the list item with that title."""
        return self._step({"act": action, "in": item})

    def submit(self, **values: Any) -> dict[str, Any]:
        return self._step({"submit": values})

    def tool(self, **values: Any) -> dict[str, Any]:
        return self._step({"tool": values})

    def _step(self, step: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(step) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the runner has ended"
        found: dict[str, Any] = json.loads(line)
        return found


@contextmanager
def keys(folder: Path, address: str, **preferences: str) -> Iterator[Keys]:
    """A user whose preferences name that server."""
    command = [node(), "dist/press.cjs"]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        user = Keys(process)
        user._step({"set": {"preferences": {"address": address, "speed": "1", "onBusy": "interrupt", **preferences}}})
        yield user
        assert process.stdin
        process.stdin.close()
        assert process.wait(DEADLINE) == 0


def titles(view: Any, kind: str) -> list[str]:
    """The titles of all elements of a kind in what was rendered, in order."""
    found: list[str] = []
    for node in view if isinstance(view, list) else [view]:
        if isinstance(node, dict):
            if node["type"] == kind:
                found.append(node["props"].get("title", ""))
            found += titles(node["children"] or [], kind)
    return found
