"""Downloads that are killed, cancelled, rivalled, or out of room."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.file_server import FileServer, pause_after, serve, status
from tests.worker.fetching import AT_ONCE, MODEL, NAME, Watcher, contents, get, sha256, table
from worker.models.assembly import FetchError
from worker.models.download import FetchProgress, fetch

pytestmark = pytest.mark.usefixtures("no_proxy")


def test_a_disk_without_room_is_told_before_anything_is_written(server: FileServer, watch: Watcher) -> None:
    server.script.append(status(200, Content_Length=1 << 60))
    with pytest.raises(FetchError, match=rf"bytes free, {1 << 60:,} are needed: make room, or choose .*--model-dir"):
        get(server, watch)
    assert contents(watch.directory) == {}


def test_a_disk_that_fills_up_keeps_the_part(server: FileServer, small_disk: Path) -> None:
    watch = Watcher(small_disk)
    rival = small_disk / "rival"

    def fill_up(progress: FetchProgress) -> None:
        watch(progress)
        if progress.received >= 300_000 and not rival.exists():
            with pytest.raises(OSError, match="No space left"), rival.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))

    with pytest.raises(FetchError, match=r"No space left on device.* They are kept: make room and fetch again"):
        fetch([NAME], small_disk, mirror=server.url, progress=fill_up, known=table(), delays=AT_ONCE)
    rival.unlink()
    kept = contents(small_disk)[f"{NAME}.part"]
    assert len(kept) >= 300_000 and kept == MODEL[: len(kept)]
    get(server, watch)
    assert server.ranges == [None, f"bytes={len(kept)}-"]
    assert contents(small_disk) == {NAME: MODEL}


CHILD = """
import resource, sys
from pathlib import Path
from worker.models.assembly import FetchError
from worker.models.download import fetch
from worker.models.sources import known_files

directory, mirror, manifest, limit = sys.argv[1:]
if int(limit):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
known = known_files(Path(manifest))
try:
    tell = lambda progress: print(progress.received, flush=True)
    fetch(known, Path(directory), mirror=mirror, progress=tell, known=known)
except FetchError as error:
    sys.exit(str(error))
"""


@pytest.fixture
def child(server: FileServer, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildStarter]:
    manifest = tmp_path_factory.mktemp("manifest") / "manifest.json"
    manifest.write_text(
        f'[{{"name": "{NAME}", "size": {len(MODEL)}, "sha256": "{sha256(MODEL)}", "precision": "fp32",'
        ' "what": "a model", "url": "http://127.0.0.1:9/none"}]'
    )
    starter = ChildStarter([str(tmp_path), server.url, str(manifest)])
    yield starter
    starter.close()


class ChildStarter:
    """Starts processes that fetch and print how far they are."""

    def __init__(self, arguments: list[str]) -> None:
        self._arguments = arguments
        self._started: list[subprocess.Popen[str]] = []

    def __call__(self, limit: int = 0) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", CHILD, *self._arguments, str(limit)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        )
        self._started.append(process)
        return process

    def close(self) -> None:
        for process in self._started:
            process.kill()
            process.communicate()


def until(process: subprocess.Popen[str], received: int) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= received:
            return
    raise AssertionError(f"ended early: {process.communicate()[1]}")


def test_a_limit_on_file_sizes_is_told_like_a_full_disk(child: ChildStarter, tmp_path: Path) -> None:
    process = child(limit=500_000)
    _, says = process.communicate()
    assert process.returncode == 1
    assert "can't grow beyond 500,000 bytes: File too large" in says
    assert contents(tmp_path) == {f"{NAME}.part": MODEL[:500_000]}


def test_a_killed_download_leaves_only_its_part_and_is_resumed(
    server: FileServer, child: ChildStarter, tmp_path: Path
) -> None:
    go_on = threading.Event()
    server.script.append(pause_after(300_000, go_on))
    process = child()
    until(process, 300_000)
    process.send_signal(signal.SIGKILL)
    process.wait()
    go_on.set()
    assert contents(tmp_path) == {f"{NAME}.part": MODEL[:300_000]}
    fetch([NAME], tmp_path, mirror=server.url, known=table())
    assert server.ranges == [None, "bytes=300000-"]
    assert contents(tmp_path) == {NAME: MODEL}


def test_many_at_once_in_one_process_leave_one_file(server: FileServer, watch: Watcher) -> None:
    with ThreadPoolExecutor(5) as threads:
        list(threads.map(lambda _: get(server, watch), range(5)))
    assert len(server.requests) == 1
    assert contents(watch.directory) == {NAME: MODEL}


def test_an_interrupted_download_can_be_resumed_at_once(server: FileServer, watch: Watcher) -> None:
    go_on = threading.Event()
    server.script += [pause_after(300_000, go_on), serve]

    def interrupt(progress: FetchProgress) -> None:
        if progress.received >= 300_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch([NAME], watch.directory, mirror=server.url, progress=interrupt, known=table())
    go_on.set()
    get(server, watch)
    assert server.ranges == [None, "bytes=300000-"]
    assert contents(watch.directory) == {NAME: MODEL}
