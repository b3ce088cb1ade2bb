"""Limits of pipes and of open files, and units that differ."""

import fcntl
import os
import resource
import select
from typing import Any

PIPE_BYTES = 16_384
"""Capacity of a pipe before macOS lets it grow."""
PIPE_BUF = 512
OPEN_MAX = 10_240
"""Largest limit on open files that is accepted, though the hard limit says that there is none (`sys/syslimits.h`)."""
PAGE = 16_384
"""Bytes of a page of memory on Apple's processors."""
_F_SETPIPE_SZ = 1031


def imitate() -> None:
    pipe, sysconf, getrlimit, setrlimit, getrusage = (
        os.pipe,
        os.sysconf,
        resource.getrlimit,
        resource.setrlimit,
        resource.getrusage,
    )

    def small_pipe() -> tuple[int, int]:
        ends = pipe()
        fcntl.fcntl(ends[1], _F_SETPIPE_SZ, PIPE_BYTES)
        return ends

    def configured(name: str | int) -> int:
        if name in ("SC_PAGE_SIZE", "SC_PAGESIZE"):
            return PAGE
        if name == "SC_PHYS_PAGES":
            return sysconf(name) * sysconf("SC_PAGE_SIZE") // PAGE
        if name == "SC_AVPHYS_PAGES":
            raise ValueError("unrecognized configuration name")
        return sysconf(name)

    def limits(kind: int) -> tuple[int, int]:
        soft, hard = getrlimit(kind)
        return soft, resource.RLIM_INFINITY if kind == resource.RLIMIT_NOFILE else hard

    def set_limits(kind: int, wanted: tuple[int, int]) -> None:
        if kind == resource.RLIMIT_NOFILE:
            soft, hard = wanted
            if soft == resource.RLIM_INFINITY or soft > OPEN_MAX:
                raise ValueError("current limit exceeds maximum limit")
            wanted = soft, getrlimit(kind)[1] if hard == resource.RLIM_INFINITY else hard
        setrlimit(kind, wanted)

    def usage(who: int) -> Any:
        used = list(getrusage(who))
        used[2] *= 1024  # ru_maxrss is in bytes
        return resource.struct_rusage(used)

    os.pipe, os.sysconf = small_pipe, configured
    os.sysconf_names.pop("SC_AVPHYS_PAGES", None)
    resource.getrlimit, resource.setrlimit, resource.getrusage = limits, set_limits, usage
    select.PIPE_BUF = PIPE_BUF
