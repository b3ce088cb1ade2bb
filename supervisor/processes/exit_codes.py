"""Exit statuses of `kokoro-live serve`: they separate boot failures from crashes, and kinds of boot failures."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit status, with the service manager's proper reaction."""

    OK = 0
    """Stopped as asked."""
    FAILED = 1
    """The supervisor itself failed; the log has the traceback. Starting again may help."""
    BAD_SETTING = 2
    """A flag, variable or TOML key makes no sense (click's own status for usage errors). Don't start again."""
    PORT = 3
    """The address can't be listened on. Don't start again."""
    ENGINE = 4
    """The engine that was demanded can't be loaded. Don't start again."""
    MEMORY = 5
    """The PCM arena can't be reserved. Starting again later may help."""
    CRASH_LOOP = 6
    """The front died repeatedly without answering a request. Starting again may help, after a look at the log."""
    INTERRUPTED = 130
    """A second SIGINT cut the draining short."""


SETTLED = (ExitCode.BAD_SETTING, ExitCode.PORT, ExitCode.ENGINE)
"""Statuses after which a restart can't help: a person must change something first."""
