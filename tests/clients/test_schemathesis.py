"""Schemathesis asks a real server all that its own description allows, and much that it doesn't."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.server import server

KEY = "schemathesis-key"

REFUSED_ALL_THE_SAME = "positive_data_acceptance"
"""The one check left out: a schema can't say which voices and languages there are, or what can be spoken."""

ASKED_ELSEWHERE = ("/dev/dialogue", "/dev/generate_from_phonemes")
"""Other addresses of operations that are asked: a body as large as theirs takes Schemathesis seconds."""


CONFIG = """
# 426: a WebSocket's address, asked without an upgrade, says so before it looks at its parameters.
[checks]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 415, 422, 426, 428, 429, "5xx"]

# A machine without a sound card answers 501, as the description says; a 5xx is a failure everywhere else.
[[operations]]
include-path = "/v1/play"
include-method = "POST"

[operations.checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 501]

# Empty fields of a form are absent ones, which a schema can't say of numbers and patterns.
[[operations]]
include-path = "/v1/jobs"
include-method = "POST"

[operations.checks]
negative_data_rejection.expected-statuses = [202, "4xx", 503, 507]
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_server_is_as_it_describes_itself(tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    with server("--engine", "espeak", "--api-keys", KEY) as keyed:
        command = [
            str(Path(sys.executable).with_name("schemathesis")),
            "run",
            f"http://127.0.0.1:{keyed.port}/openapi.json",
            *("--header", f"Authorization: Bearer {KEY}"),
            *("--phases", "examples,coverage,fuzzing"),
            *("--max-examples", "25"),
            *("--exclude-checks", REFUSED_ALL_THE_SAME),
            *(part for path in ASKED_ELSEWHERE for part in ("--exclude-path", path)),
            *("--seed", "1", "--generation-database", "none", "--warnings", "off", "--no-color"),
        ]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=540)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Tested: " in done.stdout
        assert keyed.get("/ready")[0] == 200
        assert keyed.get("/status")[1]["restarts"] == {"front": 0, "worker": 0, "player": 0, "books": 0}
