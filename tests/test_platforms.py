"""The project's demands on its system, macOS imitated; the tests in a shell's background; output that is followed."""

import ast
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.followed_output import END, FollowedOutput
from tests.rooms import PRODUCT

ROOT = Path(__file__).parents[1]
ROOMS = ("kokoro_live", *PRODUCT)
LINUX = re.compile(r"/(proc|sys|run|dev/(fd|shm|full))(/|$)")
ANSWERED = {
    "shm/memory.py": "the machine's own memory is the limit",
    "shm/espeak/helper.py": "the library's copy is a temporary file",
    "frontend/monitoring/processes.py": "no energy is told",
    "frontend/planning/strain.py": "no strain is told",
    "supervisor/processes/spawning.py": "a kill from outside can't be told from the system's",
    "worker/machine.py": "order of numbers; sysctl and `platform` name the processor; slower, right sums",
}
"""The answer to a missing folder of Linux's, by the file that looks there."""


def texts(file: Path) -> Iterator[str]:
    source = file.read_text()
    nodes = ast.walk(ast.parse(source)) if re.search("/(proc|sys|run|dev/)", source) else ()
    return (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def test_folders_of_linux_are_looked_into_where_their_absence_is_answered() -> None:
    files = (file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py")) if "bundled" not in file.parts)
    found = {file.relative_to(ROOT).as_posix() for file in files if any(map(LINUX.match, texts(file)))}
    assert found == ANSWERED.keys()


def test_nothing_is_raised_where_python_before_3_11_4_would_wrap_it() -> None:
    """Debian 12's Python makes a group of what a handler of `except*` raises."""
    assert _raising("try: f()\nexcept* OSError as e:\n if e: raise ValueError from None")
    files = [file for room in ROOMS for file in (ROOT / room).rglob("*.py") if "bundled" not in file.parts]
    assert files and not [file for file in files if _raising(file.read_text())]


def _raising(source: str) -> bool:
    nodes = ast.walk(ast.parse(source)) if "except*" in source else ()
    tries = (node for node in nodes if isinstance(node, ast.TryStar))
    return any(isinstance(node, ast.Raise) for each in tries for handler in each.handlers for node in ast.walk(handler))


IMITATED = {
    "the system": ("import sys, platform; said = sys.platform, platform.system()", ("darwin", "Darwin")),
    "a library's system": (
        "import pathlib, psutil; said = psutil.LINUX, pathlib.Path('/proc').exists()",
        (True, False),
    ),
    "no test's replacement": (
        "import pytest\nwith pytest.MonkeyPatch.context() as patched:\n patched.setattr('sys.platform', 'linux');"
        " said = [sys.platform]\nsaid.append(sys.platform)",
        ["linux", "darwin"],
    ),
    "nothing else of modules": (
        "import json, types; said = type(json) is types.ModuleType, hasattr(json, 'platform')",
        (True, False),
    ),
    "names": (
        "import os, select, socket; said = [hasattr(os, 'memfd_create'), hasattr(select, 'epoll'),"
        " hasattr(socket, 'SOCK_CLOEXEC')]",
        [False] * 3,
    ),
    "a path of /dev/fd": (
        "import os, tempfile; file = tempfile.TemporaryFile(); file.write(b'voices'); file.flush();"
        " said = open(f'/dev/fd/{file.fileno()}', 'rb').read()",
        b"",
    ),
    "an abstract socket": (
        "import socket\nwith socket.socket(socket.AF_UNIX) as s:\n try: s.bind('\\0kokoro')\n"
        " except OSError as error: said = type(error).__name__",
        "FileNotFoundError",
    ),
    "a child with an environment of its own": (
        "import subprocess; said = subprocess.run([sys.executable, '-c', 'import sys; print(sys.platform)'],"
        " env={}, capture_output=True, text=True).stdout",
        "darwin\n",
    ),
    "shared memory": (
        "import os; from shm.memory import reserve; fd = reserve(100); said = [os.fstat(fd).st_size]\n"
        "try: os.ftruncate(fd, 200)\nexcept OSError as error: said.append(error.strerror)",
        [16384, "Invalid argument"],
    ),
}


@pytest.mark.parametrize("part", IMITATED)
def test_the_imitation_takes_away(part: str) -> None:
    code, expected = IMITATED[part]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests/imitation'}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(repr(said))"],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == (f"{expected!r}\n", "")


PROGRAM = """
import signal, subprocess, sys

if sys.argv[1:] == ["with the tests' settings"]:
    import tests.conftest
child = "from signal import *; print(getsignal(SIGHUP).name, getsignal(SIGINT) is not SIG_IGN)"
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout)
"""
"""How a child takes both signals."""


def in_the_background(*arguments: str) -> str:
    command = ["bash", "-c", 'trap "" HUP INT; exec "$@"', "bash", sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def test_programs_under_test_get_the_signals_that_a_test_sends_them() -> None:
    assert in_the_background() == "SIG_IGN False"
    assert in_the_background("with the tests' settings") == "SIG_DFL True"


PATIENCE = 60.0


def test_a_line_is_found_when_it_comes_and_the_end_ends_the_wait() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as pipe:
        output = FollowedOutput(pipe)
        threading.Timer(0.01, os.write, (writing, b"first\nsecond 2\n")).start()
        found = output.find(r"second (\d)", PATIENCE)
        assert found and found[1] == "2"
        assert output.find("first", 0.0, start=1) is None
        os.close(writing)
        assert output.find("third", PATIENCE) is None
        output.join(PATIENCE)
        assert output.lines == ["first", "second 2", END]
