"""Differences between the machines that tests run on."""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


def linux_only(reason: str) -> pytest.MarkDecorator:
    """Mark of a test of what only Linux has; `pytest --darwin` leaves it out too."""
    return pytest.mark.skipif(sys.platform != "linux", reason=reason)


@contextmanager
def limit(kind: int, soft: int) -> Iterator[None]:
    """Another soft limit of this process, and of those that it starts."""
    before = resource.getrlimit(kind)
    resource.setrlimit(kind, (soft, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(kind, before)


@contextmanager
def many_files(needed: int) -> Iterator[None]:
    """Have this process, and those that it starts, open that many files; macOS begins with 256."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        yield
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    except ValueError:  # over the hard limit, or over the one that macOS has behind it
        pytest.skip(f"fewer than {needed} open files are allowed here")
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
