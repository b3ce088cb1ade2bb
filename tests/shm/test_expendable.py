"""A helper process that may die: each death costs one request, and nothing is left behind."""

import errno
import fcntl
import itertools
import os
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from shm.expendable import Expendable, HelperDied
from shm.expendable_link import ANSWER, HEADER, MARK, HelperError, HelperLink
from tests import platforms
from tests.platforms import many_files
from tests.shm import parrot

DEADLINE = 60.0
PARROT = f"{parrot.__name__}:parrot"


@contextmanager
def repeating(timeout: float = 10.0) -> Iterator[Expendable]:
    expendable = Expendable(PARROT, "kokoro-live: parrot", timeout)
    yield expendable
    expendable.end_helper()


@pytest.fixture
def helper() -> Iterator[Expendable]:
    with repeating() as expendable:
        yield expendable


def test_answers_and_errors_come_back(helper: Expendable) -> None:
    assert helper.ask(b"hello") == b"hello"
    assert helper.ask(b"") == b""
    assert len(helper.ask(b"large 3000000")) == 3_000_000
    assert helper.ask(b"y" * 300_000) == b"y" * 300_000
    with pytest.raises(HelperError, match="no such thing") as caught:
        helper.ask(b"raise")
    assert caught.value.name == "LookupError"
    assert helper.ask(b"well") == b"well"


def test_a_caller_with_thousands_of_open_files_is_answered() -> None:
    """`select.select` knows no descriptor from 1024 on."""
    with many_files(1400), ExitStack() as stack:
        for _ in range(1100):
            stack.callback(os.close, os.dup(0))
        caller = stack.enter_context(repeating())
        assert caller.ask(b"hello") == b"hello"


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_death_costs_its_request_only(helper: Expendable, number: int) -> None:
    deaths: list[int] = []
    helper.restarted = lambda: deaths.append(1)
    helper.ask(b"hello")
    for _ in range(5):
        with pytest.raises(HelperDied):
            helper.ask(b"signal %d" % number)
        assert helper.ask(b"next") == b"next"
    assert len(deaths) == (10 if number == signal.SIGKILL else 5)


def test_a_request_is_tried_again_where_the_helper_was_killed_from_outside(helper: Expendable, tmp_path: Path) -> None:
    assert helper.ask(b"once %s" % str(tmp_path / "marker").encode()).startswith(b"once")


@pytest.mark.parametrize("which", [0, 1])
def test_either_process_killed_while_idle_is_replaced(helper: Expendable, which: int) -> None:
    helper.ask(b"hello")
    psutil.Process(helper.pids[which]).kill()
    assert helper.ask(b"next") == b"next"
    assert helper.ask(b"large 200000") == b"x" * 200_000


def test_kills_in_the_middle_of_long_answers_never_give_a_wrong_one(helper: Expendable) -> None:
    """1. The helper is asked for long answers. 2. Meanwhile the answering process is killed again and again. 3. Each
    answer is the right one, or the helper's death."""
    helper.ask(b"hello")
    done = threading.Event()

    def kill() -> None:
        while not done.wait(0.003):
            for pid in helper.pids[1:]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    killer = threading.Thread(target=kill)
    killer.start()
    answered = 0
    for size in range(400_000, 400_060):
        try:
            assert helper.ask(b"large %d" % size) == b"x" * size
            answered += 1
        except HelperDied:
            pass
    done.set()
    killer.join()
    assert helper.ask(b"next") == b"next"


def half_read(helper: Expendable) -> HelperLink:
    """The helper's link, once its process has read the header of a request whose 5 bytes are still to come."""
    link = helper._link
    assert link
    os.write(link._requests, HEADER.pack(MARK, 99, ANSWER, 5))
    unread = bytearray(4)
    while not fcntl.ioctl(link._requests, termios.FIONREAD, unread) and any(unread):
        os.sched_yield()
    return link


