"""Memory that a worker doesn't take: modules that it never needs."""

from __future__ import annotations

import subprocess
import sys


def test_a_worker_that_speaks_from_kept_stages_needs_no_onnx() -> None:
    """onnx takes 11 MB of each worker; it writes graphs, and kept stages are only read."""
    code = (
        "import sys\n"
        "from worker import process, select\n"
        "from worker.settings import WorkerSettings\n"
        "select.import_engines(WorkerSettings(engine='kokoro'))\n"
        "assert 'worker.kokoro' in sys.modules\n"
        "found = {'onnx', 'ml_dtypes', 'google.protobuf', 'aiohttp'} & set(sys.modules)\n"
        "assert not found, found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
