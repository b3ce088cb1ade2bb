"""Anonymous memory: reserved in full or refused with a reason, and without anything that could be left behind."""

import errno
import gc
import mmap
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import shm.memory
from shm.audio import SAMPLE_BYTES
from shm.in_flight import (
    BOARD_BYTES,
    SLOTS,
    WHOLE_READING,
    Board,
    TextInFlight,
    TextsInFlight,
    WorkKind,
    WorkStep,
    WorkSteps,
    digest_of,
)
from shm.memory import NoMemory, reserve
from shm.ring import Arena
from tests.platforms import linux_only
from tests.shm.descriptors import open_descriptors

SIZE = 3_000_001
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
SHARED = Path("/dev/shm")


def named() -> set[str]:
    return {entry.name for entry in SHARED.glob("*kokoro-live*")} if SHARED.is_dir() else set()


@pytest.fixture
def names_before() -> set[str]:
    return named()


@pytest.fixture(params=["as here", "without memfd_create"])
def memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    if request.param == "without memfd_create":
        pytest.importorskip("_posixshmem")
        monkeypatch.delattr(os, "memfd_create", raising=False)
    fd = reserve(SIZE)
    request.addfinalizer(lambda: os.close(fd))
    return fd


def test_it_has_no_name_from_the_first_moment(names_before: set[str], memory: int) -> None:
    assert os.fstat(memory).st_nlink == 0
    assert named() <= names_before


def test_all_of_it_is_there_and_zero(memory: int) -> None:
    """macOS rounds the size up to pages, gives none of them before they are used, and can't read without a mapping."""
    status = os.fstat(memory)
    assert SIZE <= status.st_size < SIZE + 2 * PAGE_BYTES
    assert status.st_blocks * 512 >= SIZE or sys.platform == "darwin"
    with mmap.mmap(memory, SIZE) as mapped:
        assert mapped[:] == bytes(SIZE)


def test_a_child_does_not_inherit_it_unless_it_is_passed_on(memory: int) -> None:
    code = "import os, sys; print(os.fstat(int(sys.argv[1])).st_size)"
    command = [sys.executable, "-c", code, str(memory)]
    not_passed = subprocess.run(command, capture_output=True, text=True, close_fds=False)
    assert "Bad file descriptor" in not_passed.stderr
    passed = subprocess.run(command, capture_output=True, text=True, pass_fds=[memory])
    assert passed.stdout == f"{os.fstat(memory).st_size}\n"


@pytest.fixture
def untouched_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request for a petabyte fails the test and doesn't take the machine's memory, whatever is wrong with `reserve`:
    Linux gives a memfd page after page, and kills other people's processes for them."""

    def never(*_: int) -> None:
        raise AssertionError("asked the kernel for it")

    monkeypatch.setattr(os, "ftruncate", never)
    monkeypatch.setattr(os, "posix_fallocate", never, raising=False)


@pytest.mark.usefixtures("untouched_kernel")
@pytest.mark.parametrize("size", [1 << 50, 1 << 62], ids=["a petabyte", "four exabytes"])
def test_more_than_the_machine_has_is_refused_before_it_is_tried(size: int) -> None:
    message = f"can't reserve {size / 1e6:.0f} MB of shared memory for the PCM arena: [0-9]+ MB are available"
    with pytest.raises(NoMemory, match=message) as caught:
        reserve(size)
    assert caught.value.errno == errno.ENOMEM


def test_all_that_is_available_may_be_had_and_not_a_byte_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shm.memory, "available", lambda: SIZE)
    os.close(reserve(SIZE))
    with pytest.raises(NoMemory, match="3 MB are available"):
        reserve(SIZE + 1)


PHYSICAL = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
MEMINFO = {"/proc/meminfo": "MemTotal:       900 kB\nMemFree: 1 kB\nMemAvailable:   500 kB\nBuffers: 7 kB\n"}