def test_a_kill_in_the_middle_of_reading_a_request_is_one_death(helper: Expendable) -> None:
    """1. A process has read a request's header and is killed. 2. Its successor finds the rest, and can't go on. 3. The
    request is answered all the same.

    Whether the request meets the successor before its end is known is chance: five kills meet it.
    """
    deaths: list[int] = []
    helper.restarted = lambda: deaths.append(1)
    for kill in range(5):
        helper.ask(b"hello")
        link = half_read(helper)
        struck = helper.pids[1]
        os.kill(struck, signal.SIGKILL)
        while psutil.pid_exists(struck):
            os.sched_yield()
        os.write(link._requests, b"x" * 5)
        assert helper.ask(b"next") == b"next"
        assert len(deaths) == kill + 1


def test_a_request_that_hangs_ends_after_the_timeout_and_the_next_is_answered() -> None:
    helper = Expendable(PARROT, "kokoro-live: parrot", timeout=1.0)
    with pytest.raises(HelperDied, match="1 s"):
        helper.ask(b"hang")
    assert helper.ask(b"next") == b"next"
    helper.end_helper()


def test_a_helper_that_was_stopped_costs_time_and_no_request() -> None:
    """The process gets no processor time, as on a busy machine: its text isn't to blame."""
    deaths: list[int] = []
    with repeating(1.0) as helper:
        helper.restarted = lambda: deaths.append(1)
        helper.ask(b"hello")
        os.kill(helper.pids[1], signal.SIGSTOP)
        assert helper.ask(b"next") == b"next"
    assert len(deaths) == 1


def test_a_helper_that_was_stopped_in_the_middle_of_reading_a_request_is_one_death() -> None:
    """1. A process has read a request's header and is stopped, until it is killed. 2. Its successor finds the rest, and
    can't go on. 3. The request is answered all the same."""
    deaths: list[int] = []
    with repeating(1.0) as helper:
        helper.restarted = lambda: deaths.append(1)
        helper.ask(b"hello")
        link = half_read(helper)
        os.kill(helper.pids[1], signal.SIGSTOP)
        os.write(link._requests, b"x" * 5)
        assert helper.ask(b"next") == b"next"
    assert len(deaths) == 1


def test_a_request_in_an_endless_loop_is_not_tried_again() -> None:
    deaths: list[int] = []
    with repeating(1.0) as helper:
        helper.restarted = lambda: deaths.append(1)
        with pytest.raises(HelperDied, match="1 s"):
            helper.ask(b"loop")
        assert len(deaths) == 1
        assert helper.ask(b"next") == b"next"


def test_a_request_is_interrupted_from_another_thread(helper: Expendable) -> None:
    helper.ask(b"hello")
    interrupting = threading.Timer(0.05, helper.interrupt)
    interrupting.start()
    with pytest.raises(HelperDied):
        helper.ask(b"hang")
    interrupting.join()
    assert helper.ask(b"next") == b"next"


def test_interruptions_before_it_serves_are_no_failed_starts(helper: Expendable) -> None:
    for _ in range(4):
        helper.start()
        while not helper.pids:
            pass
        [keeper] = helper.pids
        helper.interrupt()
        with suppress(psutil.NoSuchProcess):
            psutil.Process(keeper).wait(DEADLINE)
    assert helper.ask(b"hello") == b"hello"


