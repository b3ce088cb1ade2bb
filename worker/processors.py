"""Sets of processors as people write them."""

from __future__ import annotations


def processors(text: str) -> set[int]:
    """`0-3,6` as numbers, as taskset and Linux's cpusets write them.

    Raises:
        ValueError: it isn't written so.
    """
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or (dash and int(last) < int(first)):
            raise ValueError(f"worker_cpus is written like 0-3,6, not {text!r}")
        found |= set(range(int(first), int(last or first) + 1))
    return found
