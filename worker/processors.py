"""Parsing of processor sets in the notation of taskset."""

from __future__ import annotations

_MOST_DIGITS = 5
"""Digits of a processor's number. A set of all numbers up to one that was mistyped would fill the memory."""


def processors(text: str) -> set[int]:
    """Processor numbers from a list like `0-3,6`, the notation of taskset and of Linux's cpusets.

    Raises:
        ValueError: the text isn't such a list.
    """
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        numbers = [first, last] if dash else [first]
        written = all(number.isdecimal() and len(number) <= _MOST_DIGITS for number in numbers)
        if not written or int(numbers[-1]) < int(first):
            raise ValueError(f"worker_cpus is written like 0-3,6, not {text!r}")
        found |= set(range(int(first), int(numbers[-1]) + 1))
    return found
