"""Calls that fail once: a random part of all trials, which a bad outcome ends."""

import subprocess
import sys

import pytest

from benchmarks.faults.shim import buildable
from tests.system.server import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(buildable()), reason=buildable() or "it can be built")]


def test_a_call_that_fails_once_loses_nothing() -> None:
    command = [sys.executable, "-m", "benchmarks.faults", "--short", "20"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert "0 of 0 are bad" not in done.stdout
