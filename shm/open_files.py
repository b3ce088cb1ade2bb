"""The limit on open files (RLIMIT_NOFILE, `ulimit -n`), which bounds the connections that a process can hold."""

from __future__ import annotations

import logging
import resource

log = logging.getLogger(__name__)


def allowed_files(needed: int) -> int | None:
    """The number of files that this process may have open; None if there is no limit. Raises the soft limit to
    `needed`, or as far as the hard one allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = _raised(soft, hard, needed)
    return None if soft == resource.RLIM_INFINITY else soft


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
