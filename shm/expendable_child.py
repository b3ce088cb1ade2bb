"""The helper's processes for `shm.expendable`: a keeper that loads the target and forks, and the fork that answers.

The keeper has one thread and never runs the target's code after loading it, so forking it is safe. Both processes end
when the caller does, for any reason: the fork reads the end of the lifeline, and PR_SET_PDEATHSIG reaches both.
"""

from __future__ import annotations

import importlib
import os
import resource
import sys
from collections.abc import Callable
from itertools import pairwise

from setproctitle import setproctitle

from shm.expendable_link import ANSWER, ERROR, HEADER, MARK, SERVING
from shm.lifeline import ORPHANED, be_killed_with_parent, die_with_supervisor, leave_ending_to_supervisor

Target = Callable[[bytes], bytes]

_CALLER_GONE = 0
_GARBLED = 3
"""Exit status of a fork that found a request beginning inside another one, whose reader was killed. All pipes are
abandoned."""


def main(requests: int, replies: int, lifeline: int, token: bytes, target: str, title: str) -> None:
    """Run the keeper. Returns when the caller is gone.

    Args:
        requests: a pipe's read end.
        replies: a pipe's write end.
        lifeline: a pipe's read end, whose other end only the caller has.
    """
    setproctitle(title)
    leave_ending_to_supervisor()
    be_killed_with_parent()
    # Writing a core file would take longer than all else that a death costs.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer = _loaded(target)
    while True:
        child = os.fork()
        if child == 0:
            die_with_supervisor(lifeline)
            os._exit(_serve(requests, replies, answer))
        _, status = os.waitpid(child, 0)
        ended = os.waitstatus_to_exitcode(status)
        if ended in (_CALLER_GONE, _GARBLED, ORPHANED):
            return
        try:
            os.write(replies, token + bytes([abs(ended)]))
        except BrokenPipeError:
            return


def forked(requests: int, replies: int, lifeline: int, token: bytes, target: str, title: str) -> int:
    """The process id of a keeper that is a fork of this process, and has none of its descriptors but these and standard
    error. Arguments as for `main`."""
    pid = os.fork()
    if pid:
        return pid
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1):
            os.dup2(nothing, standard)
        kept = sorted((2, requests, replies, lifeline))
        for before, after in pairwise((*kept, os.sysconf("SC_OPEN_MAX"))):
            os.closerange(before + 1, after)
        main(requests, replies, lifeline, token, target, title)
    finally:
        os._exit(1)


def _loaded(target: str) -> Target:
    """The target's function; if the target can't be loaded, a function that raises the loading error on each call."""
    module, _, name = target.partition(":")
    try:
        made: Target = getattr(importlib.import_module(module), name)()
    except Exception as error:
        failure = error

        def fail(_: bytes) -> bytes:
            raise failure

        return fail
    return made


def _serve(requests: int, replies: int, answer: Target) -> int:
    """Answer until the caller is gone; return the exit status."""
    try:
        _reply(replies, 0, SERVING, str(os.getpid()).encode())
        while header := _read(requests, HEADER.size):
            mark, sequence, _, length = HEADER.unpack(header)
            if mark != MARK:
                return _GARBLED
            request = _read(requests, length) if length else b""
            _reply(replies, sequence, *_answered(answer, request))
    except BrokenPipeError:  # nobody reads the replies any more
        pass
    return _CALLER_GONE


def _answered(answer: Target, request: bytes) -> tuple[int, bytes]:
    """The kind of a reply, and its body."""
    try:
        return ANSWER, answer(request)
    except Exception as error:
        return ERROR, f"{type(error).__name__}\n{error}".encode(errors="replace")


def _read(fd: int, length: int) -> bytes:
    """Exactly `length` bytes; empty if the writer is gone."""
    data = b""
    while len(data) < length:
        more = os.read(fd, length - len(data))
        if not more:
            return b""
        data += more
    return data


def _reply(fd: int, sequence: int, kind: int, body: bytes) -> None:
    rest = memoryview(HEADER.pack(MARK, sequence, kind, len(body)) + body)
    while rest:
        rest = rest[os.write(fd, rest) :]


if __name__ == "__main__":
    _requests, _replies, _lifeline, _token, _target, _title = sys.argv[1:]
    main(int(_requests), int(_replies), int(_lifeline), bytes.fromhex(_token), _target, _title)
