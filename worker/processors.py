"""Parsing of processor sets in the notation of taskset."""

from __future__ import annotations


def processors(text: str) -> set[int]:
    """Processor numbers from a list like `0-3,6`, the notation of taskset and of Linux's cpusets.

    Raises:
        ValueError: the text isn't such a list.
    """
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or (dash and int(last) < int(first)):
            raise ValueError(f"worker_cpus is written like 0-3,6, not {text!r}")
        found |= set(range(int(first), int(last or first) + 1))
    return found
