"""The tests under `nohup` and in a shell's background, where SIGHUP and SIGINT are ignored from the start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_programs_under_test_get_the_signals_that_a_test_sends_them() -> None:
    tests = ["tests/supervisor/commands/test_say.py", "-k", "signal_leaves_no_half_file"]
    command = [sys.executable, "-m", "pytest", "-n", "0", "-x", "--timeout", "60", *tests]
    done = subprocess.run(
        ["bash", "-c", 'trap "" HUP INT; exec "$@"', "bash", *command], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout
