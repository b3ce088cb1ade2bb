"""The number of connections for which the limit on open files leaves room (RLIMIT_NOFILE, `ulimit -n`)."""

from __future__ import annotations

import logging
import resource

import psutil

KEPT = 48
"""Descriptors that connections leave free.

16 for channels to workers: four generations, each with two pipes, an arena and its mapping's own; 16 for those that
are refused, or are accepted while another is being closed for them; 16 for what text processing opens when it is first
needed.
"""

log = logging.getLogger(__name__)


def room_for(wanted: int) -> int:
    """The wanted number of connections, or fewer if room lacks. Raises the soft limit as far as the hard one allows.

    Under a limit that leaves less than `KEPT`, connections get a quarter of what is free, and at least one: a server
    that serves a few clients badly is better than one that doesn't start.
    """
    used: int = psutil.Process().num_fds()
    kept = used + KEPT
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = _raised(soft, hard, kept + wanted)
    if soft == resource.RLIM_INFINITY or soft >= kept + wanted:
        return wanted
    room = max(soft - kept, min(wanted, (soft - used) // 4), 1)
    log.warning("%d open files are allowed: %d connections instead of %d (see ulimit -n)", soft, room, wanted)
    return room


def _raised(soft: int, hard: int, needed: int) -> int:
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return soft
    target = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
    except (OSError, ValueError) as error:  # macOS has a lower limit of its own behind an unlimited one
        log.warning("the limit on open files stays at %d: %s", soft, error)
        return soft
    return target
