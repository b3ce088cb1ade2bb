"""The tests under `nohup` and in a shell's background, where SIGHUP and SIGINT are ignored from the start."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

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
