"""The folder for counts: one server's alone, gone when it ends, and what a killed one left is cleared away."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from supervisor.processes.metrics import metrics_folder

ROOT = Path(__file__).parents[3]

HOLD = """
import sys
from pathlib import Path
from supervisor.processes.metrics import metrics_folder
with metrics_folder(Path(sys.argv[1]) if sys.argv[1:] else None) as folder:
    print(folder and folder.path, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of the user's own is touched."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def another(*chosen: Path) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, *map(str, chosen)],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    return process, process.stdout.readline().strip()


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_each_server_has_its_own_that_others_cannot_read_and_it_is_gone_afterwards() -> None:
    with metrics_folder(None) as one, metrics_folder(None) as other:
        assert one and other and one.path != other.path
        assert one.path.stat().st_mode & 0o077 == 0
        (one.path / "counter_front-0.db").write_bytes(b"x")
    assert not one.path.exists() and not other.path.exists()


def test_memory_is_preferred_where_the_user_has_some(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home / "run"))
    with metrics_folder(None) as folder:
        assert folder and folder.path.is_relative_to(home / "run")


def test_what_a_killed_server_left_is_cleared_away_and_a_living_ones_is_not() -> None:
    killed, left = another()
    end(killed)
    living, kept = another()
    try:
        long_ago = time.time() - 3600
        for folder in (left, kept):
            os.utime(folder, (long_ago, long_ago))
        with metrics_folder(None):
            assert not Path(left).exists()
            assert Path(kept).exists()
    finally:
        end(living)


def test_a_chosen_folder_is_emptied_of_counts_only_and_stays(home: Path) -> None:
    chosen = home / "chosen"
    chosen.mkdir()
    for name in ("counter_front-0.db", "gauge_livesum_worker-1.db", "worker-1.lock", "letters.txt", "photos.db"):
        (chosen / name).write_bytes(b"")
    with metrics_folder(chosen) as folder:
        assert folder and folder.path == chosen
        assert {file.name for file in chosen.iterdir()} == {"letters.txt", "photos.db"}
    assert chosen.exists()


def test_two_servers_that_choose_the_same_are_told_so(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    first, _ = another(home / "chosen")
    try:
        with metrics_folder(home / "chosen") as folder:
            assert folder is None
    finally:
        end(first)
    (record,) = caplog.records
    assert "another server uses" in record.getMessage()
    with metrics_folder(home / "chosen") as folder:
        assert folder and folder.path == home / "chosen"


def test_a_folder_that_cannot_be_written_is_one_line_in_the_log(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    (home / "file").write_bytes(b"")
    with metrics_folder(home / "file" / "below") as folder:
        assert folder is None
    (record,) = caplog.records
    assert "metrics are kept in each process's memory" in record.getMessage()


def test_a_full_disk_is_one_line_in_the_log_and_leaves_nothing(home: Path) -> None:
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(
        [sys.executable, "-c", HOLD, home / "chosen"],
        cwd=ROOT,
        text=True,
        input="",
        capture_output=True,
        preexec_fn=full,
    )
    assert done.stdout == "None\n"
    assert done.stderr.count("\n") == 1 and "File too large" in done.stderr
    assert not list((home / "chosen").iterdir())