def test_a_caller_that_is_gone_before_its_helper_serves_leaves_no_traceback() -> None:
    with ExitStack() as stack:
        ends = []
        for theirs in (0, 1, 0):  # requests, replies, lifeline
            pipe = os.pipe()
            ends.append(pipe[theirs])
            if theirs == 1:
                os.close(pipe[0])
            else:
                stack.callback(os.close, pipe[1])
            stack.callback(os.close, pipe[theirs])
        command = [sys.executable, "-m", "shm.expendable_child", *map(str, ends), "00" * 16, PARROT, "parrot"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run(
            command, pass_fds=ends, env=environment, capture_output=True, text=True, timeout=DEADLINE, check=False
        )
    assert (done.returncode, done.stderr) == (0, "")


def test_requests_of_several_threads_get_their_own_answers(helper: Expendable) -> None:
    wrong: list[bytes] = []

    def ask(name: int) -> None:
        for count in range(50):
            request = b"%d %d" % (name, count)
            if helper.ask(request) != request:
                wrong.append(request)

    threads = [threading.Thread(target=ask, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_cannot_be_loaded_says_so_each_time() -> None:
    helper = Expendable(f"{parrot.__name__}:unloadable", "kokoro-live: parrot")
    for _ in range(2):
        with pytest.raises(HelperError, match="no library") as caught:
            helper.ask(b"hello")
        assert caught.value.name == "FileNotFoundError"
    helper.end_helper()


@pytest.mark.parametrize("state", ["idle", "hangs", "stopped"])
def test_no_process_is_left_when_the_caller_is_killed(state: str) -> None:
    """1. A process has a helper. 2. It is killed. 3. Both of the helper's processes end."""
    code = (
        "from shm.expendable import Expendable\n"
        f"helper = Expendable('{PARROT}', 'kokoro-live: parrot')\n"
        "helper.ask(b'hello')\n"
        "print(*helper.pids, flush=True)\n"
        "helper.ask(b'hang')\n"
        if state == "hangs"
        else "from shm.expendable import Expendable\n"
        f"helper = Expendable('{PARROT}', 'kokoro-live: parrot')\n"
        "helper.ask(b'hello')\n"
        "print(*helper.pids, flush=True)\n"
        "import signal; signal.pause()\n"
    )
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment) as caller:
        assert caller.stdout
        helpers = [psutil.Process(int(pid)) for pid in caller.stdout.readline().split()]
        assert len(helpers) == 2
        if state == "stopped" and sys.platform == "linux":
            for process in helpers:
                process.suspend()
        caller.kill()
    _, alive = psutil.wait_procs(helpers, DEADLINE)
    for process in alive:
        process.kill()
    assert not alive


def test_the_helper_lives_on_when_the_thread_that_first_asked_has_ended(helper: Expendable) -> None:
    first = threading.Thread(target=helper.ask, args=(b"hello",))
    first.start()
    first.join()
    pids = helper.pids
    assert helper.ask(b"next") == b"next"
    assert helper.pids == pids


@pytest.mark.parametrize(("called", "number"), [("pipe", 0), ("pipe", 1), ("pipe", 2), ("Popen", 0)])
def test_a_start_that_the_system_refuses_is_tried_again(
    called: str, number: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Every call that needs a descriptor or a process fails once, at each place in turn."""
    owner = os if called == "pipe" else subprocess
    real, calls = getattr(owner, called), itertools.count()

    def failing(*arguments: Any, **options: Any) -> Any:
        if next(calls) == number:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return real(*arguments, **options)

    monkeypatch.setattr(owner, called, failing)
    before = psutil.Process().num_fds()
    with repeating() as expendable:
        assert expendable.ask(b"hello") == b"hello"
    assert psutil.Process().num_fds() == before
    assert "can't be started" in caplog.text


@pytest.mark.parametrize("failures", [0, 1, 100])
def test_a_helper_is_closed_at_any_moment_of_its_start(failures: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may not have started yet, or never will."""
    real, left = subprocess.Popen, iter([True] * failures)

    def failing(*arguments: Any, **options: Any) -> Any:
        if next(left, False):
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return real(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", failing)
    for _ in range(5):
        expendable = Expendable(PARROT, "kokoro-live: parrot")
        expendable.start()
        closed = threading.Thread(target=expendable.end_helper, daemon=True)
        closed.start()
        closed.join(DEADLINE)
        assert not closed.is_alive()


FORKED = f"""
import os
import psutil
from shm.expendable import Expendable
from shm.expendable_child import forked
_, kept = os.pipe()
helper = Expendable({PARROT!r}, "kokoro-live: parrot")
helper.fork(forked)
assert helper.ask(b"hello") == b"hello"
keeper, server = helper.pids
assert psutil.Process(keeper).ppid() == os.getpid() and psutil.Process(server).ppid() == keeper
names = [os.readlink(f"/proc/{{pid}}/fd/{{fd}}") for pid in (keeper, server) for fd in os.listdir(f"/proc/{{pid}}/fd")]
assert os.readlink(f"/proc/self/fd/{{kept}}") not in names, "its end would go unnoticed"
psutil.Process(keeper).kill()
while helper.pids[:1] in ((), (keeper,)):
    assert helper.ask(b"next") == b"next"
helper.end_helper()
assert not psutil.Process().children(recursive=True)
"""


@platforms.linux_only("what a process has open is read from /proc")
def test_a_helper_may_be_a_fork_of_a_process_that_has_loaded_its_target() -> None:
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=DEADLINE)