def cgroup(limit: str, used: str) -> dict[str, str]:
    return {"/sys/fs/cgroup/memory.max": f"{limit}\n", "/sys/fs/cgroup/memory.current": f"{used}\n"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, PHYSICAL),
        ({"/proc/meminfo": "MemTotal: 900 kB\n"}, PHYSICAL),
        (MEMINFO, 512_000),
        (cgroup("max", "300000"), PHYSICAL),
        (cgroup("400000", "300000"), 100_000),
        (MEMINFO | cgroup("400000", "300000"), 100_000),
        (MEMINFO | cgroup("4000000", "300000"), 512_000),
        ({"/proc/self/cgroup": "0::/a/b\n", **cgroup("400000", "300000")}, 100_000),
        (
            {
                "/proc/self/cgroup": "0::/a/b\n",
                "/sys/fs/cgroup/a/memory.max": "400000\n",
                "/sys/fs/cgroup/a/memory.current": "390000\n",
                "/sys/fs/cgroup/a/memory.stat": "anon 1\ninactive_file 60000\n",
                "/sys/fs/cgroup/a/b/memory.max": "max\n",
                "/sys/fs/cgroup/a/b/memory.current": "390000\n",
            },
            70_000,
        ),
        (
            {
                "/proc/self/cgroup": "9:name=systemd:/\n4:cpu,memory:/a\n0::/\n",
                "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": "400000\n",
                "/sys/fs/cgroup/memory/a/memory.usage_in_bytes": "390000\n",
                "/sys/fs/cgroup/memory/a/memory.stat": "inactive_file 5\ntotal_inactive_file 60000\n",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "/sys/fs/cgroup/memory/memory.usage_in_bytes": "1\n",
            },
            70_000,
        ),
        (MEMINFO | cgroup("nonsense", "300000"), 512_000),
    ],
)
def test_available_is_the_least_of_what_machine_kernel_and_container_say(
    files: dict[str, str], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_text(path: Path) -> str:
        if str(path) not in files:
            raise FileNotFoundError(path)
        return files[str(path)]

    monkeypatch.setattr(Path, "read_text", read_text)
    assert shm.memory.available() == expected


@pytest.mark.usefixtures("untouched_kernel")
def test_a_refusal_leaves_no_descriptor_open() -> None:
    before = open_descriptors()
    for _ in range(3):
        with pytest.raises(NoMemory):
            reserve(1 << 50)
    assert open_descriptors() == before


def test_a_limit_on_file_sizes_is_an_error_with_a_size_and_a_reason_and_no_signal() -> None:
    code = """
import resource
from shm.memory import NoMemory, reserve
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
reserve(1 << 20)
try:
    reserve(5_000_000)
except NoMemory as error:
    print(error)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(Path.cwd())}
    )
    assert ended.returncode == 0, ended.stderr
    assert "can't reserve 5 MB of shared memory for the PCM arena: File too large" in ended.stdout


@linux_only("mappings are counted in /proc")
def test_the_last_view_gives_the_memory_back() -> None:
    """Descriptors and mappings: the arena's own, which outlive the one that it was made from, go with the views."""

    def mapped() -> int:
        return Path("/proc/self/maps").read_text().count("kokoro-live-pcm")

    before = open_descriptors(), mapped()
    fd = reserve(4 * 1000 * SAMPLE_BYTES)
    arena = Arena(fd, 4, 1000)
    os.close(fd)
    view = arena.ring(1)[10:20]
    del arena
    gc.collect()
    view[:] = 7
    assert mapped() == before[1] + 1
    del view
    gc.collect()
    assert (open_descriptors(), mapped()) == before


ONE, TWO = digest_of("one"), digest_of("two")
WHOLE = WorkSteps((WHOLE_READING,))


@pytest.fixture
def boards() -> Iterator[tuple[Board, Board]]:
    """Two processes' views of one board: the front's and the supervisor's."""
    memory = reserve(BOARD_BYTES)
    front, supervisor = Board(memory), Board(memory)
    os.close(memory)
    yield front, supervisor
    front.close()
    supervisor.close()


def test_the_supervisor_reads_which_texts_are_worked_on_and_which_wait(boards: tuple[Board, Board]) -> None:
    front, supervisor = boards
    one, two = front.enter(ONE), front.enter(TWO)
    with two.working():
        assert supervisor.read() == TextsInFlight({TWO: WHOLE}, frozenset({ONE}))
    assert supervisor.read() == TextsInFlight({}, frozenset({ONE, TWO}))
    one.leave()
    two.leave()
    assert supervisor.read() == TextsInFlight()


def test_answers_that_have_begun_are_counted(boards: tuple[Board, Board]) -> None:
    front, supervisor = boards
    one, two = front.enter(ONE), front.enter(TWO)
    one.audio_left()
    assert supervisor.read() == TextsInFlight({}, frozenset({ONE, TWO}), begun=1)
    with one.working():
        two.audio_left()
        assert supervisor.read() == TextsInFlight({ONE: WHOLE}, frozenset({TWO}), begun=2)
        one.leave()
        assert supervisor.read().begun == 1, "its answer has ended, though a thread still works on the text"
    two.leave()
    assert supervisor.read() == TextsInFlight()


def test_the_steps_of_all_threads_are_told(boards: tuple[Board, Board]) -> None:
    front, supervisor = boards
    text, encoding = front.enter(ONE), WorkStep(WorkKind.ENCODING, 2_400, 4_800)
    with text.working(encoding):
        with text.working():
            assert supervisor.read().working == {ONE: WHOLE | {encoding}}
        assert supervisor.read().working == {ONE: {encoding}}
    text.leave()
    with front.enter(TWO).working():
        assert supervisor.read().working == {TWO: WHOLE}, "the place has nothing of its last text"


def test_a_text_of_two_requests_is_one(boards: tuple[Board, Board]) -> None:
    front, supervisor = boards
    front.enter(ONE)
    with front.enter(ONE).working():
        assert supervisor.read() == TextsInFlight({ONE: WHOLE}, frozenset())


def test_a_thread_that_outlasts_its_request_keeps_the_text_suspected(boards: tuple[Board, Board]) -> None:
    front, supervisor = boards
    text = front.enter(ONE)
    begun, ended = threading.Event(), threading.Event()

    def work() -> None:
        with text.working():
            begun.set()
            ended.wait()

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    text.leave()
    assert supervisor.read().working == {ONE: WHOLE}
    ended.set()
    thread.join()
    assert supervisor.read() == TextsInFlight()


def test_more_texts_than_places_are_served_unrecorded(boards: tuple[Board, Board]) -> None:
    front, supervisor = boards
    texts = [front.enter(digest_of(str(number))) for number in range(SLOTS + 10)]
    assert len(supervisor.read().waiting) == SLOTS
    for text in texts:
        text.leave()
    assert supervisor.read() == TextsInFlight()
    front.enter(ONE)
    assert supervisor.read().waiting == {ONE}


def test_without_a_board_nothing_is_recorded() -> None:
    text = TextInFlight()
    with text.working():
        pass
    text.leave()
