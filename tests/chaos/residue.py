"""Resources of the machine that a server holds: their counts before and after a loop of kills must be the same."""

import contextlib
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import psutil

from frontend.audio.encoding import MAX_THREADS
from tests.system.server import DEADLINE, Server

Seen = TypeVar("Seen")
Residue = dict[str, object]


def residue(of: Server) -> Residue:
    """Processes by title, zombies, and by role threads and descriptors; the names in /dev/shm."""
    found: Residue = {"shm": shared_memory()}
    titles: Counter[str] = Counter()
    for process in of.family():
        with contextlib.suppress(psutil.NoSuchProcess, FileNotFoundError, PermissionError):
            title = " ".join(process.cmdline())
            zombie = process.status() == psutil.STATUS_ZOMBIE
            role = "zombie" if zombie else re.sub(r"\[\d+\].*", "", title.removeprefix("kokoro-live: "))
            titles[role] += 1
            if not zombie:
                found[f"{role}: threads"] = process.num_threads()
                found[f"{role}: descriptors"] = _descriptors(process.pid, sockets=role != "front")
    found["processes"] = dict(sorted(titles.items()))
    return found


def _descriptors(pid: int, sockets: bool) -> dict[str, int]:
    """Number of resources of each kind. A front's sockets are its clients' affair. Only Linux tells kinds; macOS tells
    the number of all, which clients change."""
    opened = Path(f"/proc/{pid}/fd")
    if not opened.is_dir():
        return {"all": psutil.Process(pid).num_fds()} if sockets else {}
    links: Counter[str] = Counter()
    for link in opened.iterdir():
        with contextlib.suppress(FileNotFoundError):
            links[re.sub(r"\d+", "", str(link.readlink()))] += 1
    return {kind: count for kind, count in sorted(links.items()) if sockets or not kind.startswith("socket:")}


def comes_back_to(before: Residue, of: Server) -> Residue:
    """The residue once it is `before`, or the last one seen: what has just ended may still be on its way out."""
    return looked_at_until(before, lambda: _with_unstarted_threads(residue(of), before))


def looked_at_until(wanted: Seen, look: Callable[[], Seen]) -> Seen:
    """What is seen once it is what is wanted, or what was seen last.

    Another process's descriptors have no event to wait for, so they are looked at again and again. A look takes 5 ms
    of a core, which the process that is starting could use.
    """
    give_up = time.monotonic() + DEADLINE
    while (now := look()) != wanted and time.monotonic() < give_up:
        time.sleep(0.1)
    return now


def _with_unstarted_threads(now: Residue, before: Residue) -> Residue:
    """`now`, with the threads of `before` where they differ by no more than those that are started when they are first
    needed: a new process may not have needed all of them yet, and two listeners at once need another encoder's."""
    alike = {
        name: count
        for name, count in before.items()
        if name.endswith(": threads") and name in now and int(str(now[name])) < int(str(count)) + MAX_THREADS
    }
    return {**now, **alike}


OTHERS = (".org.chromium.", "org.mozilla.", "pulse-shm-", "sem.loky-", "kokoro-live-fuzzing-")
"""Beginnings of names in shared memory that belong to a browser, a sound server or the fuzzer of another test, or to an
import of joblib, which tries a semaphore."""


def shared_memory() -> list[str]:
    """The names in /dev/shm, without those of `OTHERS`; none where the system has no such folder."""
    return sorted(path.name for path in Path("/dev/shm").glob("*") if not path.name.startswith(OTHERS))


def warm_up(a: Server) -> None:
    """Let it start the threads that it starts when they are first needed."""
    for text in ("This warms up.", "And this, once more."):
        a.hear(input=text, response_format="pcm")


def settled(of: Server) -> Residue:
    """The residue when it has stopped changing, the standby having come up: it is still at that while it works."""
    last, since = (residue(of), _work_beside(of)), time.monotonic()
    while time.monotonic() - since < 0.5:
        time.sleep(0.1)
        now = (residue(of), _work_beside(of))
        if now != last or any(status != psutil.STATUS_SLEEPING for _, status in now[1].values()):
            last, since = now, time.monotonic()
    return last[0]


def _work_beside(of: Server) -> dict[int, tuple[float, str]]:
    """Processor seconds and states, by pid, of those that neither answer nor speak.

    On a busy machine a process that works may get no processor for half a second, but it doesn't sleep.
    """
    spent = {}
    for process in of.family()[1:]:
        with contextlib.suppress(psutil.NoSuchProcess):
            if not re.search(r"kokoro-live: (front|worker)", " ".join(process.cmdline())):
                times = process.cpu_times()
                spent[process.pid] = times.user + times.system, process.status()
    return spent
