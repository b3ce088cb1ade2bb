"""Memory that a worker doesn't keep: modules that it never needs, and the free pages of a loaded engine."""

import ctypes
import subprocess
import sys

import psutil
import pytest

from worker.machine import return_free_memory


def test_a_worker_that_speaks_from_kept_stages_needs_no_onnx() -> None:
    """onnx takes 11 MB of each worker; it writes graphs, and kept stages are only read."""
    code = (
        "import sys\n"
        "from worker import select\n"
        "from worker.loop import process\n"
        "from worker.settings import WorkerSettings\n"
        "select.import_engines(WorkerSettings(engine='kokoro'))\n"
        "assert 'worker.engines.kokoro' in sys.modules\n"
        "found = {'onnx', 'ml_dtypes', 'google.protobuf', 'aiohttp'} & set(sys.modules)\n"
        "assert not found, found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="this C library has no malloc_trim")
def test_free_pages_below_a_used_block_are_returned() -> None:
    """1. 64 MB are taken in small blocks. 2. All are freed except the last, which keeps the heap's end in place.
    3. Their pages leave the process.
    """
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    blocks = [library.malloc(32_768) for _ in range(2048)]
    for block in blocks:
        ctypes.memset(block, 1, 32_768)
    for block in blocks[:-1]:
        library.free(ctypes.c_void_p(block))
    before = psutil.Process().memory_info().rss
    return_free_memory()
    after = psutil.Process().memory_info().rss
    library.free(ctypes.c_void_p(blocks[-1]))
    assert before - after > 50e6
