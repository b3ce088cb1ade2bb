"""The example for Ray Serve, with two replicas of a real Ray."""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.ports import lasting_port
from tests.system.oracle import miniature_arguments, samples_of

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(500),
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="install the extra `ray`"),
]


def test_two_replicas_speak_every_sample(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.deploy.ray_session", str(lasting_port()), "--offline"]
    variables = os.environ | {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "disabled",
        "RAY_agent_register_timeout_ms": "300000",
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        [*command, *miniature_arguments(tmp_path)], cwd=ROOT, env=variables, capture_output=True, text=True, timeout=480
    )
    assert done.returncode == 0, done.stderr[-4000:]
    # Ray's own messages stand on the standard output too, some after the session's line.
    found = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    expected = [hashlib.sha256(samples_of(f"Replica test {number}.").tobytes()).hexdigest() for number in range(8)]
    assert found["heard"] == expected
    assert len(found["servers"]) == 2, "each replica has a server of its own, and both were asked"
    assert not any(psutil.pid_exists(pid) for pid in found["servers"]), "they end with their replicas"
